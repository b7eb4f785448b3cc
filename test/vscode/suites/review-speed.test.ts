import assert from "node:assert/strict";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import * as vscode from "vscode";
import { tool as patch } from "../../../agent-core/tools/patch.ts";
import { FileMemory } from "../../../agent-core/tools/seen-files.ts";
import type { ToolContext } from "../../../agent-core/tools/tool.ts";
import { revealHunk } from "../../../extension/review/hunk-keys.ts";
import { lensesOf } from "../../../extension/review/hunk-lenses.ts";
import { connectAgentSide, workspaceFolder } from "../support/agent-side.ts";
import { closeEditors } from "../support/editors.ts";
import { ReviewDesk } from "../support/review-desk.ts";

const FILES = 40;
const HUNKS = 25;
const LINES_A_HUNK = 20;
/** Processor time of an edit, from the call to its result: 100 ms on a quiet machine, ten times as much beside other work. */
const OWN_MS = 2_000;

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
      lenses = lensesOf(desk.review, editor.document).length;
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

  test("an edit of a file of 100,000 lines takes little of our own time in any state of its document", async function () {
    this.timeout(120_000);
    const path = join(folder, "large.txt");
    const lines = Array.from({ length: 100_000 }, (_, at) => `line ${at}: some text of ordinary length in a row\n`);
    writeFileSync(path, lines.join(""));
    const side = await connectAgentSide(desk.editReview);
    const slow = slowLanguageServer();
    const files = new FileMemory();
    const context = { host: side.host, cwd: folder, files, signal: new AbortController().signal } as ToolContext;
    const edit = async (line: number): Promise<void> => {
      const input = { path, old_string: `line ${line}: some text`, new_string: `line ${line}: another text` };
      const prepared = patch.prepare(input, folder);
      const staged = prepared.ok ? await prepared.call.stage(context) : prepared;
      const result = staged.ok ? await staged.run() : staged;
      assert.ok(result.ok, result.text);
    };
    /** Processor time of this host: whatever else runs on the machine counts for nothing. */
    const owns = async (what: string, first: number): Promise<void> => {
      const took: number[] = [];
      for (let round = 0; round < 5; round += 1) {
        const [began, start] = [process.cpuUsage(), performance.now()];
        await edit(first + round * 1_000);
        const { user, system } = process.cpuUsage(began);
        took.push((user + system) / 1_000);
        console.log(
          `[suite]     ${what}: ${took.at(-1)?.toFixed(0)} ms own, ${(performance.now() - start).toFixed(0)} ms in all`,
        );
      }
      assert.ok(Math.min(...took) <= OWN_MS, `${what}: ${took.map(Math.round)} ms`);
    };
    const settings = vscode.workspace.getConfiguration("editor");
    try {
      await owns("closed", 100);
      const editor = await vscode.window.showTextDocument(vscode.Uri.file(path));
      await owns("open", 10_100);
      await settings.update("formatOnSave", true, vscode.ConfigurationTarget.Global);
      await owns("formatted on save", 20_100);
      await editor.edit((change) => change.insert(new vscode.Position(0, 0), "typed\n"));
      await owns("unsaved", 30_100);
      assert.equal(desk.review.hunks(vscode.Uri.file(path)).length, 20);
    } finally {
      await settings.update("formatOnSave", undefined, vscode.ConfigurationTarget.Global);
      slow.dispose();
      await side.dispose();
    }
  });
});

/** A formatter with nothing to do, and problems that come two seconds after each change. */
function slowLanguageServer(): vscode.Disposable {
  const problems = vscode.languages.createDiagnosticCollection("slow");
  const timers = new Set<NodeJS.Timeout>();
  return vscode.Disposable.from(
    new vscode.Disposable(() => {
      for (const timer of timers) clearTimeout(timer);
    }),
    problems,
    vscode.languages.registerDocumentFormattingEditProvider("plaintext", { provideDocumentFormattingEdits: () => [] }),
    vscode.workspace.onDidChangeTextDocument(({ document: { uri } }) => {
      const late = new vscode.Diagnostic(new vscode.Range(0, 0, 0, 1), "late");
      timers.add(setTimeout(() => problems.set(uri, [late]), 2_000));
    }),
  );
}
