import assert from "node:assert/strict";
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import * as vscode from "vscode";
import { hunkAt, hunkOfChange, revealHunk } from "../../../extension/review/hunk-keys.ts";
import { lensesOf } from "../../../extension/review/hunk-lenses.ts";
import { originalUri } from "../../../extension/review/review.ts";
import type { AgentSide } from "../support/agent-side.ts";
import { agentWrite } from "../support/agent-write.ts";
import { openEditor, typeAt } from "../support/editors.ts";
import { openReviewBench, type ReviewBench } from "../support/review-bench.ts";
import type { ReviewDesk } from "../support/review-desk.ts";

const ORIGINAL = "one\ntwo\nthree\nfour\nfive\nsix\n";
const EDITED = "one\nTWO\nthree\nfour\nsix\nseven\n";

// Edits of the agent that have landed in their files.
suite("review of landed edits", () => {
  let folder: string;
  const { signal } = new AbortController();
  let bench: ReviewBench;
  let desk: ReviewDesk;
  let side: AgentSide;

  setup(async () => {
    bench = await openReviewBench("review-suite");
    ({ folder, desk, side } = bench);
  });

  teardown(async () => {
    await bench.close();
  });

  const pathOf = (name: string): string => join(folder, name);

  async function agentWrites(path: string, before: string | null, after: string): Promise<void> {
    assert.deepEqual(await agentWrite(side.host.files, path, { expected: before, after }, signal), { ok: true });
  }

  /** a.txt with the original text, then edited by the agent. */
  async function editedFile(isOpen = false): Promise<vscode.Uri> {
    const path = pathOf("a.txt");
    writeFileSync(path, ORIGINAL);
    if (isOpen) await openEditor(path);
    await agentWrites(path, ORIGINAL, EDITED);
    return vscode.Uri.file(path);
  }

  const shownHunks = (uri: vscode.Uri) =>
    desk.review.hunks(uri).map(({ oldLines, newLines }) => [oldLines.join(""), newLines.join("")]);
  const hunk = (uri: vscode.Uri, index: number) => desk.review.hunks(uri)[index]!;
  const inFront = (): vscode.Tab | undefined => vscode.window.tabGroups.activeTabGroup.activeTab;
  const assertDiffInFront = (uri: vscode.Uri): void => {
    const { input } = inFront() ?? {};
    assert.ok(input instanceof vscode.TabInputTextDiff);
    assert.equal(input.modified.toString(), uri.toString());
  };
  const onDisk = (uri: vscode.Uri): string => readFileSync(uri.fsPath, "utf8");

  test("decisions are reported with their lines: kept, undone, and retyped", async () => {
    const uri = await editedFile();
    const decisions: unknown[] = [];
    const listener = desk.review.onDidDecide(({ outcome, lines }) => decisions.push([outcome, lines]));
    const editor = await openEditor(uri.fsPath);
    await typeAt(editor, 1, "my ");
    desk.review.keep(uri, hunk(uri, 0));
    await desk.review.undo(uri);
    listener.dispose();
    assert.deepEqual(
      decisions.map((decision) => (decision as [string, number])[0]),
      ["retyped", "kept", "undone"],
    );
    assert.deepEqual(decisions[0], ["retyped", 1]);
  });

  test("an edit becomes hunks of the real file", async () => {
    const uri = await editedFile();
    assert.deepEqual(shownHunks(uri), [
      ["two\n", "TWO\n"],
      ["five\n", ""],
      ["", "seven\n"],
    ]);
    const [file] = desk.review.files;
    assert.deepEqual([file?.pendingHunks, file?.added, file?.removed, file?.isWaiting], [3, 2, 2, false]);
  });

  test("keeping a hunk leaves the file and the other hunks", async () => {
    const uri = await editedFile();
    desk.review.keep(uri, hunk(uri, 0));
    assert.deepEqual(shownHunks(uri), [
      ["five\n", ""],
      ["", "seven\n"],
    ]);
    assert.equal(onDisk(uri), EDITED);
  });

  test("undoing a hunk restores its old lines and saves them", async () => {
    const uri = await editedFile();
    await desk.review.undo(uri, hunk(uri, 1));
    assert.equal(onDisk(uri), "one\nTWO\nthree\nfour\nfive\nsix\nseven\n");
    assert.deepEqual(shownHunks(uri), [
      ["two\n", "TWO\n"],
      ["", "seven\n"],
    ]);
  });

  test("the last decision ends the review of a file", async () => {
    const uri = await editedFile();
    desk.review.keep(uri, hunk(uri, 2));
    await desk.review.undo(uri, hunk(uri, 0));
    desk.review.keep(uri);
    assert.deepEqual(desk.review.documents, []);
    assert.equal(onDisk(uri), "one\ntwo\nthree\nfour\nsix\nseven\n");
  });

  test("a second edit of the agent joins the first, against the first baseline", async () => {
    const uri = await editedFile();
    await openEditor(uri.fsPath);
    await agentWrites(uri.fsPath, EDITED, EDITED.replace("three", "THREE"));
    assert.deepEqual(shownHunks(uri)[0], ["two\nthree\n", "TWO\nTHREE\n"]);
    await desk.review.undo(uri);
    assert.equal(onDisk(uri), ORIGINAL);
  });

  test("the user's typing is no hunk, and stays when everything is undone", async () => {
    const uri = await editedFile();
    const editor = await openEditor(uri.fsPath);
    await typeAt(editor, 3, "mine\n");
    await typeAt(editor, 0, "top\n");
    assert.equal(desk.review.hunks(uri).length, 3);
    await desk.review.undo(uri);
    assert.equal(editor.document.getText(), "top\none\ntwo\nthree\nmine\nfour\nfive\nsix\n");
    assert.equal(editor.document.isDirty, true);
  });

  test("Ctrl+Z after an undo puts the hunk up for review again", async () => {
    const uri = await editedFile();
    const { document } = await openEditor(uri.fsPath);
    await desk.review.undo(uri);
    assert.deepEqual(desk.review.documents, []);
    await vscode.window.showTextDocument(document);
    await vscode.commands.executeCommand("undo");
    assert.equal(document.getText(), EDITED);
    assert.equal(desk.review.hunks(uri).length, 3);
  });

  test("Ctrl+Z of the agent's edit after one hunk was kept leaves nothing to review, and the file as it was", async () => {
    const uri = await editedFile(true);
    const { document } = await openEditor(uri.fsPath);
    desk.review.keep(uri, hunk(uri, 0));
    await vscode.commands.executeCommand("undo");
    assert.equal(document.getText(), ORIGINAL);
    assert.deepEqual(desk.review.documents, []);
  });

  test("a redo after Ctrl+Z brings both edits of the agent back with their review", async () => {
    const uri = await editedFile(true);
    const { document } = await openEditor(uri.fsPath);
    const edited = EDITED.replace("three", "THREE");
    await agentWrites(uri.fsPath, EDITED, edited);
    const hunks = shownHunks(uri);
    for (const command of ["undo", "undo"]) await vscode.commands.executeCommand(command);
    assert.equal(document.getText(), ORIGINAL);
    assert.deepEqual(desk.review.documents, []);
    for (const command of ["redo", "redo"]) await vscode.commands.executeCommand(command);
    assert.equal(document.getText(), edited);
    assert.deepEqual(shownHunks(uri), hunks);
  });

  test("a formatter's change on saving reaches the agent, and does not count as typed by the user", async () => {
    const path = pathOf("a.txt");
    writeFileSync(path, ORIGINAL);
    await openEditor(path);
    const settings = vscode.workspace.getConfiguration("files");
    await settings.update("trimTrailingWhitespace", true, vscode.ConfigurationTarget.Global);
    try {
      const edit = { expected: ORIGINAL, after: ORIGINAL.replace("two", "TWO  ") };
      const formatted = ORIGINAL.replace("two", "TWO");
      assert.deepEqual(await agentWrite(side.host.files, path, edit, signal), { ok: true, formatted });
    } finally {
      await settings.update("trimTrailingWhitespace", undefined, vscode.ConfigurationTarget.Global);
    }
    assert.equal(desk.applied.countRetyped(path, desk.review.hunks(vscode.Uri.file(path))), 0);
  });

  test("a file that a command removes leaves the review, and a file that comes back has it again", async () => {
    const uri = vscode.Uri.file(pathOf("new.txt"));
    await agentWrites(uri.fsPath, null, "a\nb\n");
    await changed(() => rmSync(uri.fsPath));
    await changed(() => writeFileSync(uri.fsPath, "a\nb\n"), uri);
    assert.deepEqual(shownHunks(uri), [["", "a\nb\n"]]);
  });

  test("a file that the user renames or deletes takes its hunks along", async () => {
    const uri = await editedFile();
    const renamed = vscode.Uri.file(pathOf("deeper/renamed.txt"));
    const rename = new vscode.WorkspaceEdit();
    rename.renameFile(uri, renamed);
    await changed(() => void vscode.workspace.applyEdit(rename), renamed);
    await desk.review.undo(renamed, hunk(renamed, 0));
    assert.match(onDisk(renamed), /^one\ntwo\n/);
    const folderMove = new vscode.WorkspaceEdit();
    const moved = vscode.Uri.file(pathOf("other/renamed.txt"));
    folderMove.renameFile(vscode.Uri.file(pathOf("deeper")), vscode.Uri.file(pathOf("other")));
    await changed(() => void vscode.workspace.applyEdit(folderMove), moved);
    const deletion = new vscode.WorkspaceEdit();
    deletion.deleteFile(moved);
    await changed(() => void vscode.workspace.applyEdit(deletion));
  });

  test("a key moves on from a file that a command has removed", async () => {
    await editedFile();
    const other = pathOf("b.txt");
    await agentWrites(other, null, "b\n");
    rmSync(pathOf("a.txt"));
    await revealHunk(desk.review, desk.opener, 1, []);
    assert.equal(vscode.window.activeTextEditor?.document.uri.fsPath, other);
    assert.deepEqual(
      desk.review.documents.map(({ fsPath }) => fsPath),
      [other],
    );
  });

  /** Resolves when exactly these documents are under review after the action. */
  async function changed(act: () => void, ...documents: readonly vscode.Uri[]): Promise<void> {
    const reached = new Promise<void>((resolve) => {
      const subscription = desk.review.onDidChange(() => {
        if (desk.review.documents.join() !== documents.join()) return;
        subscription.dispose();
        resolve();
      });
    });
    act();
    await reached;
  }

  test("undoing a created file removes it, but keeps the user's additions", async () => {
    const path = pathOf("new.txt");
    await agentWrites(path, null, "a\nb\n");
    const uri = vscode.Uri.file(path);
    await typeAt(await openEditor(path), 1, "mine\n");
    await desk.review.undo(uri);
    assert.equal((await vscode.workspace.openTextDocument(uri)).getText(), "mine\n");

    const other = pathOf("other.txt");
    await agentWrites(other, null, "a\nb\n");
    await desk.review.undo(vscode.Uri.file(other));
    assert.equal(existsSync(other), false);
    assert.deepEqual(desk.review.documentsOf(other), []);
  });

  test("an undo refuses a file that a command has changed, and the review continues with its present text", async () => {
    const uri = await editedFile();
    writeFileSync(uri.fsPath, EDITED.replace("one", "by a command"));
    await assert.rejects(desk.review.undo(uri, hunk(uri, 0)));
    assert.equal(onDisk(uri), EDITED.replace("one", "by a command"));
    await desk.review.undo(uri, hunk(uri, 0));
    assert.match(onDisk(uri), /^by a command\ntwo\n/);
  });

  test("a file that is loaded while a command rewrites it is reviewed as before, and an undo doubles no line", async () => {
    const uri = await editedFile();
    await vscode.workspace.openTextDocument(uri);
    const rewritten = EDITED.replace("one", "by a command");
    for (const written of ["", rewritten.slice(0, 20), rewritten]) {
      writeFileSync(uri.fsPath, written);
      await desk.review.refresh(uri);
      assert.equal(desk.review.find(uri)?.present, written);
    }
    assert.deepEqual(shownHunks(uri), [
      ["two\n", "TWO\n"],
      ["five\n", ""],
      ["", "seven\n"],
    ]);
    await desk.review.undo(uri);
    assert.equal(onDisk(uri), ORIGINAL.replace("one", "by a command"));
  });

  test("the review is recreated after a reload; changes made since are the user's", async () => {
    const uri = await editedFile();
    desk.review.keep(uri, hunk(uri, 0));
    await desk.store.flush();
    writeFileSync(uri.fsPath, `top\n${EDITED}`);
    desk = await desk.reloaded();
    assert.deepEqual(shownHunks(uri), [
      ["five\n", ""],
      ["", "seven\n"],
    ]);
    await desk.review.undoAll();
    assert.equal(onDisk(uri), "top\none\nTWO\nthree\nfour\nfive\nsix\n");
    desk = await desk.reloaded();
    assert.deepEqual(desk.review.documents, []);
    assert.deepEqual(desk.problems, []);
  });

  test("a damaged record is left out and reported, and a missing file is dropped", async () => {
    const uri = await editedFile();
    await agentWrites(pathOf("b.txt"), null, "b\n");
    await desk.store.flush();
    rmSync(pathOf("b.txt"));
    const records = join(desk.storage, "review");
    for (const name of readdirSync(records)) {
      const file = join(records, name);
      writeFileSync(file, readFileSync(file, "utf8").replace("seven", "SEVEN"));
    }
    desk = await desk.reloaded();
    assert.deepEqual(desk.review.documents, []);
    assert.match(desk.problems.join("\n"), /^.* is damaged, .*$/);
    assert.equal(onDisk(uri), EDITED);
  });

  test("lenses over each hunk of the file call keep, undo and next", async () => {
    const uri = await editedFile();
    const lenses = lensesOf(desk.review, await vscode.workspace.openTextDocument(uri));
    const titles = lenses.map(({ range, command }) => `${range.start.line} ${command?.title}`);
    assert.deepEqual(titles.slice(0, 5), [
      "1 $(check)\u00a0Keep +1 −1",
      "1 $(discard)\u00a0Undo",
      "1 Next (1 of 3)",
      "1 − two",
      "4 $(check)\u00a0Keep −1",
    ]);
    const [keep, , , , keepSecond] = lenses.map(({ command }) => command?.arguments ?? []);
    assert.deepEqual(hunkAt(desk.review, { place: undefined }, keep ?? [])?.hunk, hunk(uri, 0));
    desk.review.keep(uri, hunk(uri, 0));
    assert.equal(hunkAt(desk.review, { place: undefined }, keep ?? []), undefined);
    assert.deepEqual(hunkAt(desk.review, { place: undefined }, keepSecond ?? [])?.hunk, hunk(uri, 0));
  });

  test("the baseline is a document, and takes in kept hunks", async () => {
    const uri = await editedFile();
    await desk.opener.openDiff(uri, false);
    const before = await vscode.workspace.openTextDocument(originalUri(uri));
    assert.equal(before.getText(), ORIGINAL);
    const changed = new Promise<void>((resolve) => {
      const subscription = vscode.workspace.onDidChangeTextDocument(({ document }) => {
        if (document !== before) return;
        subscription.dispose();
        resolve();
      });
    });
    desk.review.keep(uri, hunk(uri, 0));
    await changed;
    assert.equal(before.getText(), ORIGINAL.replace("two", "TWO"));
    assertDiffInFront(uri);
  });

  test("a diff that stays open after the review shows no difference", async () => {
    const uri = await editedFile();
    const before = await vscode.workspace.openTextDocument(originalUri(uri));
    await openEditor(uri.fsPath);
    await desk.review.undo(uri, hunk(uri, 0));
    const ended = new Promise<void>((resolve) => {
      const subscription = vscode.workspace.onDidChangeTextDocument(({ document }) => {
        if (document !== before || before.getText() !== onDisk(uri)) return;
        subscription.dispose();
        resolve();
      });
    });
    for (const rest of desk.review.hunks(uri)) desk.review.keep(uri, rest);
    await ended;
    assert.equal(desk.review.find(uri), undefined);
  });

  test("the file of an edit is shown", async () => {
    const uri = await editedFile();
    await desk.opener.showEdit(uri.fsPath, "file");
    const { input } = inFront() ?? {};
    assert.ok(input instanceof vscode.TabInputText);
    assert.equal(input.uri.toString(), uri.toString());
  });

  test("an edit of a notebook that is open opens no second tab with its text", async () => {
    const path = pathOf("book.ipynb");
    const text = (source: string) =>
      `${JSON.stringify({ cells: [{ cell_type: "raw", metadata: {}, source }], metadata: {}, nbformat: 4, nbformat_minor: 2 })}\n`;
    writeFileSync(path, text("one"));
    await vscode.commands.executeCommand("vscode.open", vscode.Uri.file(path));
    await agentWrites(path, text("one"), text("ONE"));
    await desk.opener.showEdit(path, "file");
    const tabs = vscode.window.tabGroups.all.flatMap((group) => group.tabs);
    assert.equal(desk.review.hunks(vscode.Uri.file(path)).length, 1);
    assert.deepEqual(
      tabs.filter(({ label }) => label === "book.ipynb").map(({ input }) => input instanceof vscode.TabInputNotebook),
      [true],
    );
  });

  test("an edit outside the panel's focus opens nothing, and a proposal opens once the panel has it", async () => {
    const notes = pathOf("notes.txt");
    writeFileSync(notes, "");
    await openEditor(notes);
    const uri = await editedFile();
    desk.isInPanel = false;
    await desk.opener.showEdit(uri.fsPath, "file");
    assert.equal(vscode.window.activeTextEditor?.document.uri.fsPath, notes);
    const asked = new AbortController();
    const proposed = Promise.withResolvers<void>();
    const edit = { path: uri.fsPath, expected: EDITED, after: `${EDITED}eight\n` };
    const decision = desk.proposals.decide(edit, { signal: asked.signal, proposed: proposed.resolve }, () =>
      assert.fail(),
    );
    await proposed.promise;
    await desk.opener.showEdit(uri.fsPath, "proposal");
    assert.equal(vscode.window.activeTextEditor?.document.uri.fsPath, notes);
    const shown = new Promise<unknown>((resolve) => {
      const subscription = vscode.window.tabGroups.onDidChangeTabs(() => {
        if (!(inFront()?.input instanceof vscode.TabInputTextDiff)) return;
        subscription.dispose();
        resolve(undefined);
      });
    });
    desk.focused.fire();
    await shown;
    asked.abort();
    await assert.rejects(decision);
  });

  test("an edit is shown in the diff that the user has opened", async () => {
    const uri = await editedFile();
    await desk.opener.openDiff(uri, false);
    await agentWrites(uri.fsPath, EDITED, `${EDITED}eight\n`);
    await desk.opener.showEdit(uri.fsPath, "file");
    assertDiffInFront(uri);
  });

  test("a button of the gutter's peek applies to the hunk at its lines", async () => {
    const uri = await editedFile();
    const change = (modifiedStartLineNumber: number, modifiedEndLineNumber: number) => ({
      originalStartLineNumber: 1,
      originalEndLineNumber: 1,
      modifiedStartLineNumber,
      modifiedEndLineNumber,
    });
    const changes = [change(2, 2), change(4, 0), change(6, 6)];
    const meant = changes.map((_, index) => hunkOfChange(desk.review, [uri, changes, index])?.hunk);
    assert.deepEqual(meant, desk.review.hunks(uri));
  });
});
