import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import * as vscode from "vscode";
import { GONE_SCHEME } from "../../../extension/review/review.ts";
import type { AgentSide } from "../support/agent-side.ts";
import { agentWrite } from "../support/agent-write.ts";
import { openEditor, typeAt } from "../support/editors.ts";
import { openReviewBench, type ReviewBench } from "../support/review-bench.ts";
import type { ReviewDesk } from "../support/review-desk.ts";

const LONG = "😀 long ".repeat(20_000);

/** Content of a file before and after the agent's edit. */
const FORMS: Readonly<Record<string, readonly [string, string]>> = {
  "line feeds": ["one\ntwo\nthree\n", "one\nTWO\nthree\nfour\n"],
  "carriage returns": ["one\r\ntwo\r\nthree\r\n", "one\r\nTWO\r\nthree\r\nfour\r\n"],
  "mixed line ends": ["one\r\ntwo\nthree\r\nfour\n", "one\r\nTWO\nthree\r\nfour\n"],
  "mixed line ends, most of them line feeds": ["a\nb\nc\r\nd\n", "a\nb\nc\r\nD\n"],
  "carriage returns alone": ["one\rtwo\nthree\r", "one\rtwo\nTHREE\r"],
  "no final line end": ["one\ntwo", "one\nTWO"],
  "a final line end that comes": ["one\ntwo", "one\ntwo\n"],
  "a final line end that goes": ["one\r\ntwo\r\n", "one\r\ntwo"],
  "a byte order mark": ["\ufeffone\r\ntwo\r\n", "\ufeffone\r\nTWO\r\n"],
  "a byte order mark and mixed line ends": ["\ufeffone\r\ntwo\nthree\n", "\ufeffone\r\nTWO\nthree\n"],
  "nothing in it": ["", "one\n"],
  "all of it gone": ["one\ntwo\n", ""],
  "a very long line": [`${LONG}\nend\n`, `${LONG.replace("long", "LONG")}\nend\n`],
  "surrogate pairs": ["𝒳😀\n👍🏽\n", "𝒳😁\n👍🏿\n"],
};

// Bytes on disk.
suite("bytes of reviewed files", () => {
  let folder: string;
  const { signal } = new AbortController();
  let bench: ReviewBench;
  let desk: ReviewDesk;
  let side: AgentSide;
  let count = 0;

  setup(async () => {
    bench = await openReviewBench("review-bytes-suite");
    ({ folder, desk, side } = bench);
  });

  teardown(async () => {
    await bench.close();
  });

  function file(content: string): vscode.Uri {
    count += 1;
    const path = join(folder, `${count}.txt`);
    writeFileSync(path, content);
    return vscode.Uri.file(path);
  }

  const onDisk = ({ fsPath }: vscode.Uri): string => readFileSync(fsPath, "utf8");
  const withoutMark = (text: string): string => text.replace(/^\ufeff/, "");

  async function agentWrites({ fsPath }: vscode.Uri, after: string): Promise<void> {
    const read = await side.host.files.readText(fsPath, signal);
    assert.ok(read.ok);
    const edit = { expected: read.text, after: withoutMark(after) };
    assert.deepEqual(await agentWrite(side.host.files, fsPath, edit, signal), { ok: true });
  }

  for (const [form, [before, after]] of Object.entries(FORMS)) {
    for (const isOpen of [false, true]) {
      test(`undo gives back every byte: ${form}, ${isOpen ? "open" : "closed"}`, async () => {
        const uri = file(before);
        if (isOpen) await openEditor(uri.fsPath);
        await agentWrites(uri, after);
        assert.equal(onDisk(uri), after);
        while (desk.review.hunks(uri).length > 0) await desk.review.undo(uri, desk.review.hunks(uri)[0]!);
        assert.equal(onDisk(uri), before);
        assert.deepEqual(desk.review.documents, []);
      });
    }

    test(`keep leaves every byte as the agent wrote it: ${form}`, async () => {
      const uri = file(before);
      await openEditor(uri.fsPath);
      await agentWrites(uri, after);
      while (desk.review.hunks(uri).length > 0) desk.review.keep(uri, desk.review.hunks(uri)[0]!);
      assert.equal(onDisk(uri), after);
      assert.deepEqual(desk.review.documents, []);
    });

    test(`a file that the agent removed comes back with every byte: ${form}`, async () => {
      const uri = file(before);
      await agentWrite(side.host.files, uri.fsPath, { expected: withoutMark(before), after: null }, signal);
      if (before !== "") desk = await desk.reloaded();
      await desk.review.undoAll();
      // An empty file has no line to decide about.
      if (before !== "") assert.equal(onDisk(uri), before);
      assert.equal(desk.review.find(uri.with({ scheme: GONE_SCHEME })), undefined);
    });
  }

  test("in a file with mixed line ends, typed text stays the user's and hunks stay the agent's", async () => {
    const uri = file("one\r\ntwo\nthree\r\nfour\n");
    const editor = await openEditor(uri.fsPath);
    await agentWrites(uri, "one\r\nTWO\nthree\r\nfour\n");
    await reloaded(editor.document, "TWO");
    await typeAt(editor, 3, "mine\n");
    assert.deepEqual(
      desk.review.hunks(uri).map(({ oldLines, newLines }) => [oldLines.join("").trim(), newLines.join("").trim()]),
      [["two", "TWO"]],
    );
    await desk.review.undo(uri);
    assert.equal(editor.document.getText().replaceAll("\r\n", "\n"), "one\ntwo\nthree\nmine\nfour\n");
    assert.deepEqual(desk.review.documents, []);
  });

  test("a change of all line ends is no hunk", async () => {
    const uri = file("one\ntwo\nthree\n");
    const editor = await openEditor(uri.fsPath);
    await agentWrites(uri, "one\nTWO\nthree\n");
    await editor.edit((edit) => edit.setEndOfLine(vscode.EndOfLine.CRLF));
    await editor.document.save();
    assert.equal(desk.review.hunks(uri).length, 1);
    await desk.review.undo(uri);
    assert.equal(onDisk(uri), "one\r\ntwo\r\nthree\r\n");
  });

  /** Resolves when VS Code has read the present text of the disk. */
  async function reloaded(document: vscode.TextDocument, text: string): Promise<void> {
    if (document.getText().includes(text)) return;
    await new Promise<void>((resolve) => {
      const subscription = vscode.workspace.onDidChangeTextDocument(() => {
        if (!document.getText().includes(text)) return;
        subscription.dispose();
        resolve();
      });
    });
  }
});
