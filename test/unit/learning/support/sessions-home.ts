/** A home with sessions, and the loop that learns from them with a scripted model. */
import { appendFileSync, mkdirSync, mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { sessionsFolder } from "../../../../agent-core/config/home.ts";
import { consolidation } from "../../../../agent-core/learning/consolidation/consolidation.ts";
import { LearningLedger } from "../../../../agent-core/learning/learning-ledger.ts";
import type { Loop, LoopPorts } from "../../../../agent-core/learning/loop.ts";
import { ManualClock } from "../../../support/manual-clock.ts";

export const NOW = Date.UTC(2026, 10, 20, 12);

/** Answer of the model about a session's transcript; undefined: no model. */
export type ModelAnswer = ((transcript: string) => object) | undefined;

/** Id of a session of this day after 10 November. */
export function idOf(number: number): string {
  return `202611${String(10 + number)}_100000_${String(number).padStart(8, "0")}`;
}

export class SessionsHome {
  readonly folder = mkdtempSync(join(tmpdir(), "hermes-learnt-"));
  readonly clock = new ManualClock(NOW);
  readonly notices: (string | undefined)[] = [];
  readonly #answer: () => ModelAnswer;

  constructor(answer: () => ModelAnswer) {
    this.#answer = answer;
  }

  /** Writes a session of these messages: the user's and the agent's in turn. */
  session(number: number, texts: readonly string[], cwd = "/project/alpha", id = idOf(number)): string {
    const at = Date.UTC(2026, 10, 10 + number, 10);
    mkdirSync(sessionsFolder(this.folder), { recursive: true });
    this.appended(id, { type: "session", version: 1, id, cwd, at });
    for (const [position, content] of texts.entries()) {
      const role = position % 2 === 0 ? "user" : "assistant";
      this.appended(id, { type: "message", position, message: { role, content }, at: at + position * 1_000 });
    }
    this.appended(id, { type: "turn-end", stopReason: "end_turn", at: at + 60_000 });
    return id;
  }

  appended(id: string, ...entries: readonly object[]): void {
    const lines = entries.map((entry) => `${JSON.stringify({ at: NOW, ...entry })}\n`);
    appendFileSync(join(sessionsFolder(this.folder), `${id}.jsonl`), lines.join(""));
  }

  /** Appends a call of the agent with its result. */
  called(id: string, name: string, input: object): void {
    const call = { id: "c", type: "function", function: { name, arguments: JSON.stringify(input) } };
    this.appended(id, { type: "message", message: { role: "assistant", content: "", tool_calls: [call] } });
    this.appended(id, { type: "message", message: { role: "tool", tool_call_id: "c", content: "done" } });
  }

  loop(): Promise<Loop> {
    const { clock, folder: home } = this;
    const ports = {
      home,
      clock,
      ledger: new LearningLedger(home, clock),
      isOpen: () => false,
      log: () => undefined,
      settings: () => ({ sessionIdleMinutes: 10, dailyTokens: 1_000 }),
      notify: (message: string | undefined) => this.notices.push(message),
      model: {
        isAvailable: () => Promise.resolve(this.#answer() !== undefined),
        ask: (_: string, messages: readonly { readonly content: unknown }[]) => {
          const text = JSON.stringify(this.#answer()?.(String(messages[1]?.content)));
          return Promise.resolve({ ok: true, text });
        },
      },
    };
    return consolidation(ports as unknown as LoopPorts);
  }

  async runAll(): Promise<void> {
    const { work } = await this.loop();
    while (await work.doNext(new AbortController().signal));
  }
}
