import type { execFile } from "node:child_process";
import { promisify } from "node:util";
import { deflateRawSync } from "node:zlib";
import { expect, test } from "vitest";
import { lazyModule } from "../../../scripts/lazy-builtins.ts";

type Name = "createHash" | "randomUUID" | "execFile" | "deflateRaw";
type Functions = Readonly<Record<Name, (...values: unknown[]) => unknown>>;

const lazy = async (name: string): Promise<Functions> =>
  import(`data:text/javascript,${encodeURIComponent(await lazyModule(name))}`);

test("the functions of a lazy module are Node's own", async () => {
  const crypto = await lazy("node:crypto");
  expect(crypto.createHash("sha256")).toHaveProperty("update");
  expect(crypto.randomUUID()).toMatch(/^[0-9a-f-]{36}$/);
});

test("promisify gives the same for a lazy function as for Node's own", async () => {
  const child = await lazy("node:child_process");
  const zlib = await lazy("node:zlib");
  const run: typeof execFile.__promisify__ = promisify(child.execFile as unknown as typeof execFile);
  await expect(run(process.execPath, ["-p", "1"])).resolves.toEqual({ stdout: "1\n", stderr: "" });
  const deflate = promisify(zlib.deflateRaw as unknown as (text: string, done: () => void) => void);
  expect(await deflate("text")).toEqual(deflateRawSync("text"));
});

test("a lazy module has no classes, which would lose their prototypes", async () => {
  expect(await lazy("node:crypto")).not.toHaveProperty("Hash");
});
