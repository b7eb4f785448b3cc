/**
 * Hermes in VS Code's own chat: `@hermes`, and read-only tools for its memory and its past sessions. Each thread of
 * `@hermes` is one session, which the panel opens too. Permission requests, questions and the review of edits are those of
 * every session.
 */
import type { SessionUpdate } from "@zed-industries/agent-client-protocol";
import * as vscode from "vscode";
import * as z from "zod";
import type { Attachment } from "../../agent-core/protocol/attachments.ts";
import { memoryMethods } from "../../agent-core/protocol/memory.ts";
import { call } from "../../agent-core/protocol/method.ts";
import type { PanelEvent } from "../../agent-core/protocol/panel-events.ts";
import { sessionMethods } from "../../agent-core/protocol/sessions.ts";
import { linesOf } from "../attachments/suggestion.ts";
import { nameOf } from "../attachments/workspace-files.ts";
import type { ChatSession } from "../chat/chat-session.ts";
import type { PromptContent } from "../chat/prompt-queue.ts";
import type { Sessions } from "../chat/sessions.ts";
import type { Services } from "../services.ts";

type TurnEnd = Extract<PanelEvent, { kind: "turn-end" }>;

/** As in package.json. */
const PARTICIPANT = "hermes.participant";

/** A text reference is a chip with its beginning. Characters. */
const LABEL_CHARS = 40;

/** `sessions` builds the extension. */
export function registerParticipant(sessions: () => Promise<Sessions>, icon: vscode.Uri): vscode.Disposable {
  const participant = vscode.chat.createChatParticipant(PARTICIPANT, async (request, { history }, response, token) => {
    const content = { text: request.prompt, attachments: request.references.flatMap(attachmentOf) };
    return answer(await sessions(), { content, sessionId: sessionOf(history) }, response, token);
  });
  participant.iconPath = icon;
  return participant;
}

/** Message of one request, and its session. */
type Asked = { readonly content: PromptContent; readonly sessionId: string | undefined };

/** Runs one turn. Resolves when it has ended. */
async function answer(
  sessions: Sessions,
  { content, sessionId }: Asked,
  response: vscode.ChatResponseStream,
  token: vscode.CancellationToken,
): Promise<vscode.ChatResult> {
  const session = sessions.withoutPanel(sessionId);
  const ended = endOf(session, content.text, (event) => show(event, response));
  sessions.startInBackground(content, session);
  const cancelling = token.onCancellationRequested(() => session.dispatch({ type: "cancel" }));
  const end = await ended;
  cancelling.dispose();
  sessions.acknowledge(session);
  return resultOf(session, end, response);
}

/** Passes on the events of the turn of this prompt, which follows the replay of a stored session and a running turn. */
function endOf(session: ChatSession, text: string, show: (event: PanelEvent) => void): Promise<TurnEnd> {
  const { promise, resolve } = Promise.withResolvers<TurnEnd>();
  let hasBegun = false;
  const stopObserving = session.log.observe((event) => {
    if (event.kind === "prompt" && event.text === text) hasBegun = true;
    if (!hasBegun) return;
    show(event);
    if (event.kind === "turn-end") resolve(event);
  });
  return promise.finally(stopObserving);
}

function resultOf(
  { targetId: sessionId }: ChatSession,
  { error: message }: TurnEnd,
  response: vscode.ChatResponseStream,
): vscode.ChatResult {
  if (sessionId !== undefined) {
    response.button({ command: "hermes.showSession", title: vscode.l10n.t("Open in Hermes"), arguments: [sessionId] });
  }
  return { ...(message !== undefined && { errorDetails: { message } }), metadata: { sessionId } };
}

/** Session of the last answer in a thread. */
function sessionOf(history: vscode.ChatContext["history"]): string | undefined {
  for (const turn of history.toReversed()) {
    if (!(turn instanceof vscode.ChatResponseTurn)) continue;
    const id: unknown = turn.result.metadata?.["sessionId"];
    if (typeof id === "string") return id;
  }
  return undefined;
}

/** The chat shows the answer, and one line for each tool call and for each request that waits for the user. */
function show(event: PanelEvent, response: vscode.ChatResponseStream): void {
  if (event.kind === "permission" || event.kind === "question")
    response.progress(vscode.l10n.t("Waiting for your answer…"));
  if (event.kind === "notice") response.progress(event.text);
  if (event.kind === "update") showUpdate(event.update, response);
}

function showUpdate(update: SessionUpdate, response: vscode.ChatResponseStream): void {
  switch (update.sessionUpdate) {
    case "agent_message_chunk":
      if (update.content.type === "text") response.markdown(update.content.text);
      break;
    case "tool_call":
      response.progress(update.title);
      break;
    case "tool_call_update":
      for (const part of update.content ?? []) {
        if (part.type === "diff") response.reference(vscode.Uri.file(part.path));
      }
      break;
    default:
  }
}

function attachmentOf({ value }: vscode.ChatPromptReference): readonly Attachment[] {
  if (value instanceof vscode.Uri) return [{ kind: "file", uri: value.toString(), label: nameOf(value) }];
  if (value instanceof vscode.Location) return [linesOf(value.uri, value.range)];
  if (typeof value !== "string" || value === "") return [];
  return [{ kind: "text", label: value.replaceAll(/\s+/g, " ").slice(0, LABEL_CHARS), text: value }];
}

/** Sessions of one answer: enough to choose from, and few enough for a prompt. */
const MAX_SESSIONS = 10;

type Worker = Pick<Services["worker"], "agent">;

/** Each tool needs its entry with the same name in package.json. */
type ReadTool = { readonly title: string; run(worker: Worker, input: unknown): Promise<string> };

const tools: Readonly<Record<`hermes_${string}`, ReadTool>> = {
  hermes_memory: { title: vscode.l10n.t("Read the memory of Hermes"), run: readMemory },
  hermes_past_sessions: { title: vscode.l10n.t("Search past sessions of Hermes"), run: searchSessions },
};

/** `worker.agent()` starts the agent. */
export function registerReadTools(worker: Worker): readonly vscode.Disposable[] {
  return Object.entries(tools).map(([name, { title, run }]) =>
    vscode.lm.registerTool(name, {
      prepareInvocation: () => ({ invocationMessage: title }),
      invoke: async ({ input }) => {
        const text = await run(worker, input);
        return new vscode.LanguageModelToolResult([new vscode.LanguageModelTextPart(text)]);
      },
    }),
  );
}

async function readMemory(worker: Worker): Promise<string> {
  const { files } = await call(await worker.agent(), memoryMethods.list, {});
  const parts = files
    .filter(({ entries }) => entries.length > 0)
    .map(({ target, entries }) => {
      const head = target === "user" ? "About the user" : "Notes of Hermes";
      return `# ${head}\n${entries.map(({ text }) => `- ${text}`).join("\n")}`;
    });
  return parts.length > 0 ? parts.join("\n\n") : "The memory of Hermes is empty.";
}

const searchInput = z.object({ query: z.string().trim().min(1).max(1_000) });

async function searchSessions(worker: Worker, input: unknown): Promise<string> {
  const parsed = searchInput.safeParse(input);
  if (!parsed.success) throw new Error("hermes_past_sessions needs a query: words to search for.");
  const cwd = vscode.workspace.workspaceFolders?.[0]?.uri.fsPath;
  const search = { query: parsed.data.query, limit: MAX_SESSIONS, ...(cwd !== undefined && { cwd }) };
  const { hits, building } = await call(await worker.agent(), sessionMethods.search, search);
  const lines = hits.map(({ title, updatedAt, snippet }) => {
    const text = snippet.replaceAll(/\s+/g, " ").trim();
    return `- ${title ?? "Untitled session"} (${updatedAt.slice(0, 10)}): ${text}`;
  });
  const note = building === undefined ? [] : ["(The index is being built: older sessions may be missing.)"];
  return [...(lines.length > 0 ? lines : ["No past session of this folder matches."]), ...note].join("\n");
}
