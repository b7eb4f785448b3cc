/**
 * Ledger of everything that is learnt: who changed which item, on what evidence, and the texts before and after. One file
 * a home, append-only. The items themselves are Markdown that people read and edit.
 */
import { randomBytes } from "node:crypto";
import { join } from "node:path";
import * as z from "zod";
import { learningFolder } from "../config/home.ts";
import { appendLines, readJsonLines, replaceFile } from "../config/home-file.ts";
import type { Clock } from "../platform/clock.ts";
import { withLock } from "../platform/locks/file-lock.ts";
import { LoopName } from "../protocol/learning.ts";

const recordSchema = z.object({
  id: z.string(),
  /** Milliseconds since 1970. */
  at: z.number(),
  loop: LoopName,
  /** `loop`: the loop by itself. `user`: the user, on the page or by a command. */
  actor: z.enum(["loop", "user"]),
  /**
   * `add`, `change`, `remove`: of an item. `close`: a newer fact replaces it. `reject`: a candidate failed a check and was
   * not written. `apply`: the user accepted a proposal.
   */
  op: z.enum(["add", "change", "close", "remove", "reject", "apply", "revert", "pin", "unpin", "undo", "forget"]),
  /** Id of the item: unique over all loops. */
  target: z.string(),
  /** Text of the item; null: no item. */
  before: z.string().nullable(),
  after: z.string().nullable(),
  /** `<session id>:<position of the message>`, oldest first. */
  evidence: z.array(z.string()).readonly(),
  /** In one sentence, for people. */
  reason: z.string(),
});
export type LearningRecord = z.infer<typeof recordSchema>;

export type LearningChange = Omit<LearningRecord, "id" | "at">;

/** Random part of a record's id. Bytes. */
const ID_BYTES = 6;

export class LearningLedger {
  readonly #path: string;
  readonly #clock: Pick<Clock, "now">;

  constructor(home: string, clock: Pick<Clock, "now">) {
    this.#path = join(learningFolder(home), "ledger.jsonl");
    this.#clock = clock;
  }

  /** Oldest first; a damaged line is left out. Rejects when reading fails. */
  read(): Promise<readonly LearningRecord[]> {
    return readJsonLines(this.#path, recordSchema);
  }

  /** Appends the changes as one block, so that all of them are in the file or none. Rejects when writing fails. */
  async append(changes: readonly LearningChange[]): Promise<readonly LearningRecord[]> {
    if (changes.length === 0) return [];
    const at = this.#clock.now();
    const records = changes.map((change) => ({ id: randomBytes(ID_BYTES).toString("hex"), at, ...change }));
    await appendLines(this.#path, linesOf(records));
    return records;
  }

  /**
   * Removes the texts of an item from the ledger; its records stay without them. `text`: its text, which the reasons of
   * other items lose. For "forget this".
   */
  async forget(target: string, text = ""): Promise<void> {
    await withLock(`${this.#path}.lock`, async () => {
      const records = await this.read();
      const without = records.map((record) => {
        if (record.target === target)
          return { ...record, before: null, after: null, evidence: [], reason: "forgotten" };
        return text === "" ? record : { ...record, reason: record.reason.replaceAll(text, "(forgotten)") };
      });
      await replaceFile(this.#path, linesOf(without));
    });
  }
}

function linesOf(records: readonly LearningRecord[]): string {
  return records.map((record) => `${JSON.stringify(record)}\n`).join("");
}
