import assert from "node:assert/strict";
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import * as vscode from "vscode";
import { tool as patch } from "../../../agent-core/tools/patch.ts";
import { FileMemory } from "../../../agent-core/tools/seen-files.ts";
import type { ToolContext, ToolResult } from "../../../agent-core/tools/tool.ts";
import { type AgentSide, connectAgentSide, workspaceFolder } from "../support/agent-side.ts";
import { closeEditors, openEditor } from "../support/editors.ts";

/** Milliseconds between two keys: twelve in a second. */
const KEY_MS = 83;
const EDITS = 20;

// Edits of the agent in a file in which the user types, and in files that no editor shows.
suite("typing", () => {
  const folder = join(workspaceFolder(), "typing-suite");
  const { signal } = new AbortController();
  const formatOnSave = (value: boolean | undefined) =>
    vscode.workspace.getConfiguration("editor").update("formatOnSave", value, vscode.ConfigurationTarget.Global);
  let side: AgentSide;

  suiteSetup(async () => {
    mkdirSync(folder, { recursive: true });
    side = await connectAgentSide();
  });

  suiteTeardown(async () => {
    await closeEditors();
    await side.dispose();
    rmSync(folder, { recursive: true });
  });

  async function edit(path: string, files: FileMemory, oldText: string, newText: string): Promise<ToolResult> {
    const context = { host: side.host, cwd: folder, files, signal } as ToolContext;
    const prepared = patch.prepare({ path, old_string: oldText, new_string: newText }, folder);
    const staged = prepared.ok ? await prepared.call.stage(context) : prepared;
    return staged.ok ? staged.run() : staged;
  }

  /**
   * Types a digit at all carets until `work` settles, KEY_MS after the one before; in a slow window, after twice the time that
   * the last key took. Returns the digits.
   */
  async function typeDuring(work: Promise<unknown>): Promise<string> {
    let typed = "";
    const isOver = work.then(() => true);
    for (let pauseMs = 0; !(await Promise.race([isOver, delay(pauseMs, false)])); ) {
      const key = String(typed.length % 10);
      typed += key;
      const start = performance.now();
      await vscode.commands.executeCommand("type", { text: key });
      pauseMs = Math.max(KEY_MS, 2 * (performance.now() - start));
    }
    return typed;
  }

  test("twenty edits land between the keys of a user with two carets; undo leads back to the text before both", async function () {
    this.timeout(300_000);
    const path = join(folder, "guide.md");
    const lines = (changed: string, end = ""): string =>
      [...Array.from({ length: EDITS }, (_, index) => `line ${index}: ${changed}`), `end${end}`, `end${end}`].join(
        "\r\n",
      );
    writeFileSync(path, lines("old"));
    await formatOnSave(true);
    try {
      const editor = await openEditor(path);
      const ends = [EDITS, EDITS + 1].map((line) => new vscode.Position(line, 3));
      editor.selections = ends.map((end) => new vscode.Selection(end, end));
      const files = new FileMemory();
      const results: ToolResult[] = [];
      const typed = await typeDuring(
        (async () => {
          for (let index = 0; index < EDITS; index += 1) {
            const line = (index * 7) % EDITS; // in the beginning and the middle
            results.push(await edit(path, files, `line ${line}: old`, `line ${line}: new`));
          }
        })(),
      );
      assert.deepEqual(
        results.filter(({ ok }) => !ok),
        [],
      );
      assert.equal(editor.document.getText(), lines("new", typed));
      assert.equal(vscode.window.activeTextEditor, editor);
      assert.deepEqual(
        editor.selections.map(({ active }) => active.character),
        [3 + typed.length, 3 + typed.length],
      );
      for (let text = ""; text !== editor.document.getText(); ) {
        text = editor.document.getText();
        await vscode.commands.executeCommand("undo");
      }
      assert.equal(editor.document.getText(), lines("old"));
    } finally {
      await formatOnSave(undefined);
      await closeEditors();
    }
  });

  test("an edit of the line in which the user types is refused in words, and the user's text stays", async () => {
    const path = join(folder, "same-line.txt");
    writeFileSync(path, "one\ntwo\n");
    const editor = await openEditor(path);
    const files = new FileMemory();
    files.note(path, "one\ntwo\n");
    editor.selection = new vscode.Selection(1, 3, 1, 3);
    await vscode.commands.executeCommand("type", { text: "!" });
    const refused = await edit(path, files, "two\n", "TWO\n");
    assert.equal(refused.ok, false);
    assert.match(refused.text, /same-line\.txt/);
    assert.equal(editor.document.getText(), "one\ntwo!\n");
    await closeEditors();
  });

  test("an edit of a file that no editor shows opens no document, and the next edit goes through the one that was opened", async () => {
    const path = join(folder, "closed.txt");
    writeFileSync(path, "one\ntwo\n");
    const files = new FileMemory();
    assert.ok((await edit(path, files, "one", "ONE")).ok);
    assert.equal(readFileSync(path, "utf8"), "ONE\ntwo\n");
    assert.equal(
      vscode.workspace.textDocuments.some(({ uri }) => uri.fsPath === path),
      false,
    );
    const { document } = await openEditor(path);
    assert.ok((await edit(path, files, "two", "TWO")).ok);
    assert.deepEqual(
      [document.getText(), readFileSync(path, "utf8"), document.isDirty],
      ["ONE\nTWO\n", "ONE\nTWO\n", false],
    );
    await closeEditors();
  });

  test("a change that VS Code makes on saving happens to a file that no editor shows, too", async () => {
    const path = join(folder, "trimmed.txt");
    writeFileSync(path, "one\ntwo\n");
    const settings = vscode.workspace.getConfiguration("files", {
      uri: vscode.Uri.file(path),
      languageId: "plaintext",
    });
    await settings.update("trimTrailingWhitespace", true, vscode.ConfigurationTarget.Global, true);
    try {
      assert.match((await edit(path, new FileMemory(), "two", "TWO  ")).text, /The editor formatted the file/);
      assert.equal(readFileSync(path, "utf8"), "one\nTWO\n");
    } finally {
      await settings.update("trimTrailingWhitespace", undefined, vscode.ConfigurationTarget.Global, true);
    }
  });
});
