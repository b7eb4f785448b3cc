import { existsSync, mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeEach, expect, test } from "vitest";
import { nodeFiles } from "../../../agent-core/host/node-files.ts";

const files = nodeFiles();
const { signal } = new AbortController();
const removal = { after: null, purpose: "revert" } as const;
let path: string;
beforeEach(() => {
  path = join(mkdtempSync(join(tmpdir(), "hermes-revert-")), "file");
});

test("reverting a creation succeeds when the file is already gone", async () => {
  expect(await files.guardedWrite({ ...removal, path, expected: null }, signal)).toEqual({ ok: true });
  expect(await files.guardedWrite({ ...removal, path, expected: "of the agent" }, signal)).toEqual({ ok: true });
});

test.each([
  ["text", "of another program", "conflict"],
  ["no text", "\0\u0001", "binary"],
])("a revert refuses to remove a file of %s that another program has written", async (_, text, reason) => {
  writeFileSync(path, text);
  expect(await files.guardedWrite({ ...removal, path, expected: null }, signal)).toMatchObject({ ok: false, reason });
  expect(existsSync(path)).toBe(true);
});
