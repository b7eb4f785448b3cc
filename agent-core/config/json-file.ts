/** A small file of JSON in the home that several processes may write: read leniently, replaced whole. */
import { mkdir, readFile } from "node:fs/promises";
import { dirname } from "node:path";
import { replaceFile } from "./replace-file.ts";

/** Undefined when there is none, or none that can be read. */
export async function readJsonFile(path: string): Promise<unknown> {
  try {
    return JSON.parse(await readFile(path, "utf8"));
  } catch {
    return undefined; // a cache that is damaged is a cache that is empty
  }
}

/** Replaces it, and makes its folder where there is none. Rejects when it cannot be written. */
export async function writeJsonFile(path: string, value: unknown): Promise<void> {
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  await replaceFile(path, JSON.stringify(value));
}
