// Episodes: facts of an ended session, computed from its journal, in a file that people edit.
import { mkdirSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { beforeEach, expect, test } from "vitest";
import { type Episode, episodeOf } from "../../../agent-core/learning/episode.ts";
import {
  episodePath,
  episodePaths,
  readBriefs,
  readEpisode,
  readEpisodes,
  writeEpisode,
} from "../../../agent-core/learning/episode-files.ts";
import { transcriptOf } from "../../../agent-core/learning/transcript.ts";
import type { JournalEntry } from "../../../agent-core/sessions/entry.ts";

const ID = "20261112_101500_0000abcd";
const BEGIN = Date.UTC(2026, 10, 12, 10, 15);

let home: string;
let at: number;
let position: number;

beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), "hermes-episodes-"));
  at = BEGIN;
  position = 0;
});

const next = (): number => (at += 1_000);
const head = (more: object = {}): JournalEntry => {
  return { type: "session", version: 1, id: ID, cwd: "/project/alpha", at: next(), ...more };
};
const user = (content: string): JournalEntry => {
  return { type: "message", position: position++, message: { role: "user", content }, at: next() };
};
const agent = (content: string): JournalEntry => {
  return { type: "message", position: position++, message: { role: "assistant", content }, at: next() };
};
const ran = (name: string, more: object = {}): JournalEntry => {
  const shown = { title: name, kind: "other", locations: [], diffs: [], ok: true, durationMs: 5 };
  return { type: "tool", callId: `c${at}`, name, ...shown, ...more, at: next() };
};
const ended = (stopReason = "end_turn"): JournalEntry => ({ type: "turn-end", stopReason, at: next() });

function episode(entries: readonly JournalEntry[]): Episode {
  const made = episodeOf(transcriptOf(ID, entries));
  if (made === undefined) throw new Error("The session has no message of the user.");
  return made;
}

const session = (): JournalEntry[] => [
  head(),
  user("Release the service"),
  ran("read_file", { locations: [{ path: "/project/alpha/CHANGES" }] }),
  ran("terminal", { kind: "execute", command: { text: "make release --token sk-abcdefghijkl", exit: 2 } }),
  ran("terminal", { kind: "execute", command: { text: "make release", exit: 0 } }),
  agent("Released as 1.4."),
  ended(),
  { type: "verdict", path: "/project/alpha/CHANGES", outcome: "retyped", lines: 3, at: next() },
  { type: "skill-use", name: "release", version: "2", how: "injected", at: next() },
  user("no, not like that: the tag has a v"),
  agent("Tagged v1.4."),
  ended(),
];

test("an episode holds tools, paths, commands, corrections, undone lines, skills and the score, without keys", () => {
  expect(episode(session())).toMatchObject({
    sessionId: ID,
    cwd: "/project/alpha",
    firstMessage: "Release the service",
    messages: 2,
    tools: ["read_file", "terminal", "terminal"],
    paths: ["/project/alpha/CHANGES"],
    commands: [
      { command: "make release --token [key]", exit: 2 },
      { command: "make release", exit: 0 },
    ],
    corrections: ["no, not like that: the tag has a v"],
    undone: [{ path: "/project/alpha/CHANGES", lines: 3, retyped: true }],
    skills: ["release@2"],
    stopReasons: ["end_turn", "end_turn"],
    score: 1 / 3,
    signals: 3,
    summary: "Asked: Release the service\n\nAnswered: Tagged v1.4.",
  });
});

test("an episode leaves out what was taken back, and returns it with the rewind that was taken back", () => {
  const entries = [head(), user("one"), ran("read_file"), user("two"), ran("terminal")];
  entries.push({ type: "rewind", keep: 1, at: next() });
  expect(episode(entries)).toMatchObject({ messages: 1, tools: ["read_file"] });
  entries.push({ type: "rewind", keep: 2, returned: [[1, 1]], at: next() });
  expect(episode(entries)).toMatchObject({ messages: 2, tools: ["read_file", "terminal"] });
});

test("an episode counts in a fork only what came after it", () => {
  const copied = [user("old request"), ran("terminal"), ended()];
  const fork = head({ parent: "20261111_101500_0000abcd", origin: "user" });
  expect(episodeOf(transcriptOf(ID, [fork, ...copied.slice(0, 0)]))).toBeUndefined();
  const own = [user("new request"), ran("patch"), ended()];
  const whole = transcriptOf(ID, [{ ...fork, at: own[0]?.at ?? 0 }, ...copied, ...own]);
  expect(whole.messages.map((said) => said.position)).toEqual([1]);
  expect(episodeOf(whole)).toMatchObject({ firstMessage: "new request", tools: ["patch"] });
});

test("an episode is read again as it was written, by the time of its end", async () => {
  const written = await writeEpisode(home, episode(session()));
  expect(await readEpisodes(home, { from: BEGIN, to: at })).toEqual([written]);
  expect(await readEpisodes(home, { from: at + 1, to: at + 2 })).toEqual([]);
  expect(episodePath(home, written)).toContain(join("learning", "episodes", "2026", "11", `${ID}.md`));
});

test("an episode keeps the summary that a person wrote, and the one of the model when the session grows", async () => {
  const facts = episode(session());
  await writeEpisode(home, facts, { summary: "Released alpha.", taskType: "release", outcome: "success" });
  expect(await writeEpisode(home, { ...facts, messages: 3 })).toMatchObject({
    summary: "Released alpha.",
    taskType: "release",
    messages: 3,
  });
  const path = episodePath(home, facts);
  writeFileSync(path, readFileSync(path, "utf8").replace("Released alpha.", "The release of Ann."));
  for (const summary of ["Another.", "One more."]) {
    expect(await writeEpisode(home, facts, { summary, taskType: "release", outcome: "" })).toMatchObject({
      summary: "The release of Ann.",
    });
  }
});

test("an episode reads front matter that a person formatted in another way, and skips what is no episode", async () => {
  const path = episodePath(home, { sessionId: ID });
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(
    path,
    `---\nsession: ${ID}\nbegun: 2026-11-12T10:15:00Z\nended: 2026-11-12T10:20:00Z\ntools:\n  - patch\nscore: high\n---\nBy hand.\n`,
  );
  writeFileSync(path.replace("abcd", "abce"), "no episode");
  expect(await readEpisodes(home, { from: 0, to: Date.UTC(2026, 11) })).toMatchObject([
    { sessionId: ID, tools: ["patch"], score: null, summary: "By hand." },
  ]);
});

test("the brief of an episode says the same as the whole one, also after a person edited the file", async () => {
  const made = { ...episode(session()), firstMessage: 'Deploy "alpha" \\ now', taskType: "deploy" };
  await writeEpisode(home, made);
  const path = episodePath(home, made);
  const text = readFileSync(path, "utf8");
  const yaml = text.replace(/^task_type: .*$/m, "task_type: ship it # by hand");
  for (const form of [text, text.replaceAll("\n", "\r\n"), yaml]) {
    writeFileSync(path, form);
    const { sessionId, endedAt, cwd, taskType, firstMessage, summary } = (await readEpisode(path)) ?? {};
    const [brief] = await readBriefs(await episodePaths(home));
    expect(sessionId).toBe(ID);
    expect(brief).toMatchObject({ sessionId, endedAt, cwd, taskType, firstMessage, summary });
  }
  writeFileSync(path, "no episode");
  expect(await readBriefs([path, join(home, "missing.md")])).toEqual([]);
});
