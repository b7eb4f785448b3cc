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
  path = join(mkdtempSync(join(tmpdir(), "hermes-put-back-")), "file");
});

test("a file that is gone already is as it shall be", async () => {
  expect(await files.guardedWrite({ ...removal, path, expected: null }, signal)).toEqual({ ok: true });
  expect(await files.guardedWrite({ ...removal, path, expected: "of the agent" }, signal)).toEqual({ ok: true });
});

test.each([
  ["text", "of somebody else", "conflict"],
  ["no text", "\0\u0001", "binary"],
])(
  "where somebody else has put a file of %s there is none to be taken away, which is said",
  async (_, text, reason) => {
    writeFileSync(path, text);
    expect(await files.guardedWrite({ ...removal, path, expected: null }, signal)).toMatchObject({ ok: false, reason });
    expect(existsSync(path)).toBe(true);
  },
);
