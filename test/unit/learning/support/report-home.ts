import { mkdirSync, mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { sessionIndexFile, sessionsFolder } from "../../../../agent-core/config/home.ts";
import { LearningLedger } from "../../../../agent-core/learning/learning-ledger.ts";
import type { LoopPorts } from "../../../../agent-core/learning/loop.ts";
import type { JournalEntry } from "../../../../agent-core/sessions/entry.ts";
import { SessionIndex } from "../../../../agent-core/sessions/index/session-index.ts";
import { ManualClock } from "../../../support/manual-clock.ts";

const MS_PER_DAY = 86_400_000;
/** A Monday at noon. */
export const NOON = new Date(2026, 10, 23, 12).getTime();

/** One session of a day, as a journal has it. */
export type Work = {
  readonly daysAgo: number;
  readonly prompts?: readonly string[];
  /** Calls of each tool: all, and those that fail. */
  readonly calls?: Readonly<Record<string, readonly [number, number]>>;
  readonly stopReason?: string;
  readonly origin?: "user" | "delegation" | "cron" | "learning";
  readonly entries?: readonly object[];
};

export class ReportHome {
  readonly home = mkdtempSync(join(tmpdir(), "hermes-report-"));
  readonly clock = new ManualClock(NOON);
  readonly index: SessionIndex;
  readonly notices: string[] = [];
  #sessions = 0;

  constructor() {
    mkdirSync(sessionsFolder(this.home), { recursive: true });
    this.index = new SessionIndex({
      journals: sessionsFolder(this.home),
      file: sessionIndexFile(this.home),
      log: () => undefined,
    });
  }

  get ports(): LoopPorts {
    return {
      home: this.home,
      clock: this.clock,
      index: this.index,
      ledger: new LearningLedger(this.home, this.clock),
      model: { isAvailable: async () => false, ask: async () => ({ ok: false, problem: "no model" }) },
      settings: () => SETTINGS,
      isOpen: () => false,
      notify: (message) => void (message !== undefined && this.notices.push(message)),
      log: () => undefined,
    };
  }

  /** Writes the journal of a session and returns its id. */
  add(work: Work): string {
    this.#sessions += 1;
    const id = `20261101_120000_${this.#sessions.toString(16).padStart(8, "0")}`;
    const at = this.clock.now() - work.daysAgo * MS_PER_DAY - 3_600_000 + this.#sessions;
    const lines = entriesOf(id, at, work).map((entry) => `${JSON.stringify(entry)}\n`);
    writeFileSync(join(sessionsFolder(this.home), `${id}.jsonl`), lines.join(""));
    return id;
  }
}

const SETTINGS = {
  enabled: true,
  consolidation: true,
  distillation: true,
  report: true,
  use: true,
  dailyTokens: 1,
  dailyUsd: 1,
  idleSeconds: 0,
  sessionIdleMinutes: 0,
};

function entriesOf(id: string, at: number, work: Work): readonly JournalEntry[] {
  const { prompts = ["Fix the bug in src/a.ts"], calls = {}, stopReason = "end_turn", origin = "user" } = work;
  let call = 0;
  const tool = (name: string, ok: boolean): object => {
    call += 1;
    const shown = { title: name, kind: "other", locations: [], diffs: [], durationMs: 1 };
    return { type: "tool", callId: `${id}-${call}`, name, ok, ...shown };
  };
  const made: object[] = [
    { type: "session", version: 1, id, cwd: "/p", origin },
    ...prompts.flatMap((content) => [
      { type: "message", message: { role: "user", content } },
      { type: "message", message: { role: "assistant", content: "Done." } },
    ]),
    ...Object.entries(calls).flatMap(([name, [all, failed]]) =>
      Array.from({ length: all }, (_, index) => tool(name, index >= failed)),
    ),
    ...(work.entries ?? []),
    { type: "usage", model: "local:m", inputTokens: 900, outputTokens: 100, cachedInputTokens: 0, reasoningTokens: 0 },
    { type: "turn-end", stopReason, firstTokenMs: 500 },
  ];
  return made.map((entry, index) => ({ ...entry, at: at + index }) as JournalEntry); // written as a journal has it
}
