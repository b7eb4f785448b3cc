import assert from "node:assert/strict";
import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import * as vscode from "vscode";
import { proposalUri } from "../../../extension/review/review.ts";
import type { AgentSide } from "../support/agent-side.ts";
import { agentWrite } from "../support/agent-write.ts";
import { openEditor, typeAt } from "../support/editors.ts";
import { openReviewBench, type ReviewBench } from "../support/review-bench.ts";
import type { ReviewDesk } from "../support/review-desk.ts";

const ORIGINAL = "one\ntwo\nthree\nfour\nfive\n";
const PROPOSED = "one\nTWO\nthree\nFOUR\nfive\n";

// Edits that wait for the user's verdict: nothing is written before it, and the agent learns what became of them.
suite("review before writing", () => {
  let path: string;
  let uri: vscode.Uri;
  let cancel: AbortController;
  let bench: ReviewBench;
  let desk: ReviewDesk;
  let side: AgentSide;

  suiteSetup(() => setMode("before"));
  suiteTeardown(() => setMode(undefined));

  setup(async () => {
    bench = await openReviewBench("review-before-suite");
    path = join(bench.folder, "a.txt");
    uri = proposalUri(path);
    ({ desk, side } = bench);
    writeFileSync(path, ORIGINAL);
    cancel = new AbortController();
  });

  teardown(async () => {
    await bench.close();
  });

  /** Starts the agent's write; resolves when it waits for the user. */
  async function propose(after = PROPOSED, before: string | null = ORIGINAL) {
    const waits = new Promise<void>((resolve) => {
      const subscription = desk.review.onDidChange(() => {
        subscription.dispose();
        resolve();
      });
    });
    const written = agentWrite(side.host.files, path, { expected: before, after }, cancel.signal);
    await Promise.race([waits, written]);
    return { written };
  }

  const hunk = (index: number) => desk.review.hunks(uri)[index]!;

  test("nothing is written while the edit waits, and the list shows it as waiting", async () => {
    const { written } = await propose();
    assert.equal(readFileSync(path, "utf8"), ORIGINAL);
    assert.equal(desk.review.files[0]?.isWaiting, true);
    desk.review.keep(uri);
    assert.deepEqual(await written, { ok: true, review: { text: PROPOSED, before: ORIGINAL, kept: 2, rejected: 0 } });
    assert.equal(readFileSync(path, "utf8"), PROPOSED);
    assert.deepEqual(desk.review.documents, []);
  });

  test("only accepted hunks are written, and the agent gets the written text", async () => {
    const { written } = await propose();
    desk.review.keep(uri, hunk(1));
    await desk.review.undo(uri, hunk(0));
    const text = ORIGINAL.replace("four", "FOUR");
    assert.deepEqual(await written, { ok: true, review: { text, before: ORIGINAL, kept: 1, rejected: 1 } });
    assert.equal(readFileSync(path, "utf8"), text);
  });

  test("a rejected edit does not change the file", async () => {
    const { written } = await propose();
    await desk.review.undo(uri);
    assert.deepEqual(await written, { ok: true, review: { text: ORIGINAL, before: ORIGINAL, kept: 0, rejected: 2 } });
    assert.equal(readFileSync(path, "utf8"), ORIGINAL);
  });

  test("a rejected new file is not created", async () => {
    rmSync(path);
    const { written } = await propose("hello\n", null);
    await desk.review.undo(uri);
    assert.deepEqual(await written, { ok: true, review: { text: null, before: null, kept: 0, rejected: 1 } });
    assert.equal(existsSync(path), false);
  });

  test("text typed while the edit waits is merged with the accepted hunks", async () => {
    const { document } = await openEditor(path);
    const { written } = await propose();
    await typeAt(vscode.window.activeTextEditor!, 0, "mine\n");
    desk.review.keep(uri, hunk(0));
    await desk.review.undo(uri, hunk(0));
    const text = `mine\n${ORIGINAL.replace("two", "TWO")}`;
    assert.deepEqual(await written, { ok: true, review: { text, before: `mine\n${ORIGINAL}`, kept: 1, rejected: 1 } });
    assert.equal(document.getText(), text);
    assert.equal(document.isDirty, true);
  });

  test("text typed into the edited lines refuses the write and stays", async () => {
    const editor = await openEditor(path);
    const { written } = await propose();
    await typeAt(editor, 1, "my ");
    desk.review.keep(uri);
    const result = await written;
    assert.ok(!result.ok);
    assert.equal(result.reason, "conflict");
    assert.equal(editor.document.getText(), ORIGINAL.replace("two", "my two"));
  });

  test("a stopped turn withdraws the edit", async () => {
    const { written } = await propose();
    const withdrawn = new Promise<void>((resolve) => {
      desk.review.onDidChange(() => resolve());
    });
    cancel.abort(new Error("stopped"));
    await assert.rejects(written);
    await withdrawn;
    assert.deepEqual(desk.review.documents, []);
    assert.equal(readFileSync(path, "utf8"), ORIGINAL);
  });

  test("a second edit of the same file waits for the decision on the first, and builds on it", async () => {
    const { written } = await propose();
    const second = agentWrite(side.host.files, path, { expected: ORIGINAL, after: "other\n" }, cancel.signal);
    desk.review.keep(uri);
    assert.ok((await written).ok);
    const result = await second;
    assert.ok(!result.ok);
    assert.equal(result.reason, "conflict");
  });

  test("the proposal is a diff that closes after the decision", async () => {
    const { written } = await propose();
    await desk.opener.openDiff(uri, false);
    const input = vscode.window.tabGroups.activeTabGroup.activeTab?.input;
    assert.ok(input instanceof vscode.TabInputTextDiff);
    assert.equal((await vscode.workspace.openTextDocument(input.modified)).getText(), PROPOSED);
    assert.equal((await vscode.workspace.openTextDocument(input.original)).getText(), ORIGINAL);
    const closed = new Promise<void>((resolve) => {
      const subscription = vscode.window.tabGroups.onDidChangeTabs(({ closed: tabs }) => {
        if (tabs.length === 0) return;
        subscription.dispose();
        resolve();
      });
    });
    await desk.review.undo(uri);
    await written;
    await closed;
  });
});

async function setMode(mode: "before" | undefined): Promise<void> {
  await vscode.workspace.getConfiguration("hermes").update("review.mode", mode, vscode.ConfigurationTarget.Workspace);
}
