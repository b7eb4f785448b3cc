import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { SessionIndex } from "../../../agent-core/sessions/index/session-index.ts";
import { Journal } from "../../../agent-core/sessions/journal.ts";
import { tool } from "../../../agent-core/tools/session-search.ts";
import { toolBench } from "../../support/tool-context.ts";

const OLD = "20261119_080000_0000000a";
let journals: string;
let sessions: SessionIndex;

beforeEach(() => {
  journals = mkdtempSync(join(tmpdir(), "hermes-search-"));
  sessions = new SessionIndex({ journals, file: join(journals, "index.sqlite"), log: () => undefined });
});

afterEach(() => sessions.close());

function store(id: string, texts: readonly string[], title?: string): void {
  const path = join(journals, `${id}.jsonl`);
  const now = (): number => Date.UTC(2026, 10, 19, 8, 30);
  const journal = new Journal({ path, sessionId: id, cwd: "/project", now, onFailure: expect.unreachable });
  for (const content of texts) journal.append({ type: "message", message: { role: "user", content } });
  if (title !== undefined) journal.append({ type: "title", title });
  journal.close();
}

async function search(input: object) {
  const bench = toolBench();
  const staged = await (async () => {
    const preparation = tool.prepare(input, bench.folder);
    if (!preparation.ok) throw new Error(preparation.text);
    return preparation.call.stage({ ...bench.context, sessions });
  })();
  if (!staged.ok) throw new Error(staged.text);
  return staged.run();
}

const numbered = (count: number): string[] => Array.from({ length: count }, (_, at) => `message ${at}`);

test("without arguments: the latest sessions, without the own one", async () => {
  expect((await search({})).text).toBe("There is no earlier session.");
  store(OLD, ["one", "two"], "Mend the parser");
  store(toolBench().context.sessionId, ["own"]);
  expect((await search({})).text).toBe(
    `session ${OLD} · 2026-11-19 08:30 UTC · Mend the parser · /project · 2 messages`,
  );
});

test("with a query: the hit among the messages around it", async () => {
  store(OLD, ["a", "b", "the needle is here", "d", "e"]);
  const { text } = await search({ query: "needle", window: 1 });
  expect(text.split("\n").slice(1)).toEqual(["  [1] user: b", "→ [2] user: the needle is here", "  [3] user: d"]);
  expect(await search({ query: "absent" })).toEqual({ ok: true, text: 'No earlier session mentions "absent".' });
});

test("with an id and a place: scrolling, and where a session ends", async () => {
  store(OLD, numbered(60));
  const { text } = await search({ session_id: OLD, around_message_id: 30, window: 1 });
  expect(text).toContain("  [29] user: message 29\n→ [30] user: message 30\n  [31] user: message 31");
  expect(await search({ session_id: OLD, around_message_id: 99 })).toEqual({
    ok: false,
    text: `session_search: the messages of ${OLD} go from 0 to 59.`,
  });
});

test("with an id alone: the whole session, of a long one its beginning and end", async () => {
  store(OLD, numbered(60));
  const { text } = await search({ session_id: OLD });
  expect(text).toContain("[19] user: message 19\n[30 messages left out; to read them, use around_message_id]\n  [50]");
  expect(text.endsWith("[59] user: message 59")).toBe(true);
  expect((await search({ session_id: "20261119_080000_0000000b" })).ok).toBe(false);
});
