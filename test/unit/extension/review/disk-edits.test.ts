import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, expect, test, vi } from "vitest";
import { temporaryFolder } from "../../../support/acp-client.ts";

const found: { list: () => Promise<readonly object[]> } = { list: async () => [] };
vi.mock("vscode", () => ({
  workspace: {
    onDidSaveTextDocument: () => ({ dispose: () => undefined }),
    findFiles: () => found.list(),
  },
}));
const { DiskEdits } = await import("../../../../extension/review/disk-edits.ts");

afterEach(() => {
  found.list = async () => [];
});

function folder() {
  const path = join(temporaryFolder("hermes-disk-"), "a.txt");
  writeFileSync(path, "before\n");
  const listing = async () => [{ scheme: "file", fsPath: path }];
  found.list = listing;
  return { path, listing };
}

test("turns after one that could not begin or end are compared with their own beginning", async () => {
  const { path, listing } = folder();
  const noted: unknown[] = [];
  let isRefused = false as boolean;
  const edits = new DiskEdits({
    note: async (edit) => {
      if (isRefused) throw new Error("not readable");
      noted.push(edit);
    },
    warn: () => undefined,
  });
  found.list = () => Promise.reject(new Error("the search failed"));
  await expect(edits.begin()).rejects.toThrow("the search failed");
  found.list = listing;
  await edits.begin();
  writeFileSync(path, "by the first turn\n");
  isRefused = true;
  await expect(edits.end()).rejects.toThrow("not readable");
  isRefused = false;
  writeFileSync(path, "by the user, between turns\n");
  await edits.begin();
  await edits.end();
  expect(noted).toEqual([]);
});

test("a turn that begins beside another one waits until the texts are kept", async () => {
  const { path, listing } = folder();
  const search = Promise.withResolvers<void>();
  found.list = () => search.promise.then(listing);
  const noted: unknown[] = [];
  const edits = new DiskEdits({ note: async (edit) => void noted.push(edit), warn: () => undefined });
  const first = edits.begin();
  const second = edits.begin().then(() => writeFileSync(path, "by the second turn\n"));
  setTimeout(search.resolve, 20);
  await Promise.all([first, second]);
  await edits.end();
  expect(noted).toEqual([{ path, before: "before\n", after: "by the second turn\n" }]);
});
