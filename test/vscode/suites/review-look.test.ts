import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import * as vscode from "vscode";
import { decideHunk, hunkAt, revealHunk, toggleDiff } from "../../../extension/review/hunk-keys.ts";
import { shownHunks } from "../../../extension/review/notebook-hunks.ts";
import { openEditor } from "../support/editors.ts";
import { openReviewBench, type ReviewBench } from "../support/review-bench.ts";
import type { ReviewDesk } from "../support/review-desk.ts";

const ORIGINAL = "one\ntwo\nthree\nfour\nfive\nsix\n";
const EDITED = "one\nTWO\nthree\nfour\nsix\nseven\n";

// An edit in its file, on hovering, and in the diff editor.
suite("look of an edit under review", () => {
  let folder: string;
  let bench: ReviewBench;
  let desk: ReviewDesk;

  setup(async () => {
    bench = await openReviewBench("review-look-suite");
    ({ folder, desk } = bench);
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
    const hover = (line: number, character: number): Promise<string> => hoverText(uri, line, character);
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

  test("a notebook's cells show their new and old text, and a lens or a key there acts on the hunk of the file", async () => {
    const path = join(folder, "book.ipynb");
    const uri = vscode.Uri.file(path);
    const before = notebook({ a: "one\ntwo\n", gone: "print(0)", b: "three", c: "four" });
    const after = notebook({ a: "one\nTWO\nmore\n", b: "three", c: "4" });
    writeFileSync(path, before);
    await vscode.commands.executeCommand("vscode.open", uri);
    await desk.applied.apply({ path, expected: before, after });
    await desk.opener.showEdit(path, "file");
    const cells = (): readonly vscode.NotebookCell[] => vscode.window.activeNotebookEditor?.notebook.getCells() ?? [];
    const lensesOf = async (cell: number): Promise<readonly vscode.CodeLens[]> =>
      vscode.commands.executeCommand("vscode.executeCodeLensProvider", cells()[cell]?.document.uri);
    const shown = async (cell: number): Promise<string> =>
      (await lensesOf(cell)).map(({ range, command }) => `${range.start.line} ${command?.title}`).join("; ");
    while (cells().length !== 3) await new Promise((resolve) => vscode.workspace.onDidChangeNotebookDocument(resolve));
    assert.match(await shown(0), /^1 \$\(check\)\sKeep \+2 −1; .*Undo; .*Next \(1 of 3\); .*− two$/);
    assert.match(await shown(1), /− print\(0\)/);
    assert.match(await shown(2), /Keep \+1 −1.*− four$/);
    assert.match(await hoverText(cells()[2]?.document.uri, 0, 0), /Keep.*Undo[\s\S]*− four.*\+ 4/);
    for (const _ of [1, 2, 3]) await revealHunk(desk.review, desk.opener, 1, []);
    assert.equal(vscode.window.activeNotebookEditor?.selection.start, 2);
    const [, undo] = await lensesOf(2);
    await decideHunk(desk.review, desk.opener, "undo", undo?.command?.arguments ?? []);
    const [keep] = await lensesOf(0);
    await decideHunk(desk.review, desk.opener, "keep", keep?.command?.arguments ?? []);
    assert.equal(readFileSync(path, "utf8"), notebook({ a: "one\nTWO\nmore\n", b: "three", c: "four" }));
    assert.equal(desk.review.hunks(uri).length, 1);
  });

  test("the hunks of a cell move with the lines that the user types there", async () => {
    const path = join(folder, "typed.ipynb");
    const before = notebook({ a: "one\ntwo\nthree" });
    writeFileSync(path, before);
    await desk.applied.apply({ path, expected: before, after: notebook({ a: "one\ntwo\nTHREE" }) });
    await vscode.commands.executeCommand("vscode.open", vscode.Uri.file(path));
    const document = vscode.window.activeNotebookEditor?.notebook.cellAt(0).document;
    assert.ok(document);
    assert.deepEqual(
      shownHunks(desk.review, document).map(({ hunk }) => hunk.newStart),
      [2],
    );
    const typed = new vscode.WorkspaceEdit();
    typed.insert(document.uri, new vscode.Position(0, 0), "zero\n");
    await vscode.workspace.applyEdit(typed);
    assert.deepEqual(
      shownHunks(desk.review, document).map(({ hunk }) => hunk.newStart),
      [3],
    );
    await vscode.commands.executeCommand("workbench.action.files.revert");
  });
});

/** A notebook with a cell of code for each id. */
function notebook(sources: Readonly<Record<string, string>>): string {
  const cells = Object.entries(sources).map(([id, text]) => ({
    cell_type: "code",
    execution_count: null,
    id,
    metadata: {},
    outputs: [],
    source: text.match(/[^\n]*\n|[^\n]+$/g),
  }));
  return `${JSON.stringify({ cells, metadata: {}, nbformat: 4, nbformat_minor: 5 }, undefined, 1)}\n`;
}

async function hoverText(uri: vscode.Uri | undefined, line: number, character: number): Promise<string> {
  const at = new vscode.Position(line, character);
  const found: vscode.Hover[] = await vscode.commands.executeCommand("vscode.executeHoverProvider", uri, at);
  return found
    .flatMap(({ contents }) => contents)
    .map((content) => (content instanceof vscode.MarkdownString ? content.value : ""))
    .join("");
}
