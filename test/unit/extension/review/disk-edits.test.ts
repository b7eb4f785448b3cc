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
  const edits = new DiskEdits({ note: async (edit) => void noted.push(edit), warn: () => undefined });
  found.list = () => Promise.reject(new Error("the search failed"));
  await expect(edits.begin()).rejects.toThrow("the search failed");
  found.list = listing;
  await edits.begin();
  writeFileSync(path, "by the first turn\n");
  found.list = () => Promise.reject(new Error("the search failed"));
  await expect(edits.end()).rejects.toThrow("the search failed");
  found.list = listing;
  writeFileSync(path, "by the user, between turns\n");
  await edits.begin();
  await edits.end();
  expect(noted).toEqual([]);
});

test("a file that cannot come up for review is a warning, not the failure of its turn", async () => {
  const { path } = folder();
  const warnings: string[] = [];
  const note = () => Promise.reject(new Error("it is a folder now"));
  const edits = new DiskEdits({ note, warn: (line) => void warnings.push(line) });
  await edits.begin();
  writeFileSync(path, "by the turn\n");
  await edits.end();
  expect(warnings).toEqual([`could not put ${path} up for review: it is a folder now`]);
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
