/** The file that a path names, links followed: one file is told under one name. */
import { realpath } from "node:fs/promises";
import { basename, dirname, join } from "node:path";

/** The path itself where nothing can be followed. */
export async function realPathOf(path: string): Promise<string> {
  const whole = await realpath(path).catch(() => undefined);
  if (whole !== undefined) return whole;
  const parent = dirname(path);
  return parent === path ? path : join(await realPathOf(parent), basename(path));
}
