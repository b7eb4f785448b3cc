import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import * as vscode from "vscode";
import { decideHunk, revealHunk } from "../../../extension/review/hunk-keys.ts";
import { proposalUri } from "../../../extension/review/review.ts";
import { rounds, seedOf } from "../../support/scale.ts";
import type { AgentSide } from "../support/agent-side.ts";
import { agentWrite } from "../support/agent-write.ts";
import { closeEditors, openEditor } from "../support/editors.ts";
import { HunkModel, type Key, ModelFile, type Random, randomOf } from "../support/hunk-model.ts";
import { openReviewBench, type ReviewBench } from "../support/review-bench.ts";
import type { ReviewDesk } from "../support/review-desk.ts";

/** Each round is another sequence of keys. */
const ROUNDS = rounds(6, 2);
const SEED = seedOf(1);
const KEYS: readonly Key[] = ["next", "next", "next", "previous", "keep", "undo", "undo"];
const LIMIT_MS = 30_000 * ROUNDS;

// Keys for hunks pressed one right after another, faster than VS Code can follow: each acts on what the one before left.
suite("keys of the review in a row", () => {
  let folder: string;
  const { signal } = new AbortController();
  let bench: ReviewBench;
  let desk: ReviewDesk;
  let side: AgentSide;
  let lines = 0;

  setup(async () => {
    bench = await openReviewBench("review-keys-suite");
    ({ folder, desk, side } = bench);
  });

  teardown(async () => {
    await setMode(undefined);
    await bench.close();
  });

  const press = (key: Key): Promise<void> =>
    key === "keep" || key === "undo"
      ? decideHunk(desk.review, desk.opener, key, [])
      : revealHunk(desk.review, desk.opener, key === "next" ? 1 : -1, []);

  const agentWrites = (path: string, before: string, after: string) =>
    agentWrite(side.host.files, path, { expected: before, after }, signal);

  function modelOf(round: number, random: Random): HunkModel {
    const names = ["a.txt", "b.txt", "c.txt"];
    const files = names.map((name) => new ModelFile(join(folder, `${round} ${name}`), 1 + random(7), random));
    for (const { path, original } of files) writeFileSync(path, original);
    return new HunkModel(files);
  }

  /** Presses some keys at once; `between` does what else happens at the same time. */
  async function burst(model: HunkModel, random: Random, between: () => readonly Promise<void>[]): Promise<string> {
    const keys: readonly Key[] = ["next", ...Array.from({ length: 1 + random(10) }, () => KEYS[random(7)] ?? "next")];
    const work = keys.flatMap((key) => {
      model.press(key);
      return [press(key), ...between()];
    });
    await Promise.all(work);
    return keys.join(" ");
  }

  /** Puts a line in behind another one, as often as it takes. */
  async function insert(path: string, behind: string, text: string): Promise<void> {
    const document = await vscode.workspace.openTextDocument(path);
    for (;;) {
      const line = document.positionAt(document.getText().indexOf(behind)).line + 1;
      const change = new vscode.WorkspaceEdit();
      change.insert(document.uri, new vscode.Position(line, 0), text);
      if (await vscode.workspace.applyEdit(change)) return;
    }
  }

  /** The user types a line of their own, now and then. */
  function typing(model: HunkModel, random: Random): readonly Promise<void>[] {
    const file = model.files[random(model.files.length)];
    const behind = file?.sharedLines[random(file.sharedLines.length)];
    if (file === undefined || behind === undefined || random(3) > 0) return [];
    lines += 1;
    const text = `typed ${lines}\n`;
    file.type(behind, text);
    return [insert(file.path, behind, text)];
  }

  function assertReview(model: HunkModel, name: string, uriOf = vscode.Uri.file): void {
    const rest = model.files.filter(({ pending }) => pending.length > 0);
    assert.deepEqual(
      desk.review.documents.map((uri) => [
        uri.toString(),
        desk.review.hunks(uri).map(({ oldLines, newLines }) => [oldLines, newLines]),
      ]),
      rest.map(({ path, pending }) => [uriOf(path).toString(), pending.map(({ old, fresh }) => [old, fresh])]),
      name,
    );
  }

  async function assertFiles(model: HunkModel, name: string): Promise<void> {
    for (const { path, text } of model.files) {
      const document = await vscode.workspace.openTextDocument(path);
      assert.equal(document.getText(), text, name);
      // VS Code may be saving it by itself, and refuses until it has.
      while (document.isDirty) await document.save();
      assert.equal(readFileSync(path, "utf8"), text, name);
    }
  }

  /** VS Code reports the caret later than it moves it. After the verdict on a hunk, it may be at the end of its lines. */
  async function assertCaret({ caret }: HunkModel, name: string, uriOf = vscode.Uri.file): Promise<void> {
    if (caret === undefined) return;
    const [from, to] = caret.file.linesOf(caret.hunk);
    const last = caret.hunk.verdict === undefined ? from : to;
    const uri = uriOf(caret.file.path).toString();
    const isThere = ({ document, selection }: vscode.TextEditor): boolean =>
      document.uri.toString() === uri && selection.active.line >= from && selection.active.line <= last;
    await told(
      () => vscode.window.activeTextEditor !== undefined && isThere(vscode.window.activeTextEditor),
      () => `${name}: ${where()} instead of ${uri} ${from}`,
    );
  }

  test("reach the state of one edit after the other, also while the user types", async function () {
    this.timeout(LIMIT_MS);
    for (let round = 0; round < ROUNDS; round += 1) {
      const random = randomOf(SEED * 1009 + round);
      const model = modelOf(round, random);
      for (const { path, original, text } of model.files) {
        assert.deepEqual(await agentWrites(path, original, text), { ok: true });
      }
      // In tabs that stay, where the user types; else in the one that each file replaces.
      const isTyping = round % 2 === 0;
      if (isTyping) for (const { path } of model.files.toReversed()) await openEditor(path);
      for (let count = 0; count < 4; count += 1) {
        const keys = await burst(model, random, () => (isTyping ? typing(model, random) : []));
        const name = `seed ${SEED}, round ${round}.${count}: ${keys}`;
        assertReview(model, name);
        await assertFiles(model, name);
        await assertCaret(model, name);
      }
      await closeEditors();
      desk.review.keepAll();
      assert.deepEqual(desk.problems, []);
    }
  });

  test("decide the written text before anything is written", async function () {
    this.timeout(LIMIT_MS);
    await setMode("before");
    for (let round = 0; round < ROUNDS; round += 1) {
      const random = randomOf(SEED * 2003 + round);
      const model = modelOf(round, random);
      const writes: Promise<unknown>[] = [];
      for (const { path, original, text } of model.files) {
        const proposed = once(desk.review.onDidChange);
        writes.push(agentWrites(path, original, text));
        await proposed;
      }
      const bursts: string[] = [];
      while (model.places.length > 0) {
        bursts.push(await burst(model, random, () => []));
        const name = `seed ${SEED}, round ${round}: ${bursts.join(" | ")}`;
        assertReview(model, name, proposalUri);
        const isOpen = (model.caret?.file.pending.length ?? 0) > 0;
        if (isOpen) await assertCaret(model, name, proposalUri);
      }
      await Promise.all(writes);
      await assertFiles(model, bursts.join(" | "));
      await closeEditors();
    }
  });

  test("decide hunks while the agent continues, without losing its edits", async function () {
    this.timeout(LIMIT_MS);
    for (let round = 0; round < ROUNDS; round += 1) {
      const random = randomOf(SEED * 3001 + round);
      const model = modelOf(round, random);
      for (const { path, original, text } of model.files) {
        assert.deepEqual(await agentWrites(path, original, text), { ok: true });
      }
      const keys = await burst(model, random, () => agentGoesOn(model, random));
      const name = `seed ${SEED}, round ${round}: ${keys}`;
      for (const { path } of model.files) {
        const text = (await vscode.workspace.openTextDocument(path)).getText();
        assert.equal(readFileSync(path, "utf8"), text, name);
        assert.equal(desk.review.find(vscode.Uri.file(path))?.present ?? text, text, name);
      }
      await desk.review.undoAll();
      assert.deepEqual(desk.review.documents, [], name);
      assertOnlyKept(model, keys, name);
      await closeEditors();
    }
  });

  /** After everything else has been undone there is no more of the agent's than keys have kept. */
  function assertOnlyKept(model: HunkModel, keys: string, name: string): void {
    const differing = model.files.filter(({ path, original }) => readFileSync(path, "utf8") !== original);
    assert.ok(differing.length <= keys.split(" ").filter((key) => key === "keep").length, name);
    for (const { path, sharedLines } of model.files) {
      const text = readFileSync(path, "utf8");
      assert.deepEqual(
        text.split(/(?<=\n)/).filter((line) => sharedLines.includes(line)),
        sharedLines,
        name,
      );
    }
  }

  /** The agent adds a line at the end of a file, now and then. */
  function agentGoesOn(model: HunkModel, random: Random): readonly Promise<void>[] {
    const file = model.files[random(model.files.length)];
    if (file === undefined || random(3) > 0) return [];
    lines += 1;
    return [addsAtEnd(file.path, `more ${lines}\n`)];
  }

  /** The agent reads and writes, again where somebody was faster. */
  async function addsAtEnd(path: string, line: string): Promise<void> {
    for (;;) {
      const read = await side.host.files.readText(path, signal);
      assert.ok(read.ok);
      const written = await agentWrites(path, read.text, read.text + line);
      if (written.ok) return;
      assert.equal(written.reason, "conflict", written.message);
    }
  }
});

function where(): string {
  const editor = vscode.window.activeTextEditor;
  return `the caret is at ${editor?.document.uri.toString()} ${editor?.selection.active.line}`;
}

function once<T>(event: vscode.Event<T>): Promise<void> {
  return new Promise((resolve) => {
    const subscription = event(() => {
      subscription.dispose();
      resolve();
    });
  });
}

/** Resolves when it is so, which is looked at with each event of the editors. */
async function told(isSo: () => boolean, problem: () => string): Promise<void> {
  if (isSo()) return;
  await new Promise<void>((resolve, reject) => {
    const end = (settle: () => void): void => {
      clearTimeout(limit);
      for (const subscription of subscriptions) subscription.dispose();
      settle();
    };
    const look = (): void => {
      if (isSo()) end(resolve);
    };
    const limit = setTimeout(() => end(() => reject(new Error(problem()))), 60_000);
    const subscriptions = [
      vscode.window.onDidChangeActiveTextEditor(look),
      vscode.window.onDidChangeTextEditorSelection(look),
    ];
  });
}

async function setMode(mode: "before" | undefined): Promise<void> {
  await vscode.workspace.getConfiguration("hermes").update("review.mode", mode, vscode.ConfigurationTarget.Workspace);
}
