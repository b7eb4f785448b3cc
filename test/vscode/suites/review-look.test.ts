import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import * as vscode from "vscode";
import { hunkAt, revealHunk, toggleDiff } from "../../../extension/review/hunk-keys.ts";
import { workspaceFolder } from "../support/agent-side.ts";
import { openEditor } from "../support/editors.ts";
import { openReviewBench, type ReviewBench } from "../support/review-bench.ts";
import type { ReviewDesk } from "../support/review-desk.ts";

const ORIGINAL = "one\ntwo\nthree\nfour\nfive\nsix\n";
const EDITED = "one\nTWO\nthree\nfour\nsix\nseven\n";

// An edit in its file, on hovering, and in the diff editor.
suite("look of an edit under review", () => {
  const folder = join(workspaceFolder(), "review-look-suite");
  let bench: ReviewBench;
  let desk: ReviewDesk;

  setup(async () => {
    bench = await openReviewBench(folder);
    ({ desk } = bench);
  });

  teardown(async () => {
    await bench.close();
  });

  /** a.txt with the original text, then edited by the agent. */
  async function editedFile(): Promise<vscode.Uri> {
    const path = join(folder, "a.txt");
    writeFileSync(path, ORIGINAL);
    await desk.applied.apply({ path, expected: ORIGINAL, after: EDITED });
    return vscode.Uri.file(path);
  }

  const hunk = (uri: vscode.Uri, index: number) => desk.review.hunks(uri)[index]!;
  const inFront = (): vscode.Tab | undefined => vscode.window.tabGroups.activeTabGroup.activeTab;
  const assertDiffInFront = (uri: vscode.Uri): void => {
    const { input } = inFront() ?? {};
    assert.ok(input instanceof vscode.TabInputTextDiff);
    assert.equal(input.modified.toString(), uri.toString());
  };

  test("hovering over any line of a hunk, or below removed text, shows its diff with links", async () => {
    const uri = await editedFile();
    const hover = async (line: number, character: number): Promise<string> => {
      const at = new vscode.Position(line, character);
      const found: vscode.Hover[] = await vscode.commands.executeCommand("vscode.executeHoverProvider", uri, at);
      return found
        .flatMap(({ contents }) => contents)
        .map((content) => (content instanceof vscode.MarkdownString ? content.value : ""))
        .join("");
    };
    await openEditor(uri.fsPath);
    for (const character of [0, 3])
      assert.match(await hover(1, character), /Keep.*Undo.*Explain.*Diff[\s\S]*− two.*\+ TWO/);
    assert.match(await hover(4, 0), /− five/);
    assert.equal(await hover(0, 0), "");
    const [, args = ""] = /hermes\.keepHunk\?([^)]+)/.exec(await hover(1, 0)) ?? [];
    const linked = hunkAt(desk.review, { place: undefined }, JSON.parse(decodeURIComponent(args)));
    assert.deepEqual(linked?.hunk, hunk(uri, 0));
  });

  test("a key shows the hunk in the diff editor, and the file at the same hunk again", async () => {
    const uri = await editedFile();
    const { selection } = await openEditor(uri.fsPath);
    assert.equal(selection.active.line, 0);
    await revealHunk(desk.review, desk.opener, 1, []);
    await revealHunk(desk.review, desk.opener, 1, []);
    await toggleDiff(desk);
    assertDiffInFront(uri);
    await toggleDiff(desk);
    const { input } = inFront() ?? {};
    assert.ok(input instanceof vscode.TabInputText);
    assert.equal(desk.opener.caret.place?.line, 4);
    await toggleDiff(desk, uri.toString(), hunk(uri, 2));
    assertDiffInFront(uri);
    assert.equal(desk.opener.caret.place?.line, 5);
  });
});
