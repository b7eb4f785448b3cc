import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import * as vscode from "vscode";
import type { WorkspaceFacts } from "../../../agent-core/protocol/panel-events.ts";
import { Suggestion } from "../../../extension/attachments/suggestion.ts";
import { agentWrite } from "../support/agent-write.ts";
import { openEditor } from "../support/editors.ts";
import { openReviewBench, type ReviewBench } from "../support/review-bench.ts";

// The current file of the composer is the one that the user sees in front.
suite("the suggested file", () => {
  const { signal } = new AbortController();
  let mine: string;
  let edited: string;
  let bench: ReviewBench;
  let suggestion: Suggestion;
  let labels: readonly string[];
  let seen: string[];
  let notify: () => void;

  setup(async () => {
    bench = await openReviewBench("suggestion-suite");
    [mine, edited] = [join(bench.folder, "mine.txt"), join(bench.folder, "edited.txt")];
    writeFileSync(mine, "one\ntwo\n");
    writeFileSync(edited, "one\ntwo\n");
    labels = [];
    seen = [];
    notify = () => undefined;
    const setFacts = ({ suggested = [] }: Partial<WorkspaceFacts>): void => {
      labels = suggested.map(({ label }) => label);
      seen.push(...labels);
      notify();
    };
    const memory = {
      keys: () => [],
      get: <Value>(_key: string, value?: Value) => value,
      update: async () => undefined,
    };
    suggestion = new Suggestion({ panels: { setFacts }, memory });
    await agentWrite(bench.side.host.files, edited, { expected: "one\ntwo\n", after: "one\n2\n" }, signal);
  });

  teardown(async () => {
    suggestion.dispose();
    await bench.close();
  });

  const suggested = async (...wanted: readonly string[]): Promise<void> => {
    while (String(labels) !== String(wanted)) await new Promise<void>((resolve) => (notify = resolve));
  };

  const showEdit = async (): Promise<void> => {
    await bench.desk.opener.showEdit(edited, "file");
    assert.equal(vscode.window.activeTextEditor?.document.uri.fsPath, edited);
  };

  test("follows the file in front, also when Hermes shows an edit there", async () => {
    await openEditor(mine);
    await suggested("mine.txt");
    await showEdit();
    await suggested("edited.txt");
    assert.deepEqual(seen, ["mine.txt", "edited.txt"]);
  });

  test("is a text that is not saved yet, once it has any, or the lines selected in it", async () => {
    await openEditor(mine);
    await suggested("mine.txt");
    const document = await vscode.workspace.openTextDocument({ content: "one\ntwo\n" });
    const editor = await vscode.window.showTextDocument(document);
    await suggested(document.uri.path);
    editor.selection = new vscode.Selection(1, 0, 1, 3);
    await suggested(`${document.uri.path}:2`);
  });

  test("stays what it is when Hermes shows the user's file as a diff", async () => {
    const settings = vscode.workspace.getConfiguration("hermes");
    await settings.update("review.open", "diff", vscode.ConfigurationTarget.Global);
    try {
      await openEditor(edited);
      await suggested("edited.txt");
      await showEdit();
      const editor = vscode.window.activeTextEditor;
      assert.ok(editor);
      editor.selection = new vscode.Selection(0, 0, 1, 0);
      await suggested("edited.txt:1");
    } finally {
      await settings.update("review.open", undefined, vscode.ConfigurationTarget.Global);
    }
  });
});
