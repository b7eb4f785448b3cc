import assert from "node:assert/strict";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import * as vscode from "vscode";
import { revealHunk } from "../../../extension/review/hunk-keys.ts";
import { workspaceFolder } from "../support/agent-side.ts";
import { closeEditors } from "../support/editors.ts";
import { ReviewDesk } from "../support/review-desk.ts";

const FILES = 40;
const HUNKS = 25;
const LINES_A_HUNK = 20;

// Waiting times of the user in a large review. Printed only, because the figures depend on the machine.
suite("review speed", () => {
  const folder = join(workspaceFolder(), "review-speed-suite");
  let desk: ReviewDesk;

  suiteSetup(async () => {
    mkdirSync(folder, { recursive: true });
    desk = new ReviewDesk();
    const before = Array.from({ length: HUNKS * LINES_A_HUNK }, (_, index) => `line ${index}\n`);
    const after = before.map((line, index) => (index % LINES_A_HUNK === 7 ? `changed ${line}` : line)).join("");
    for (let file = 0; file < FILES; file += 1) {
      const path = join(folder, `file-${String(file).padStart(2, "0")}.txt`);
      writeFileSync(path, before.join(""));
      const edit = { path, before: before.join(""), after };
      await desk.applied.apply({ path, expected: edit.before, after: edit.after });
    }
  });

  suiteTeardown(async () => {
    await closeEditors();
    await desk.dispose();
    rmSync(folder, { recursive: true });
  });

  async function timed(what: string, work: () => Promise<void>, rounds = 1): Promise<void> {
    const began = performance.now();
    await work();
    const total = performance.now() - began;
    console.log(`[suite]     ${what}: ${(total / rounds).toFixed(1)} ms`);
  }

  test("a thousand hunks in forty files", async () => {
    await timed("taken up after a reload", async () => {
      desk = await desk.reloaded();
    });
    assert.equal(
      desk.review.files.reduce((sum, { pendingHunks }) => sum + pendingHunks, 0),
      FILES * HUNKS,
    );
    await timed("review opens", async () => {
      assert.equal(desk.review.files.length, FILES);
      await desk.opener.openDiff(desk.review.documents[0]!, false);
    });
    await vscode.window.showTextDocument(desk.review.documents[0]!);
    const next = () => revealHunk(desk.review, desk.opener, 1, []);
    await timed(
      "next hunk in the same file",
      async () => {
        for (let step = 1; step < HUNKS; step += 1) await next();
      },
      HUNKS - 1,
    );
    const places = new Set<string>();
    await timed(
      "next hunk, across ten files",
      async () => {
        for (let step = 0; step < 10 * HUNKS; step += 1) {
          await next();
          const editor = vscode.window.activeTextEditor;
          places.add(`${editor?.document.uri.toString()} ${editor?.selection.active.line}`);
        }
      },
      10 * HUNKS,
    );
    assert.equal(places.size, 10 * HUNKS);
    await timed("everything kept", () => Promise.resolve(desk.review.keepAll()));
    assert.deepEqual(desk.review.documents, []);
  });

  test("five hundred hunks in a file of ten thousand lines", async () => {
    const path = join(folder, "long.txt");
    const before = Array.from({ length: 10_000 }, (_, index) => `  const value${index} = compute(${index}, "old");\n`);
    const after = before.map((line, index) => (index % 20 === 7 ? line.replace("old", "new") : line));
    writeFileSync(path, before.join(""));
    await desk.applied.apply({ path, expected: before.join(""), after: after.join("") });
    const uri = vscode.Uri.file(path);
    const editor = await vscode.window.showTextDocument(uri);
    assert.equal(desk.review.hunks(uri).length, 500);
    let lenses = 0;
    await timed("lenses of 500 hunks", () => {
      lenses = desk.lenses.provideCodeLenses(editor.document).length;
      return Promise.resolve();
    });
    assert.equal(lenses, 4 * 500);
    await timed(
      "a hunk of 500 kept, with all marks and lists",
      () => {
        for (const hunk of desk.review.hunks(uri).slice(0, 5)) desk.review.keep(uri, hunk);
        return Promise.resolve();
      },
      5,
    );
    await timed("a key in the last hunk, with all marks and lists", async () => {
      assert.ok(await editor.edit((edit) => edit.insert(new vscode.Position(9_987, 0), "x")));
    });
    assert.equal(desk.review.hunks(uri).length, 495);
  });
});
