/** `hermes sessions`: stored sessions. */
import { writeFile } from "node:fs/promises";
import { resolve } from "node:path";
import {
  type ClientContext,
  type ListSessionsResponse,
  methods,
  type SessionInfo,
} from "@zed-industries/agent-client-protocol";
import { UsageError } from "../../agent-core/platform/errors.ts";
import { call } from "../../agent-core/protocol/method.ts";
import { HermesListedSession, sessionMethods, unstableMethods } from "../../agent-core/protocol/sessions.ts";
import { withAgent } from "../agent-requests.ts";
import { findSession } from "../chat/find-session.ts";
import { agrees, say } from "../output.ts";
import { CWD, EXIT, type Option, subcommand, type Values, YES } from "../subcommand.ts";

const operands = "SESSION";
const needs = "a session: an id, last, or words of a title; hermes sessions list shows them";

const options = {
  cwd: CWD,
  all: { kind: "flag", verbs: ["list", "search"], summary: "of all folders; default: of DIR" },
  limit: { kind: "number", value: "N", default: 20, min: 1, verbs: ["list", "search"], summary: "number of lines" },
  json: { kind: "flag", verbs: ["list", "search"], summary: "print one JSON object a line" },
  format: {
    kind: "text",
    choices: ["markdown", "json"],
    default: "markdown",
    verbs: ["export"],
    summary: "format of the export",
  },
  output: { kind: "text", short: "o", value: "FILE", verbs: ["export"], summary: "default: standard output" },
  "older-than": { kind: "text", value: "30d", verbs: ["prune"], summary: "days (d) or weeks (w) without a change" },
  yes: { ...YES, verbs: ["delete", "prune"], summary: "delete without a question" },
} as const satisfies Record<string, Option>;

const verbs = {
  list: { summary: "list the sessions, newest first" },
  search: { summary: "search in titles and messages", operands: "WORDS…", needs: "words to search for" },
  show: { summary: "print a conversation", operands, needs },
  export: { summary: "write a conversation to a file", operands, needs },
  rename: { summary: "give a session another title", operands: "SESSION TITLE…", needs },
  delete: { summary: "delete a session", operands, needs },
  prune: { summary: "delete old sessions that are not pinned" },
  import: { summary: "add the sessions of an original Hermes home", operands: "[FOLDER]" },
} as const;

export const command = subcommand({
  verbs,
  options,
  examples: [
    ["sessions search flaky test --all", "find the sessions about it, of every folder"],
    ["sessions export last -o talk.md", "write the latest session of this folder to a file"],
    ["sessions prune --older-than 90d", "delete what has not changed for 90 days"],
  ],
  run: ({ verb, operands: words, values }) => withAgent((agent) => works[verb](agent, words, values)),
});

const works: Readonly<
  Record<
    keyof typeof verbs,
    (agent: ClientContext, words: readonly string[], values: Values<typeof options>) => Promise<number>
  >
> = {
  async list(agent, _, { all, cwd, limit, json }) {
    const sessions = await listed(agent, all ? undefined : cwd, limit);
    for (const session of sessions) say(json ? JSON.stringify(session) : line(session, all));
    if (sessions.length === 0 && !json) say(all ? "There are no sessions." : `There are no sessions of ${cwd}.`);
    return EXIT.done;
  },
  async search(agent, words, { all, cwd, limit, json }) {
    const query = words.join(" ");
    const place = all ? {} : { cwd };
    const { hits } = await call(agent, sessionMethods.search, { query, limit, ...place });
    for (const hit of hits) {
      const snippet = hit.snippet.replaceAll(/\s+/g, " ").trim();
      say(json ? JSON.stringify(hit) : line(hit, all));
      if (!json && snippet !== "") say(`  ${snippet}`);
    }
    if (hits.length === 0 && !json)
      say(`Nothing has ${JSON.stringify(query)}${all ? "" : " here; --all searches everywhere"}.`);
    return hits.length > 0 ? EXIT.done : EXIT.failed;
  },
  show: (agent, words, values) => works.export(agent, words, values),
  async export(agent, words, { cwd, format, output }) {
    const sessionId = await findSession(agent, words.join(" "), cwd);
    const chosen = format === "json" ? "json" : "markdown";
    const { text } = await call(agent, sessionMethods.export, { sessionId, format: chosen });
    if (output === undefined) say(text);
    else await writeFile(resolve(output), text);
    return EXIT.done;
  },
  async rename(agent, [which = "", ...title], { cwd }) {
    const sessionId = await findSession(agent, which, cwd);
    await call(agent, sessionMethods.rename, { sessionId, title: title.join(" ") });
    return EXIT.done;
  },
  async delete(agent, words, { cwd, yes }) {
    const sessionId = await findSession(agent, words.join(" "), cwd);
    if (!yes && !(await agrees(`Delete the session ${sessionId}?`))) return EXIT.failed;
    await agent.request(methods.agent.session.delete, { sessionId });
    return EXIT.done;
  },
  async prune(agent, _, { yes, "older-than": age }) {
    const before = Date.now() - ageOf(age);
    const old = (await listed(agent, undefined, Number.POSITIVE_INFINITY)).filter(
      ({ updatedAt, _meta }) => Date.parse(updatedAt ?? "") < before && factsOf(_meta).shelf !== "pinned",
    );
    if (old.length === 0) return done("No session is that old.");
    if (!yes && !(await agrees(`Delete ${old.length} sessions?`))) return EXIT.failed;
    for (const { sessionId } of old) await agent.request(methods.agent.session.delete, { sessionId });
    return done(`Deleted ${old.length} sessions.`);
  },
  async import(agent, [folder]) {
    const path = folder === undefined ? {} : { path: resolve(folder) };
    return done((await call(agent, sessionMethods.import, path)).summary);
  },
};

function done(text: string): number {
  say(text);
  return EXIT.done;
}

async function listed(agent: ClientContext, cwd: string | undefined, limit: number): Promise<readonly SessionInfo[]> {
  const found: SessionInfo[] = [];
  let cursor: string | null | undefined;
  do {
    const page: ListSessionsResponse = await call(agent, unstableMethods.list, {
      archived: "include",
      ...(cwd !== undefined && { cwd }),
      ...(cursor != null && { cursor }),
    });
    found.push(...page.sessions);
    cursor = page.nextCursor;
  } while (cursor != null && found.length < limit);
  return found.slice(0, limit);
}

function factsOf(meta: SessionInfo["_meta"]): Partial<HermesListedSession> {
  return HermesListedSession.safeParse(meta?.["hermes"]).data ?? {};
}

function line({ sessionId, title, cwd, updatedAt, _meta }: SessionInfo, withFolder: boolean): string {
  const when = updatedAt == null ? "" : updatedAt.slice(0, 16).replace("T", " ");
  const { state, branch } = factsOf(_meta);
  const facts = [state, branch, withFolder ? cwd : undefined].filter((fact) => fact !== undefined);
  return [sessionId, when, title ?? "Untitled", ...facts].join("  ");
}

/** Milliseconds. Throws a UsageError for another form. */
function ageOf(age: string | undefined): number {
  const [, count, unit] = /^(\d+)([dw])$/.exec(age ?? "") ?? [];
  if (count === undefined) throw new UsageError("--older-than needs an age, such as 30d or 8w");
  return Number(count) * (unit === "w" ? 7 : 1) * 86_400_000;
}
