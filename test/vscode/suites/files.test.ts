import assert from "node:assert/strict";
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import * as vscode from "vscode";
import type { HostFiles } from "../../../agent-core/host/host.ts";
import { tool as patch } from "../../../agent-core/tools/patch.ts";
import { FileMemory } from "../../../agent-core/tools/seen-files.ts";
import type { ToolContext, ToolResult } from "../../../agent-core/tools/tool.ts";
import { showFile } from "../../../extension/documents/file-links.ts";
import { countReads } from "../../support/count-reads.ts";
import { type AgentSide, connectAgentSide, workspaceFolder } from "../support/agent-side.ts";
import { agentWrite } from "../support/agent-write.ts";
import { closeEditors, openEditor, typeAt } from "../support/editors.ts";

// Reads and writes of the agent through the documents of a real editor.
suite("files", () => {
  const folder = join(workspaceFolder(), "files-suite");
  const { signal } = new AbortController();
  let side: AgentSide;
  let files: HostFiles;

  suiteSetup(async () => {
    mkdirSync(folder, { recursive: true });
    side = await connectAgentSide();
    ({ files } = side.host);
  });

  suiteTeardown(async () => {
    await closeEditors();
    await side.dispose();
    rmSync(folder, { recursive: true });
  });

  teardown(closeEditors);

  function file(name: string, content: string | Buffer): string {
    const path = join(folder, name);
    writeFileSync(path, content);
    return path;
  }

  const write = (path: string, text: string, expected: string | null) =>
    agentWrite(files, path, { expected, after: text }, signal);

  async function readText(path: string): Promise<string> {
    const read = await files.readText(path, signal);
    assert.ok(read.ok, read.ok ? "" : read.message);
    return read.text;
  }

  test("a place of a card opens at its line, and a picture in its own editor", async () => {
    await showFile(vscode.Uri.file(file("place.txt", "one\ntwo\nthree\n")), { line: 2 });
    assert.equal(vscode.window.activeTextEditor?.selection.active.line, 1);
    const picture = vscode.Uri.file(file("dot.gif", Buffer.from("R0lGODlhAQABAAAAACwAAAAAAQABAAACAkwBADs=", "base64")));
    await showFile(picture, {});
    const { activeTab } = vscode.window.tabGroups.activeTabGroup;
    assert.ok(activeTab?.input instanceof vscode.TabInputCustom);
    assert.equal(activeTab.input.uri.toString(), picture.toString());
  });

  test("the agent reads unsaved text", async () => {
    const path = file("unsaved.txt", "saved\n");
    await typeAt(await openEditor(path), 0, "typed ");
    assert.deepEqual(await files.readText(path, signal), {
      ok: true,
      text: "typed saved\n",
      hasMark: false,
      source: "editor",
    });
    assert.equal(readFileSync(path, "utf8"), "saved\n");
  });

  test("the agent reads a notebook with unsaved cells, and changes one cell of it", async () => {
    const cell = (source: string) => ({
      cell_type: "code",
      execution_count: null,
      metadata: {},
      outputs: [],
      source: [source],
    });
    const cells = [cell("a = 1"), cell("print(a)")];
    const path = file(
      "book.ipynb",
      `${JSON.stringify({ cells, metadata: {}, nbformat: 4, nbformat_minor: 2 }, null, 1)}\n`,
    );
    const notebook = await vscode.workspace.openNotebookDocument(vscode.Uri.file(path));
    const change = new vscode.WorkspaceEdit();
    const typed = new vscode.NotebookCellData(vscode.NotebookCellKind.Markup, "# Typed", "markdown");
    change.set(notebook.uri, [vscode.NotebookEdit.insertCells(0, [typed])]);
    assert.ok(await vscode.workspace.applyEdit(change));
    const text = await readText(path);
    assert.match(text, /# Typed[\s\S]*a = 1[\s\S]*print\(a\)/);
    const written = await write(path, text.replace("a = 1", "a = 2"), text);
    assert.equal(written.ok, true);
    assert.deepEqual(
      notebook.getCells().map(({ document }) => document.getText()),
      ["# Typed", "a = 2", "print(a)"],
    );
    assert.equal(notebook.isDirty, true);
    const now = await readText(path);
    const metadataOnly = await write(path, now.replace('"nbformat_minor": 2', '"nbformat_minor": 5'), now);
    assert.match(JSON.stringify(metadataOnly), /only its cells can be changed/);
    await notebook.save();
    assert.match(readFileSync(path, "utf8"), /a = 2/);
  });

  test("a change that VS Code makes on saving leaves the JSON of a notebook alone", async () => {
    const text = '{ "cells": [],  \n"metadata": {}, "nbformat": 4, "nbformat_minor": 5 }\n';
    const path = file("saved.ipynb", text);
    const settings = vscode.workspace.getConfiguration("files");
    await settings.update("trimTrailingWhitespace", true, vscode.ConfigurationTarget.Global);
    try {
      const edited = text.replace('"nbformat_minor": 5', '"nbformat_minor": 4');
      assert.deepEqual(await write(path, edited, text), { ok: true });
      assert.equal(readFileSync(path, "utf8"), edited);
    } finally {
      await settings.update("trimTrailingWhitespace", undefined, vscode.ConfigurationTarget.Global);
    }
  });

  test("a document without changes does not hide a command's write to the disk", async () => {
    const path = file("behind.txt", "old\n");
    await openEditor(path);
    writeFileSync(path, "new\n");
    assert.equal(await readText(path), "new\n");
  });

  test("an edit of a file that VS Code has as read-only is refused, and the file shows its text", async () => {
    const path = file("locked.txt", "one\n");
    const settings = vscode.workspace.getConfiguration("files");
    await settings.update("readonlyInclude", { "**/locked.txt": true }, vscode.ConfigurationTarget.Global);
    try {
      const { document } = await openEditor(path);
      assert.match(
        JSON.stringify(await write(path, "two\n", "one\n")),
        /locked\.txt was not written by the editor: VS Code has it as read-only"/,
      );
      assert.deepEqual([document.getText(), readFileSync(path, "utf8")], ["one\n", "one\n"]);
    } finally {
      await settings.update("readonlyInclude", undefined, vscode.ConfigurationTarget.Global);
    }
  });

  test("an edit of an open, clean file is saved", async () => {
    const path = file("clean.txt", "one\ntwo\n");
    const { document } = await openEditor(path);
    assert.deepEqual(await write(path, "one\nTWO\n", "one\ntwo\n"), { ok: true });
    assert.equal(document.getText(), "one\nTWO\n");
    assert.equal(document.isDirty, false);
    assert.equal(readFileSync(path, "utf8"), "one\nTWO\n");
  });

  test("an edit of a file with unsaved changes joins them and leaves saving to the user", async () => {
    const path = file("dirty.txt", "one\ntwo\n");
    const editor = await openEditor(path);
    await typeAt(editor, 0, "typed ");
    assert.deepEqual(await write(path, "typed one\nTWO\n", "typed one\ntwo\n"), { ok: true });
    assert.equal(editor.document.getText(), "typed one\nTWO\n");
    assert.equal(editor.document.isDirty, true);
    assert.equal(readFileSync(path, "utf8"), "one\ntwo\n");
  });

  test("an edit keeps the caret, and one undo command reverts it", async () => {
    const path = file("undo.txt", "one\ntwo\nthree\n");
    const editor = await openEditor(path);
    editor.selection = new vscode.Selection(2, 3, 2, 3);
    await write(path, "one\nand more\ntwo\nthree\n", "one\ntwo\nthree\n");
    assert.deepEqual(editor.selection.active, new vscode.Position(3, 3));
    await vscode.window.showTextDocument(editor.document);
    await vscode.commands.executeCommand("undo");
    assert.equal(editor.document.getText(), "one\ntwo\nthree\n");
  });

  test("carriage returns and the byte order mark are kept", async () => {
    const path = file("windows.txt", "\ufeffone\r\ntwo\r\n");
    assert.equal(await readText(path), "one\r\ntwo\r\n");
    assert.deepEqual(await write(path, "one\r\nTWO\r\n", "one\r\ntwo\r\n"), { ok: true });
    assert.equal(readFileSync(path, "utf8"), "\ufeffone\r\nTWO\r\n");
  });

  test("a file with mixed line ends can be changed", async () => {
    const path = file("mixed.txt", "one\r\ntwo\nthree\n");
    const text = await readText(path);
    assert.deepEqual(await write(path, text.replace("two", "TWO"), text), { ok: true });
    assert.match(readFileSync(path, "utf8"), /^one\r?\nTWO\r?\nthree\r?\n$/);
  });

  test("text that the user typed since refuses the write and stays", async () => {
    const path = file("typed.txt", "one\n");
    const editor = await openEditor(path);
    const read = await readText(path);
    await typeAt(editor, 0, "mine ");
    const written = await write(path, "ONE\n", read);
    assert.ok(!written.ok);
    assert.equal(written.reason, "conflict");
    assert.match(written.message, /has changed since it was read; read it again/);
    assert.equal(editor.document.getText(), "mine one\n");
  });

  test("text that a command changed since refuses the write and stays", async () => {
    const path = file("changed.txt", "one\n");
    await openEditor(path);
    writeFileSync(path, "by a command\n");
    const written = await write(path, "ONE\n", "one\n");
    assert.ok(!written.ok);
    assert.equal(written.reason, "conflict");
    assert.equal(readFileSync(path, "utf8"), "by a command\n");
  });

  test("an edit of a command's output is saved, also with an open document", async () => {
    const path = file("followed.txt", "one\n");
    const { document } = await openEditor(path);
    writeFileSync(path, "one\ntwo\n");
    assert.deepEqual(await write(path, "one\nTWO\n", "one\ntwo\n"), { ok: true });
    assert.equal(readFileSync(path, "utf8"), "one\nTWO\n");
    assert.equal(document.isDirty, false);
  });

  test("a new file is written with its folders, and never over an existing one", async () => {
    const path = join(folder, "deep", "er", "new.txt");
    assert.deepEqual(await write(path, "hello\n", null), { ok: true });
    assert.equal(readFileSync(path, "utf8"), "hello\n");
    const again = await write(path, "other\n", null);
    assert.ok(!again.ok);
    assert.equal(again.reason, "conflict");
    assert.equal(readFileSync(path, "utf8"), "hello\n");
  });

  test("a deleted file is not created again", async () => {
    const path = file("gone.txt", "one\n");
    rmSync(path);
    const written = await write(path, "ONE\n", "one\n");
    assert.ok(!written.ok);
    assert.equal(written.reason, "conflict");
    assert.equal(existsSync(path), false);
  });

  /** The tool `patch`, as the agent runs it; `beforeWrite` happens when its diff is worked out. */
  async function patchTwo(path: string, beforeWrite?: () => Promise<unknown>): Promise<ToolResult> {
    const context = { host: side.host, cwd: folder, files: memory, signal } as ToolContext;
    const prepared = patch.prepare({ path, old_string: "two", new_string: "TWO" }, folder);
    const staged = prepared.ok ? await prepared.call.stage(context) : prepared;
    if (!staged.ok) return staged;
    await beforeWrite?.();
    return staged.run();
  }

  const memory = new FileMemory();
  const REBASED = /The file had changed since it was read: your edit was applied to its current text/;

  test("an exact, unique edit is applied to unsaved text that the user typed since, which stays unsaved", async () => {
    const path = file("typed-since.txt", "one\ntwo\nthree\n");
    const editor = await openEditor(path);
    memory.note(path, await readText(path));
    await typeAt(editor, 0, "typed\n");
    const result = await patchTwo(path);
    assert.match(result.text, REBASED);
    assert.equal(editor.document.getText(), "typed\none\nTWO\nthree\n");
    assert.equal(readFileSync(path, "utf8"), "one\ntwo\nthree\n");
  });

  test("text typed or written between diff and write is kept", async () => {
    for (const change of [
      (path: string) => openEditor(path).then((editor) => typeAt(editor, 0, "typed\n")),
      (path: string) => Promise.resolve(writeFileSync(path, "typed\none\ntwo\nthree\n")),
    ]) {
      const path = file("typed-then.txt", "one\ntwo\nthree\n");
      memory.forget(path);
      const result = await patchTwo(path, () => change(path));
      assert.match(result.text, REBASED);
      assert.equal(await readText(path), "typed\none\nTWO\nthree\n");
      await closeEditors();
    }
  });

  test("an edit of lines that the user has changed is refused, and their text stays", async () => {
    const path = file("typed-there.txt", "one\ntwo\nthree\n");
    const editor = await openEditor(path);
    memory.note(path, await readText(path));
    await typeAt(editor, 0, "two\n");
    const result = await patchTwo(path);
    assert.equal(result.ok, false);
    assert.equal(editor.document.getText(), "two\none\ntwo\nthree\n");
  });

  test("the agent reads a file once for an edit, the editor once more to guard it", async () => {
    const path = file("counted.txt", "one\ntwo\nthree\n");
    const reads = countReads();
    try {
      assert.ok((await patchTwo(path)).ok);
      assert.deepEqual(
        reads.paths.filter((read) => read === path),
        [path, path],
      );
    } finally {
      reads.stop();
    }
  });

  test("a binary file is refused", async () => {
    const bytes = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0, 1, 2, 0xff]);
    const path = file("picture.png", bytes);
    const read = await files.readText(path, signal);
    assert.ok(!read.ok);
    assert.equal(read.reason, "binary");
    const written = await write(path, "text\n", "anything");
    assert.ok(!written.ok);
    assert.deepEqual(readFileSync(path), bytes);
  });
});
