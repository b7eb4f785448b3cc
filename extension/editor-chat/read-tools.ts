/** Read-only tools of Hermes for VS Code's own chat: its memory and its past sessions. */
import * as vscode from "vscode";
import * as z from "zod";
import { memoryMethods } from "../../agent-core/protocol/memory.ts";
import { call } from "../../agent-core/protocol/method.ts";
import { sessionMethods } from "../../agent-core/protocol/sessions.ts";
import type { Services } from "../services.ts";

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
