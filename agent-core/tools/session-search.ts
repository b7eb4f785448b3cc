import * as z from "zod";
import type { Answer, Building, QuestionArguments, QuestionName } from "../sessions/index/index-messages.ts";
import type { IndexedMessage, SessionSummary } from "../sessions/index/queries.ts";
import { stillBuilding } from "../sessions/index/session-index.ts";
import { shortTitle } from "./shown-path.ts";
import { defineTool, type ToolContext, type ToolResult } from "./tool.ts";

const DEFAULT_LIMIT = 3;
const MAX_LIMIT = 10;
const DEFAULT_WINDOW = 5;
const MAX_WINDOW = 20;
/** A session with more messages than these together is shown by its first and last ones. */
const FIRST_MESSAGES = 20;
const LAST_MESSAGES = 10;
/** Longer messages are cut. Characters. */
const MAX_MESSAGE_CHARS = 1_500;

const role = z.enum(["user", "assistant", "tool"]);

const input = z.object({
  query: z.string().optional().describe('Words that must all occur; supports OR, "a phrase" and prefix*'),
  limit: z.number().int().min(1).max(MAX_LIMIT).default(DEFAULT_LIMIT).describe("Sessions to return"),
  role_filter: z.array(role).optional().describe("query: only messages of these roles"),
  sort: z.enum(["newest", "oldest"]).optional().describe("query: order by time instead of rank"),
  session_id: z.string().optional().describe("Read this session"),
  around_message_id: z.number().int().min(0).optional().describe("session_id: the messages around this one"),
  window: z.number().int().min(1).max(MAX_WINDOW).default(DEFAULT_WINDOW).describe("Messages before and after"),
});

type Input = z.infer<typeof input>;

export const tool = defineTool({
  name: "session_search",
  toolset: "session_search",
  kind: "search",
  readOnly: true,
  need: "rare",
  largeOutput: true,
  description:
    "Search earlier conversations with the user. With query: the best matches, and the messages around the first one. With session_id: that session, or a part of it. With neither: the latest sessions.",
  input,
  title: ({ query, session_id: id }) => {
    if (id !== undefined) return shortTitle(`Read session ${id}`);
    return shortTitle(query === undefined ? "List recent sessions" : `Search sessions: ${query}`);
  },
  effect: () => ({ kind: "none" }),
  run,
});

async function run(request: Input, { sessions, sessionId }: ToolContext): Promise<ToolResult> {
  if (sessions === undefined) return { ok: false, text: "session_search: sessions are not stored here." };
  const builds: Building[] = [];
  const ask: Ask = async (name, ...args) => {
    const { value, building } = await sessions.ask(name, ...args);
    if (building !== undefined) builds.push(building);
    return value;
  };
  const result = await answer(ask, request, sessionId);
  const [building] = builds;
  return building === undefined ? result : { ...result, text: `${result.text}\n\n${stillBuilding(building)}` };
}

/** Query of the index, without its state. */
type Ask = <Name extends QuestionName>(name: Name, ...args: QuestionArguments<Name>) => Promise<Answer<Name>["value"]>;

async function answer(ask: Ask, request: Input, own: string): Promise<ToolResult> {
  const { session_id: id, query = "", limit } = request;
  if (id !== undefined) return read(ask, id, request, own);
  if (query.trim() !== "") return search(ask, query, request, own);
  const recent = await ask("list", { limit, except: own });
  return { ok: true, text: recent.length === 0 ? "There is no earlier session." : recent.map(headline).join("\n") };
}

async function search(ask: Ask, query: string, request: Input, own: string): Promise<ToolResult> {
  const { limit, role_filter: roles, sort, window } = request;
  const hits = await ask("search", { query, limit, except: own, roles, sort });
  if (hits.length === 0) return { ok: true, text: `No earlier session mentions ${JSON.stringify(query)}.` };
  const blocks = hits.map(async (hit, at) => {
    const { sessionId, position } = hit;
    const around = at === 0 ? await ask("messages", sessionId, position - window, position + window) : [hit];
    const session = await ask("find", sessionId);
    return [session === undefined ? sessionId : headline(session), ...around.map((it) => line(it, position))];
  });
  return { ok: true, text: (await Promise.all(blocks)).map((block) => block.join("\n")).join("\n\n") };
}

async function read(ask: Ask, id: string, request: Input, own: string): Promise<ToolResult> {
  const { around_message_id: around, window } = request;
  const session = id === own ? undefined : await ask("find", id);
  if (session === undefined) {
    const why = id === own ? "this is the session you are in" : "there is none";
    return { ok: false, text: `session_search: no earlier session ${JSON.stringify(id)}: ${why}. Search for its id.` };
  }
  const { nextPosition: count } = session;
  if (around !== undefined) {
    const part = await ask("messages", id, around - window, around + window);
    if (part.length > 0) return { ok: true, text: shown(session, part, around) };
    return { ok: false, text: `session_search: the messages of ${id} go from 0 to ${count - 1}.` };
  }
  if (count <= FIRST_MESSAGES + LAST_MESSAGES) {
    return { ok: true, text: shown(session, await ask("messages", id, 0, count)) };
  }
  const first = shown(session, await ask("messages", id, 0, FIRST_MESSAGES - 1));
  const last = (await ask("messages", id, count - LAST_MESSAGES, count)).map((message) => line(message));
  const gap = `[${count - FIRST_MESSAGES - LAST_MESSAGES} messages left out; to read them, use around_message_id]`;
  return { ok: true, text: [first, gap, ...last].join("\n") };
}

function shown(session: SessionSummary, messages: readonly IndexedMessage[], marked?: number): string {
  return [headline(session), ...messages.map((message) => line(message, marked))].join("\n");
}

function headline({ id, title, cwd, updatedAt, nextPosition }: SessionSummary): string {
  const day = new Date(updatedAt).toISOString().slice(0, 16).replace("T", " ");
  return `session ${id} · ${day} UTC · ${title ?? "untitled"} · ${cwd} · ${nextPosition} messages`;
}

function line({ position, role: who, text }: IndexedMessage, marked?: number): string {
  const cut = text.length > MAX_MESSAGE_CHARS ? `${text.slice(0, MAX_MESSAGE_CHARS).toWellFormed()} […]` : text;
  return `${position === marked ? "→" : " "} [${position}] ${who}: ${cut}`;
}
