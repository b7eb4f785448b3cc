import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { sessionsFolder } from "../../../../agent-core/config/home.ts";
import { SessionEpisodes } from "../../../../agent-core/learning/distillation/session-episodes.ts";
import type { LoopPorts } from "../../../../agent-core/learning/loop.ts";
import { ManualClock } from "../../../support/manual-clock.ts";

const NOW = Date.UTC(2026, 10, 20, 12);

test("a session that was deleted is no episode any more", async () => {
  const home = mkdtempSync(join(tmpdir(), "hermes-episodes-"));
  const id = "20261119_100000_00000001";
  const at = NOW - 24 * 60 * 60 * 1_000;
  const entries = [
    { type: "session", version: 1, id, cwd: "/project/alpha", at },
    { type: "message", position: 0, message: { role: "user", content: "Run the tests" }, at },
    { type: "message", position: 1, message: { role: "assistant", content: "Done." }, at },
    { type: "turn-end", stopReason: "end_turn", at },
  ];
  mkdirSync(sessionsFolder(home), { recursive: true });
  const journal = join(sessionsFolder(home), `${id}.jsonl`);
  writeFileSync(journal, entries.map((entry) => `${JSON.stringify(entry)}\n`).join(""));
  const settings = () => ({ consolidation: false, sessionIdleMinutes: 30 });
  const episodes = new SessionEpisodes({ home, clock: new ManualClock(NOW), settings } as unknown as LoopPorts);
  expect((await episodes.read(7)).map(({ sessionId }) => sessionId)).toEqual([id]);
  rmSync(journal);
  expect(await episodes.read(7)).toEqual([]);
});
