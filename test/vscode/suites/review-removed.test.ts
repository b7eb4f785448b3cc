import * as assert from "node:assert/strict";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import * as vscode from "vscode";
import { GONE_SCHEME } from "../../../extension/review/review.ts";
import type { AgentSide } from "../support/agent-side.ts";
import { agentWrite } from "../support/agent-write.ts";
import { openEditor, typeAt } from "../support/editors.ts";
import { openReviewBench, type ReviewBench } from "../support/review-bench.ts";
import type { ReviewDesk } from "../support/review-desk.ts";

const TEXT = "one\ntwo\nthree\n";

suite("review of files that the agent removes and moves", () => {
  let folder: string;
  const { signal } = new AbortController();
  let path: string;
  let gone: vscode.Uri;
  let bench: ReviewBench;
  let desk: ReviewDesk;
  let side: AgentSide;

  setup(async () => {
    bench = await openReviewBench("review-removed-suite");
    ({ folder, desk, side } = bench);
    path = join(folder, "a.txt");
    gone = vscode.Uri.file(path).with({ scheme: GONE_SCHEME });
    writeFileSync(path, TEXT);
  });

  teardown(async () => {
    await vscode.workspace.getConfiguration("hermes").update("review.mode", undefined, true);
    await bench.close();
  });

  test("a removed file is up for review, and undo restores it", async () => {
    assert.deepEqual(await agentWrite(side.host.files, path, { expected: TEXT, after: null }, signal), { ok: true });
    assert.equal(existsSync(path), false);
    assert.deepEqual(desk.review.documents.map(String), [gone.toString()]);
    const [file] = desk.review.files;
    assert.deepEqual([file?.added, file?.removed], [0, 3]);
    await desk.opener.openDiff(gone, false);
    await desk.review.undo(gone);
    assert.equal(readFileSync(path, "utf8"), TEXT);
    assert.deepEqual(desk.review.documents, []);
  });

  test("keeping ends the review of a removed file", async () => {
    await agentWrite(side.host.files, path, { expected: TEXT, after: null }, signal);
    desk.review.keep(gone);
    assert.deepEqual(desk.review.documents, []);
    assert.equal(existsSync(path), false);
  });

  test("a removal is still up for review after a reload", async () => {
    await agentWrite(side.host.files, path, { expected: TEXT, after: null }, signal);
    desk = await desk.reloaded();
    assert.deepEqual(desk.review.documents.map(String), [gone.toString()]);
    await desk.review.undo(gone);
    assert.equal(readFileSync(path, "utf8"), TEXT);
  });

  test("a file that the agent creates and removes leaves nothing to review", async () => {
    const fresh = join(folder, "fresh.txt");
    await agentWrite(side.host.files, fresh, { expected: null, after: "x\n" }, signal);
    await agentWrite(side.host.files, fresh, { expected: "x\n", after: null }, signal);
    assert.deepEqual(desk.review.documentsOf(fresh), []);
  });

  test("a file with unsaved text of the user is not removed", async () => {
    await typeAt(await openEditor(path), 0, "mine\n");
    const refused = await agentWrite(side.host.files, path, { expected: TEXT, after: null }, signal);
    assert.equal(refused.ok, false);
    assert.equal(readFileSync(path, "utf8"), TEXT);
  });

  test("with review before writing, a removal waits, and keeping a line keeps the file", async () => {
    await vscode.workspace.getConfiguration("hermes").update("review.mode", "before", true);
    const removal = agentWrite(side.host.files, path, { expected: TEXT, after: null }, signal);
    await new Promise<void>((resolve) => {
      const subscription = desk.review.onDidChange(() => {
        subscription.dispose();
        resolve();
      });
    });
    assert.equal(readFileSync(path, "utf8"), TEXT);
    const [proposal] = desk.review.documents;
    assert.ok(proposal);
    desk.review.keep(proposal);
    assert.deepEqual(await removal, { ok: true, review: { text: null, before: TEXT, kept: 1, rejected: 0 } });
    assert.equal(existsSync(path), false);
  });

  test("a moved file takes its open editor and its hunks along", async () => {
    const to = join(folder, "deeper", "b.txt");
    await agentWrite(side.host.files, path, { expected: TEXT, after: TEXT.replace("two", "TWO") }, signal);
    await openEditor(path);
    const moved = await side.host.files.rename({ from: path, to, expected: TEXT.replace("two", "TWO") }, signal);
    assert.deepEqual(moved, { ok: true });
    assert.deepEqual([existsSync(path), readFileSync(to, "utf8")], [false, TEXT.replace("two", "TWO")]);
    assert.deepEqual(
      desk.review.documents.map(({ fsPath }) => fsPath),
      [to],
    );
    assert.equal(vscode.window.activeTextEditor?.document.uri.fsPath, to);
  });

  test("no file is moved over an existing one", async () => {
    const to = join(folder, "b.txt");
    writeFileSync(to, "b\n");
    const refused = await side.host.files.rename({ from: path, to, expected: TEXT }, signal);
    assert.equal(refused.ok, false);
    assert.deepEqual([readFileSync(path, "utf8"), readFileSync(to, "utf8")], [TEXT, "b\n"]);
  });
});
