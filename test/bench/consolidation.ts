/** Own time of the consolidation of one session, and of a new session in a home that learnt for months. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { sessionsFolder } from "../../agent-core/config/home.ts";
import { consolidation } from "../../agent-core/learning/consolidation/consolidation.ts";
import { LearningLedger } from "../../agent-core/learning/learning-ledger.ts";
import { LearntContext } from "../../agent-core/learning/learnt-context.ts";
import type { LoopPorts } from "../../agent-core/learning/loop.ts";
import { systemClock } from "../../agent-core/platform/clock.ts";
import { newSessionId } from "../../agent-core/sessions/session-files.ts";
import { median, type Row } from "./measuring.ts";

const TURNS = 200;
const SESSIONS = 17;
/** Pieces of one session: by code, and with the answer of the model. */
const PIECES = 2;
const { signal } = new AbortController();

export async function measureConsolidation(): Promise<readonly Row[]> {
  const home = mkdtempSync(join(tmpdir(), "hermes-bench-consolidation-"));
  try {
    mkdirSync(sessionsFolder(home), { recursive: true });
    for (let at = 0; at < SESSIONS; at += 1) writeSession(home, at);
    const { work } = await consolidation(portsOf(home));
    const times: number[] = [];
    const blocks: number[] = [];
    for (let more = true; more; ) {
      // Watching for blocks takes processor time itself, so a session is either watched or timed.
      const isWatched = Math.floor((times.length + blocks.length) / PIECES) % 2 === 1;
      const start = processorMs(); // the disk's time is not ours
      const block = isWatched ? longestBlock() : undefined;
      more = await work.doNext(signal);
      const longest = block?.end();
      if (!more) continue;
      if (longest === undefined) times.push(processorMs() - start);
      else blocks.push(longest);
    }
    const sessions = times.filter((_, at) => at % PIECES === 0).map((time, at) => time + (times[at * PIECES + 1] ?? 0));
    const start = performance.now();
    const learnt = new LearntContext({ home, sessionId: "bench", roots: ["/project/alpha"], clock: systemClock });
    await Promise.all([learnt.promptText(), learnt.attach("Deploy the importer of alpha again")]);
    const context = performance.now() - start;
    return [
      { what: "consolidating a session of 200 turns", ours: median(sessions), target: 50, unit: "ms" },
      { what: "delay of a turn that begins during a consolidation", ours: median(blocks), target: 10, unit: "ms" },
      { what: "learnt text for a new session", ours: context, target: 20, unit: "ms" },
    ];
  } finally {
    rmSync(home, { recursive: true, force: true });
  }
}

/** Processor time of this process. Milliseconds. */
function processorMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1_000;
}

/** Measures the longest time in which nothing else can run: a turn that begins waits for its end. Processor time, ms. */
function longestBlock(): { end(): number } {
  let [last, longest, isOver] = [processorMs(), 0, false];
  const tick = (): void => {
    const now = processorMs();
    longest = Math.max(longest, now - last);
    last = now;
    if (!isOver) setImmediate(tick);
  };
  setImmediate(tick);
  return {
    end() {
      isOver = true;
      return Math.max(longest, processorMs() - last);
    },
  };
}

function portsOf(home: string): LoopPorts {
  const text = JSON.stringify({
    episode: { summary: "The importer was deployed to `eu-4`.", task_type: "deploy", outcome: "success" },
    facts: [{ subject: "importer", text: "The importer runs in `eu-4`.", quote: "importer runs in eu-4", position: 3 }],
  });
  return {
    home,
    clock: systemClock,
    ledger: new LearningLedger(home, systemClock),
    model: { isAvailable: () => Promise.resolve(true), ask: () => Promise.resolve({ ok: true, text }) },
    index: undefined as never,
    settings: () => ({ sessionIdleMinutes: 10 }) as ReturnType<LoopPorts["settings"]>,
    isOpen: () => false,
    notify: () => undefined,
    log: () => undefined,
  };
}

function writeSession(home: string, number: number): void {
  const begun = Date.now() - (number + 1) * 3_600_000;
  const id = newSessionId(begun);
  const entries: object[] = [{ type: "session", version: 1, id, cwd: "/project/alpha", at: begun }];
  let position = 0;
  const say = (message: object): void => {
    entries.push({ type: "message", position, message, at: begun + position });
    position += 1;
  };
  for (let turn = 0; turn < TURNS; turn += 1) {
    say({ role: "user", content: `Deploy part ${turn} of the importer. Always run \`check-${number}\` before it.` });
    const call = { id: `c${turn}`, type: "function", function: { name: "terminal", arguments: '{"command":"make"}' } };
    say({ role: "assistant", content: null, tool_calls: [call] });
    say({ role: "tool", tool_call_id: call.id, content: `importer runs in eu-4\n${"output ".repeat(300)}` });
    say({ role: "assistant", content: `Part ${turn} is deployed. ${"More words. ".repeat(40)}` });
    entries.push({ type: "turn-end", stopReason: "end_turn", at: begun + position });
  }
  const lines = entries.map((entry) => `${JSON.stringify(entry)}\n`).join("");
  writeFileSync(join(sessionsFolder(home), `${id}.jsonl`), lines);
}
