import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setImmediate as turn } from "node:timers/promises";
import * as vscode from "vscode";
import { rounds, seedOf } from "../../support/scale.ts";
import type { AgentSide } from "../support/agent-side.ts";
import { agentWrite } from "../support/agent-write.ts";
import { closeEditors, openEditor } from "../support/editors.ts";
import { type Random, randomOf } from "../support/hunk-model.ts";
import { openReviewBench, type ReviewBench } from "../support/review-bench.ts";
import type { ReviewDesk } from "../support/review-desk.ts";

/** Each round is another race. */
const ROUNDS = rounds(20, 9);
const SEED = seedOf(1);

type Doer = "agent" | "typing" | "save" | "other program" | "undo";
const DOERS: readonly Doer[] = ["agent", "typing", "save", "other program", "undo"];

/** Result of each participant's change. */
type Outcomes = Partial<Record<Doer, boolean>>;

// All participants change a file at the same moment; each that got a success must find its change.
suite("races for a reviewed file", () => {
  let folder: string;
  const { signal } = new AbortController();
  let bench: ReviewBench;
  let desk: ReviewDesk;
  let side: AgentSide;

  setup(async () => {
    bench = await openReviewBench("review-races-suite");
    ({ folder, desk, side } = bench);
  });

  teardown(async () => {
    await bench.close();
  });

  /** The agent reads, and writes a line at the end of what it read. */
  async function agentWrites(path: string, line: string): Promise<boolean> {
    const read = await side.host.files.readText(path, signal);
    assert.ok(read.ok);
    const edit = { expected: read.text, after: `${read.text}${line}\n` };
    const written = await agentWrite(side.host.files, path, edit, signal);
    // VS Code refuses to save over what another program writes right after the change.
    if (!written.ok && !written.message.endsWith("could not be saved")) assert.equal(written.reason, "conflict");
    return written.ok;
  }

  async function types({ uri }: vscode.TextDocument, line: string): Promise<boolean> {
    const change = new vscode.WorkspaceEdit();
    change.insert(uri, new vscode.Position(1, 0), `${line}\n`);
    return vscode.workspace.applyEdit(change);
  }

  function otherProgramWrites(path: string, line: string): boolean {
    writeFileSync(path, `${line}\n${readFileSync(path, "utf8")}`);
    return true;
  }

  function act(doer: Doer, document: vscode.TextDocument): Promise<boolean> | boolean {
    const { uri } = document;
    switch (doer) {
      case "agent":
        return agentWrites(uri.fsPath, "by the agent");
      case "typing":
        return types(document, "typed");
      case "save":
        return Promise.resolve(document.save());
      case "other program":
        return otherProgramWrites(uri.fsPath, "by another program");
      case "undo":
        return desk.review.undo(uri).then(
          () => true,
          () => false, // the user gets an error, and reads the file again
        );
    }
  }

  async function race(document: vscode.TextDocument, random: Random): Promise<Outcomes> {
    const outcomes: Outcomes = {};
    await Promise.all(
      DOERS.filter(() => random(4) > 0).map(async (doer) => {
        for (let turns = random(40); turns > 0; turns -= 1) await turn();
        outcomes[doer] = await act(doer, document);
      }),
    );
    return outcomes;
  }

  function assertNothingLost(document: vscode.TextDocument, outcomes: Outcomes, round: string): void {
    const shown = document.getText();
    const disk = readFileSync(document.uri.fsPath, "utf8");
    const name = `${round}: ${JSON.stringify({ outcomes, disk, shown })}`;
    const isThere = (text: string): boolean => disk.includes(text) || shown.includes(text);
    if (outcomes["other program"]) assert.ok(disk.includes("by another program"), name);
    if (outcomes.typing) assert.ok(isThere("typed"), name);
    if (outcomes.agent && !outcomes.undo) assert.ok(isThere("by the agent"), name);
    for (const line of ["one", "two", "three"]) assert.equal(disk.split(line).length, 2, name);
  }

  test("no confirmed change is lost", async function () {
    this.timeout(10_000 * ROUNDS);
    for (let round = 0; round < ROUNDS; round += 1) {
      const random = randomOf(SEED * 4001 + round * 17);
      const path = join(folder, `${round}.txt`);
      writeFileSync(path, "one\ntwo\nthree\n");
      assert.ok(await agentWrites(path, "first edit"));
      const { document } =
        round % 3 === 0 ? { document: await vscode.workspace.openTextDocument(path) } : await openEditor(path);
      if (round % 4 === 0) await types(document, "unsaved");
      const outcomes = await race(document, random);

      assertNothingLost(document, outcomes, `seed ${SEED}, round ${round}`);
      if (round % 4 === 0) assert.ok(document.getText().includes("unsaved"));
      await closeEditors();
      desk.review.keepAll();
    }
  });
});
