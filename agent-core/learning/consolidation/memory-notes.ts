/** The memory of a session's project, as far as learning changes it: what the agent noted is replaced, or becomes a learnt line. */
import { memoriesFolder } from "../../config/home.ts";
import { Memory } from "../../memory/memory.ts";
import type { MemoryTarget } from "../../memory/memory-ledger.ts";
import { MEMORY_TARGETS } from "../../memory/notes.ts";
import { contentWords, holdsValue, textKey, wordRow } from "../../memory/statement.ts";
import { messageOf } from "../../platform/errors.ts";
import { oneLine } from "../../platform/one-line.ts";
import { noLongerHolds } from "../fact-values.ts";
import { type Fact, factId, holdsIn, isShown, sessionOf } from "../facts.ts";
import type { LoopPorts } from "../loop.ts";
import type { Transcript } from "../transcript.ts";
import type { Refuted } from "./extraction.ts";
import type { Admitted } from "./gates.ts";
import { afterObjection } from "./session-evidence.ts";

/** Part of a note in a notification. Characters. */
const SHOWN_CHARS = 100;
/** Notes that one statement replaces. */
const MAX_REPLACED = 2;

type Note = {
  readonly id: string;
  readonly text: string;
  readonly target: MemoryTarget;
  /** The agent wrote it. */
  readonly isOurs: boolean;
  /** Session in which it was written, and milliseconds since 1970. */
  readonly session: string | undefined;
  readonly at: number;
};

type Session = Pick<Transcript, "cwd" | "sessionId">;

export class MemoryNotes {
  readonly #ports: Pick<LoopPorts, "home" | "clock" | "log">;

  constructor(ports: Pick<LoopPorts, "home" | "clock" | "log">) {
    this.#ports = ports;
  }

  async read({ cwd }: Session): Promise<readonly Note[]> {
    const memory = this.#memoryOf(cwd);
    const read = MEMORY_TARGETS.map(async (target) =>
      (await memory.entries(target)).map(({ text, write }) => {
        const isOurs = write !== undefined && write.by !== "user";
        const { sessionId: session, at = 0 } = write ?? {};
        return { id: `m-${factId("f", target, text).slice(2)}`, text, target, isOurs, session, at };
      }),
    );
    const notes = await Promise.all(read).catch((error: unknown) => {
      this.#ports.log(`learning: the memory cannot be read: ${messageOf(error)}`);
      return [];
    });
    return notes.flat();
  }

  /**
   * Removes notes of the agent that are lines of the prompt now, or were, in whatever words, those that the model names as
   * replaced by the user's words, and those that it names as rejected, if the agent gave a word of them up. A note of the
   * user's own stays. Resolves to sentences for the user.
   */
  async settle(
    session: Transcript,
    { admitted, refuted }: { readonly admitted: readonly Admitted[]; readonly refuted: readonly Refuted[] },
    facts: readonly Fact[],
  ): Promise<readonly string[]> {
    const said = admitted.filter(({ by }) => by === "user");
    const shown = facts.filter(isShown);
    const carried = said.filter((one) => shown.some((fact) => carries(fact, one, session)));
    const old = facts.filter((fact) => holdsIn(fact, [session.cwd]) && noLongerHolds(fact, facts));
    const lines: string[] = [];
    const replaced = said.flatMap(({ supersedes = [] }) =>
      supersedes.filter((name) => !/^[fp]-/.test(name)).slice(0, MAX_REPLACED),
    );
    for (const note of said.length + refuted.length === 0 ? [] : await this.read(session)) {
      const names = (name = ""): boolean => name === note.id || textKey(name) === textKey(note.text);
      const isRejected = isRefuted(note, refuted, session);
      const isOfSession = note.session === session.sessionId;
      const isOutdated = note.isOurs && !isOfSession && old.some((fact) => isFrom(fact, note));
      const isReplaced = isRejected || isOutdated || replaced.some((name) => names(name));
      const isLearnt = carried.some(
        (one) => names(one.text) || names(one.repeats) || (isOfSession && saysAll(`${one.text} ${one.quote}`, note)),
      );
      if (!isReplaced && !(isLearnt && note.isOurs)) continue;
      const isGone = note.isOurs && (await this.#remove(session, note));
      if (isReplaced) lines.push(fateOf(note, isRejected, isGone));
    }
    return lines;
  }

  async #remove({ cwd, sessionId }: Session, { id, text, target }: Note): Promise<boolean> {
    const change = { action: "remove", oldText: text } as const;
    return (await this.#memoryOf(cwd).change(target, change, { by: "learning", sessionId, callId: id })).ok;
  }

  #memoryOf(cwd: string): Memory {
    const { home, clock } = this.#ports;
    return new Memory({ folder: memoriesFolder(home), now: () => clock.now() }).forProject(cwd);
  }
}

/** True for a line with the text of the user's statement, or with its value from the same session. */
function carries(fact: Fact, { text, value }: Admitted, { sessionId }: Session): boolean {
  const isSeen = value !== undefined && fact.evidence.some((ref) => sessionOf(ref) === sessionId);
  return textKey(fact.text) === textKey(text) || (isSeen && textKey(fact.value ?? "") === textKey(value));
}

/** True for a note with the value and no other words than a line that ended later. */
function isFrom({ text, value = "", until = 0 }: Fact, note: Note): boolean {
  return until > note.at && value !== "" && holdsValue(note.text, value) && saysAll(text, note);
}

/** True for a text with all words of the note: without the note nothing is lost. */
function saysAll(text: string, note: Note): boolean {
  const words = new Set(contentWords(text));
  return contentWords(note.text).every((word) => words.has(word));
}

/** True when the agent's call before the user's words had a word of the note, which its last one does without. */
function isRefuted({ id, text }: Note, refuted: readonly Refuted[], session: Transcript): boolean {
  const quotes = refuted.flatMap((each) => (each.id === id ? [each.quote] : []));
  return quotes.some((words) => wordRow(text).some((value) => afterObjection(session, { words, value }) === "dropped"));
}

/** Sentence for the user. */
function fateOf({ text }: Note, isRejected: boolean, isGone: boolean): string {
  const shown = oneLine(text, SHOWN_CHARS);
  if (!isGone) return `Your own note says otherwise, and stays: ${shown}`;
  const what = isRejected ? "You rejected it, so it left the memory" : "Replaced in the memory";
  return `${what}: ${shown} (/memory undo restores it)`;
}
