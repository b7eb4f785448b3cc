/**
 * Outcome of a conversation for every fault of its provider: the same cases for each wire over HTTP, through the whole
 * agent with real files and commands.
 */
import { existsSync, mkdtempSync, readFileSync, realpathSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { AIAgent, type AIAgentOptions, type ConversationResult } from "../../agent-core/index.ts";
import type { ApiMode } from "../../agent-core/providers/wire/wire.ts";
import { ManualClock } from "../support/manual-clock.ts";
import { type ModelServer, startModelServer } from "../support/model-server/model-server.ts";
import { type FaultCase, type FaultFacts, faultCases } from "./fault-cases.ts";

const KEY = "zq81-very-secret-value-of-the-test";

type Shown = { readonly notices: string[]; text: string; readonly everything: unknown[] };

export function describeFaults(facts: FaultFacts): void {
  let server: ModelServer;
  let cwd: string;
  beforeEach(async () => {
    server = await startModelServer();
    cwd = realpathSync(mkdtempSync(join(tmpdir(), "hermes-faults-")));
    writeFileSync(join(cwd, "a.txt"), "the text of a\n");
  });
  afterEach(() => server.stop());

  describe(`${facts.mode}: a conversation`, () => {
    test.each(faultCases(facts))("$name", async (given) => {
      const waits: number[] = [];
      const shown: Shown = { notices: [], text: "", everything: [] };
      const agent = new AIAgent(optionsFor(given, { server, cwd, mode: facts.mode, waits, shown }));
      server.script(...given.answers);
      const results = await converse(agent, given);
      expectOutcome(given, results, shown);
      expect(server.requests.length, "requests").toBe(given.requests ?? given.answers.length);
      if (given.waits !== undefined) expect(waits.map(Math.round), "waits").toEqual(given.waits);
      const ran = join(cwd, "ran.txt");
      expect(existsSync(ran) ? readFileSync(ran, "utf8").trim().split("\n") : [], "commands that ran").toEqual(
        given.ran ?? [],
      );
      given.check?.({ bodies: server.requests.map(({ body }) => body), notices: shown.notices, results });
      expectValidHistory(results);
      expect(JSON.stringify([shown.everything, results]), "the key appears nowhere").not.toContain(KEY);
      expect(JSON.stringify(server.requests.map(({ body }) => body))).not.toContain(KEY);
    });
  });
}

type Setting = {
  readonly server: ModelServer;
  readonly cwd: string;
  readonly mode: ApiMode;
  readonly waits: number[];
  readonly shown: Shown;
};

function optionsFor(given: FaultCase, { server, cwd, mode, waits, shown }: Setting): AIAgentOptions {
  const clock = new FastClock(waits);
  server.onSilence((closed) => clock.runUntil(closed));
  const remember = (event: unknown): void => void shown.everything.push(event);
  return {
    provider: "custom",
    baseUrl: server.baseUrl,
    model: "test-model",
    apiMode: mode,
    apiKey: KEY,
    cwd,
    home: join(cwd, ".home"),
    environment: {},
    approvalMode: () => "auto",
    clock,
    onDefect: (message) => {
      throw new Error(message);
    },
    callbacks: {
      streamDelta: ({ text }) => {
        shown.text += text;
      },
      status: (event) => {
        shown.notices.push(event.message);
        remember(event);
      },
      toolProgress: remember,
      step: remember,
    },
    ...given.options?.(server),
  };
}

/** Clock that notes waits instead of waiting, and runs while the model server is silent. */
class FastClock extends ManualClock {
  readonly #waits: number[];

  constructor(waits: number[]) {
    super();
    this.#waits = waits;
  }

  override async wait(ms: number): Promise<void> {
    this.#waits.push(ms);
  }

  /** Each second takes one turn of the event loop, so everything that was sent arrives before the idle timeout. */
  async runUntil(over: Promise<void>): Promise<void> {
    let isOver = false as boolean;
    void over.then(() => {
      isOver = true;
    });
    while (!isOver) await this.advance(1_000);
  }
}

async function converse(agent: AIAgent, given: FaultCase): Promise<readonly ConversationResult[]> {
  const results: ConversationResult[] = [];
  for (const userMessage of given.prompts ?? ["go"]) results.push(await agent.runConversation({ userMessage }));
  return results;
}

function expectOutcome(given: FaultCase, results: readonly ConversationResult[], shown: Shown): void {
  const last = results.at(-1);
  if (given.fault !== undefined) {
    expect(last?.stopReason).toBe("error");
    expect(last?.fault?.kind).toBe(given.fault);
    expect(last?.fault?.message).not.toContain("\n");
    return;
  }
  expect(last?.fault?.message).toBeUndefined();
  expect(last?.stopReason).toBe(given.stopReason ?? "end_turn");
  expect(last?.finalResponse).toBe(given.text);
  if (given.shown !== null) expect(shown.text, "shown text").toBe(given.shown ?? given.text);
}

/** Each call has one result directly after it, roles alternate, and no answer is empty. */
function expectValidHistory(results: readonly ConversationResult[]): void {
  const messages = results.at(-1)?.messages ?? [];
  for (const [index, message] of messages.entries()) {
    if (message.role === "assistant") {
      expect(message.content !== null || (message.tool_calls?.length ?? 0) > 0, "no empty answer").toBe(true);
      const ids = (message.tool_calls ?? []).map(({ id }) => id);
      const following = messages.slice(index + 1, index + 1 + ids.length);
      expect(following.map((next) => (next.role === "tool" ? next.tool_call_id : next.role))).toEqual(ids);
    }
    if (message.role !== "tool")
      expect(messages[index + 1]?.role, "in turn").not.toBe(message.role === "user" ? "user" : message.role);
  }
}
