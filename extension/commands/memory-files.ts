/** The memory's files in the editor: opens them, and shows the origin of an entry on hover. */
import * as vscode from "vscode";
import { type HermesMemory, memoryMethods } from "../../agent-core/protocol/memory.ts";
import { call } from "../../agent-core/protocol/method.ts";
import type { AgentWorker } from "../agent/agent-worker.ts";
import { openPath } from "../chat/session-extensions.ts";
import { withErrorMessage } from "../notifications.ts";

type MemoryFile = HermesMemory["files"][number];

/** Separator of two entries. */
const DIVIDER = /^§[ \t]*$/;

export function openMemory(worker: AgentWorker, target: MemoryFile["target"]): Promise<void> {
  return withErrorMessage(vscode.l10n.t("The memory cannot be opened"), async () => {
    const path = (await filesOf(worker)).find((file) => file.target === target)?.path;
    if (path !== undefined) await openPath(vscode.Uri.file(path), "");
  });
}

/** Shows writer and time of the entry under the pointer. */
export function hoverOverMemory(worker: AgentWorker): vscode.Disposable {
  return vscode.languages.registerHoverProvider(
    { scheme: "file", pattern: "**/memories/{,projects/*/}{MEMORY,USER}.md" },
    {
      async provideHover(document, { line }) {
        // Hovering alone starts no agent.
        if (!worker.isStarted) return undefined;
        const file = (await filesOf(worker)).find(({ path }) => path === document.uri.fsPath);
        const text = entryAt(document.getText().split(/\r?\n/), line);
        const origin = file?.entries.find((entry) => entry.text === text)?.origin;
        return origin === undefined ? undefined : new vscode.Hover(`Hermes: ${origin}`);
      },
    },
  );
}

/** Text of the entry that contains a line. */
function entryAt(lines: readonly string[], line: number): string | undefined {
  if (DIVIDER.test(lines[line] ?? "")) return undefined;
  const start = lines.findLastIndex((text, index) => index < line && DIVIDER.test(text)) + 1;
  const end = lines.findIndex((text, index) => index > line && DIVIDER.test(text));
  return lines
    .slice(start, end < 0 ? undefined : end)
    .join("\n")
    .trim();
}

async function filesOf(worker: AgentWorker): Promise<readonly MemoryFile[]> {
  return (await call(await worker.agent(), memoryMethods.list, {})).files;
}
