import assert from "node:assert/strict";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import * as vscode from "vscode";
import { Checkpoints } from "../../../agent-core/checkpoints/checkpoints.ts";
import type { JournalEntry } from "../../../agent-core/sessions/entry.ts";
import { CheckpointDocuments } from "../../../extension/review/read-only-documents.ts";
import { type AgentSide, connectAgentSide, workspaceFolder } from "../support/agent-side.ts";
import { agentWrite } from "../support/agent-write.ts";
import { closeEditors, openEditor, typeAt } from "../support/editors.ts";
import { ReviewDesk } from "../support/review-desk.ts";

const ORIGINAL = "one\ntwo\nthree\n";
const { signal } = new AbortController();

// Going back to an earlier message, with the files in the editor.
suite("checkpoints", () => {
  const folder = join(workspaceFolder(), "checkpoint-suite");
  let desk: ReviewDesk;
  let side: AgentSide;
  let checkpoints: Checkpoints;
  let position = 0;
  let objects: string;

  setup(async () => {
    mkdirSync(folder, { recursive: true });
    objects = mkdtempSync(join(tmpdir(), "hermes-objects-"));
    desk = new ReviewDesk();
    side = await connectAgentSide(desk.editReview);
    position = 0;
    const problem = (message: string): void => assert.fail(message);
    checkpoints = new Checkpoints({
      host: side.host,
      roots: [folder],
      objects,
      entries: [],
      trusted: () => true,
      onlyReads: async () => false,
      position: () => position,
      journal: (entry) => void (entry satisfies Omit<JournalEntry, "at">),
      notifyUser: problem,
      onDefect: problem,
    });
  });

  teardown(async () => {
    await closeEditors();
    await checkpoints.close();
    await side.dispose();
    await desk.dispose();
    rmSync(folder, { recursive: true });
    rmSync(objects, { recursive: true });
  });

  const pathOf = (name: string): string => join(folder, name);

  function turn(): number {
    position += 1;
    return position - 1;
  }

  async function edit(name: string, before: string | null, after: string): Promise<void> {
    position += 2;
    const { files } = checkpoints.hostFor("call_1");
    assert.deepEqual(await agentWrite(files, pathOf(name), { expected: before, after }, signal), { ok: true });
  }

  async function restore(to: number): Promise<readonly (string | undefined)[]> {
    return (await checkpoints.restore(to, signal)).files.map(({ leftAlone }) => leftAlone);
  }

  test("a restore goes through the document: Ctrl+Z redoes the edit, and nothing is left to review", async () => {
    writeFileSync(pathOf("a.txt"), ORIGINAL);
    const { document } = await openEditor(pathOf("a.txt"));
    const first = turn();
    await edit("a.txt", ORIGINAL, "one\nTWO\nthree\n");
    assert.equal(desk.review.files.length, 1);
    assert.deepEqual(await restore(first), [undefined]);
    assert.equal(document.getText(), ORIGINAL);
    assert.equal(document.isDirty, false);
    assert.equal(readFileSync(pathOf("a.txt"), "utf8"), ORIGINAL);
    assert.deepEqual(desk.review.files, []);
    await vscode.commands.executeCommand("undo");
    assert.equal(document.getText(), "one\nTWO\nthree\n");
    assert.equal(desk.review.files.length, 1);
  });

  test("of two edits the later is reverted, and the earlier stays up for review", async () => {
    writeFileSync(pathOf("a.txt"), ORIGINAL);
    turn();
    await edit("a.txt", ORIGINAL, "ONE\ntwo\nthree\n");
    const second = turn();
    await edit("a.txt", "ONE\ntwo\nthree\n", "ONE\ntwo\nTHREE\n");
    assert.deepEqual(await restore(second), [undefined]);
    const hunks = desk.review.hunks(vscode.Uri.file(pathOf("a.txt")));
    assert.deepEqual(
      hunks.map(({ oldLines, newLines }) => [oldLines.join(""), newLines.join("")]),
      [["one\n", "ONE\n"]],
    );
  });

  test("kept edits are not up for review again after a restore", async () => {
    writeFileSync(pathOf("a.txt"), ORIGINAL);
    const first = turn();
    await edit("a.txt", ORIGINAL, "ONE\ntwo\nthree\n");
    desk.review.keepAll();
    await restore(first);
    assert.equal(readFileSync(pathOf("a.txt"), "utf8"), ORIGINAL);
    assert.deepEqual(desk.review.files, []);
  });

  test("unsaved text that the agent edited is restored unsaved, and the disk stays unchanged", async () => {
    writeFileSync(pathOf("a.txt"), ORIGINAL);
    const editor = await openEditor(pathOf("a.txt"));
    await typeAt(editor, 0, "unsaved\n");
    const first = turn();
    await edit("a.txt", `unsaved\n${ORIGINAL}`, `edited\n${ORIGINAL}`);
    assert.deepEqual(await restore(first), [undefined]);
    assert.equal(editor.document.getText(), `unsaved\n${ORIGINAL}`);
    assert.equal(editor.document.isDirty, true);
    assert.equal(readFileSync(pathOf("a.txt"), "utf8"), ORIGINAL);
  });

  test("unsaved text typed after the edit stays", async () => {
    writeFileSync(pathOf("a.txt"), ORIGINAL);
    const editor = await openEditor(pathOf("a.txt"));
    const first = turn();
    await edit("a.txt", ORIGINAL, "one\nTWO\nthree\n");
    await typeAt(editor, 0, "mine\n");
    assert.deepEqual(await restore(first), [undefined]);
    assert.equal(editor.document.getText(), `mine\n${ORIGINAL}`);
  });

  test("a created file is removed with its folder, and undoing the restore returns it", async () => {
    const first = turn();
    await edit("new/b.txt", null, "b\n");
    const { id, files } = await checkpoints.restore(first, signal);
    assert.deepEqual(
      files.map(({ change }) => change),
      ["remove"],
    );
    assert.equal(existsSync(pathOf("new")), false);
    assert.deepEqual(desk.review.files, []);
    await checkpoints.undo(id, signal);
    assert.equal(readFileSync(pathOf("new/b.txt"), "utf8"), "b\n");
  });

  test("removed lines and a deleted file are restored, and nothing is left to review", async () => {
    for (const name of ["a.txt", "b.txt"]) writeFileSync(pathOf(name), ORIGINAL);
    const first = turn();
    await edit("a.txt", ORIGINAL, "one\nthree\n");
    const { files } = checkpoints.hostFor("call_2");
    const removed = await agentWrite(files, pathOf("b.txt"), { expected: ORIGINAL, after: null }, signal);
    assert.ok(removed.ok, removed.ok ? "" : removed.message);
    position += 2;
    assert.equal(existsSync(pathOf("b.txt")), false);
    assert.deepEqual(await restore(first), [undefined, undefined]);
    assert.deepEqual(
      ["a.txt", "b.txt"].map((name) => readFileSync(pathOf(name), "utf8")),
      [ORIGINAL, ORIGINAL],
    );
    assert.deepEqual(desk.review.files, []);
  });

  test("line ends and byte order mark are restored, also in an open document", async () => {
    const bytes = Buffer.from("\ufeffone\r\ntwo\r\n");
    writeFileSync(pathOf("a.txt"), bytes);
    await openEditor(pathOf("a.txt"));
    const first = turn();
    await edit("a.txt", "one\r\ntwo\r\n", "ONE\r\ntwo\r\n");
    assert.deepEqual(await restore(first), [undefined]);
    assert.deepEqual(readFileSync(pathOf("a.txt")), bytes);
  });

  test("the future text of each file is shown next to the present one", async () => {
    writeFileSync(pathOf("a.txt"), ORIGINAL);
    const documents = new CheckpointDocuments();
    await documents.show("Restore", [{ path: pathOf("a.txt"), text: "earlier\n", isThere: true }]);
    const shown = await vscode.workspace.openTextDocument(
      vscode.Uri.file(pathOf("a.txt")).with({ scheme: "hermes-checkpoint" }),
    );
    assert.equal(shown.getText(), "earlier\n");
    const tab = vscode.window.tabGroups.activeTabGroup.activeTab;
    assert.equal(tab?.label.startsWith("Restore"), true);
    documents.dispose();
  });
});
