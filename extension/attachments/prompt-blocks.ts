/** Content blocks of a message: its text, and each attachment as it is at this moment. */
import * as vscode from "vscode";
import { messageOf } from "../../agent-core/platform/errors.ts";
import type { Attachment } from "../../agent-core/protocol/attachments.ts";
import type { PromptBlock } from "../../agent-core/protocol/conversation.ts";
import { call } from "../../agent-core/protocol/method.ts";
import { sessionMethods } from "../../agent-core/protocol/sessions.ts";
import type { AgentWorker } from "../agent/agent-worker.ts";
import type { PromptContent } from "../chat/prompt-queue.ts";
import { changesSinceCommit } from "../commands/git-repository.ts";
import type { TerminalOutputs } from "./terminal-outputs.ts";

/** Texts of attachments that are more than a reference. Each rejects with the reason when there is no text. */
export type AttachmentTexts = {
  readonly [Kind in Exclude<Attachment["kind"], "file" | "folder" | "text" | "picture">]: (
    attachment: Extract<Attachment, { kind: Kind }>,
  ) => Promise<string>;
};

export type AttachmentReader = {
  readonly texts: AttachmentTexts;
  /** True for a file or folder that does not exist. Never rejects. */
  readonly isMissing: (uri: string) => Promise<boolean>;
};

/**
 * Never rejects: an attachment that cannot be read becomes a text that says so. `report` gets a line for the user about
 * each one that the agent does not get.
 */
export async function promptBlocks(
  { text, attachments = [] }: PromptContent,
  reader: AttachmentReader,
  report: (problem: string) => void,
): Promise<PromptBlock[]> {
  const blocks = await Promise.all(attachments.map((attachment) => blockOf(attachment, reader, report)));
  return [...(text.trim() === "" && blocks.length > 0 ? [] : [{ type: "text", text } as const]), ...blocks];
}

async function blockOf(
  attachment: Attachment,
  { texts, isMissing }: AttachmentReader,
  report: (problem: string) => void,
): Promise<PromptBlock> {
  const { label } = attachment;
  switch (attachment.kind) {
    case "file":
    case "folder":
      if (await isMissing(attachment.uri)) report(vscode.l10n.t("{0} no longer exists, so it cannot be read.", label));
      return { type: "resource_link", uri: attachment.uri, name: label, _meta: { hermes: { attachment } } };
    case "picture": {
      const { mimeType, data, ...ref } = attachment;
      return { type: "image", mimeType, data, _meta: { hermes: { attachment: { ...ref, mimeType } } } };
    }
    case "text": {
      const { text, ...ref } = attachment;
      return embedded(`hermes:text/${encodeURIComponent(label)}`, text, ref);
    }
    default:
      return embedded(uriOf(attachment), await textOf(attachment, texts, report), attachment);
  }
}

function embedded(uri: string, text: string, attachment: object): PromptBlock {
  return { type: "resource", resource: { uri, text, mimeType: "text/plain" }, _meta: { hermes: { attachment } } };
}

type Embedded = Exclude<Attachment, { kind: "file" | "folder" | "text" | "picture" }>;

function uriOf(attachment: Embedded): string {
  if (attachment.kind === "lines") return `${attachment.uri}#L${attachment.start}-L${attachment.end}`;
  return `hermes:${attachment.kind}/${encodeURIComponent(attachment.label)}`;
}

async function textOf(
  attachment: Embedded,
  texts: AttachmentTexts,
  report: (problem: string) => void,
): Promise<string> {
  try {
    // AttachmentTexts types each entry. TypeScript cannot tie `kind` to its entry, hence the cast.
    const read = texts[attachment.kind] as (attachment: Embedded) => Promise<string>;
    return await read(attachment);
  } catch (error) {
    report(vscode.l10n.t("{0} could not be attached: {1}", attachment.label, messageOf(error)));
    return `[${attachment.label} could not be attached: ${messageOf(error)}]`;
  }
}

/** Limit of the listed problems; errors come first. */
const MAX_PROBLEMS = 200;
/** Limit of a diff, about 25,000 tokens. Characters. */
const MAX_DIFF_CHARS = 100_000;
/** Limit of an earlier session, about 25,000 tokens. Its end has the result. Characters. */
const MAX_SESSION_CHARS = 100_000;

/** A file of a provider that is not there, such as an unsaved text, counts as existing. */
export async function isMissing(uri: string): Promise<boolean> {
  try {
    await vscode.workspace.fs.stat(vscode.Uri.parse(uri, true));
    return false;
  } catch (error) {
    return error instanceof vscode.FileSystemError && error.code === "FileNotFound";
  }
}

export function attachmentTexts(
  worker: Pick<AgentWorker, "agent">,
  terminals: Pick<TerminalOutputs, "textOf">,
): AttachmentTexts {
  return {
    lines: async ({ uri, start, end }) => {
      const document = await vscode.workspace.openTextDocument(vscode.Uri.parse(uri, true));
      if (start > document.lineCount) throw new Error(`the file has only ${document.lineCount} lines now`);
      const last = document.lineAt(Math.min(end, document.lineCount) - 1);
      return document.getText(new vscode.Range(new vscode.Position(start - 1, 0), last.range.end));
    },
    problems: async ({ uri }) => problemsText(uri === undefined ? undefined : vscode.Uri.parse(uri, true)),
    terminal: async ({ name }) => terminals.textOf(name),
    changes: async () => {
      const changes = await changesSinceCommit();
      if (changes.trim() === "") return "There are no changes since the last commit.";
      if (changes.length <= MAX_DIFF_CHARS) return changes;
      return `${changes.slice(0, MAX_DIFF_CHARS).toWellFormed()}\n[… cut; git diff shows the rest]`;
    },
    session: async ({ sessionId }) => {
      const exported = { sessionId, format: "markdown" } as const;
      const { text } = await call(await worker.agent(), sessionMethods.export, exported);
      if (text.length <= MAX_SESSION_CHARS) return text;
      return `[… the beginning is left out]\n${text.slice(-MAX_SESSION_CHARS).toWellFormed()}`;
    },
  };
}

const SEVERITIES = ["error", "warning", "information", "hint"];

/** A line for each problem: `src/a.ts:3: error: message (source)`. */
function problemsText(uri: vscode.Uri | undefined): string {
  const files: readonly [vscode.Uri, readonly vscode.Diagnostic[]][] =
    uri === undefined ? vscode.languages.getDiagnostics() : [[uri, vscode.languages.getDiagnostics(uri)]];
  const problems = files
    .flatMap(([file, list]) => list.map((problem) => ({ file, ...problem, line: problem.range.start.line + 1 })))
    .sort((one, other) => one.severity - other.severity);
  if (problems.length === 0) return "There are no problems.";
  const lines = problems.slice(0, MAX_PROBLEMS).map(({ file, line, severity, message, source }) => {
    const place = `${vscode.workspace.asRelativePath(file)}:${line}`;
    return `${place}: ${SEVERITIES[severity]}: ${message}${source === undefined ? "" : ` (${source})`}`;
  });
  const rest = problems.length - lines.length;
  return [...lines, ...(rest > 0 ? [`[… ${rest} more problems]`] : [])].join("\n");
}

/** Larger files are left out, with a line that says so. Bytes. */
const MAX_CONTENT_BYTES = 1_000_000;

/** The blocks with texts in place of links to files, for an agent on another machine. Never rejects. */
export function asContent(blocks: readonly PromptBlock[]): Promise<PromptBlock[]> {
  return Promise.all(
    blocks.map(async (block) => {
      if (block.type !== "resource_link" || !URL.canParse(block.uri)) return block;
      const { uri, name } = block;
      const text = await contentOf(vscode.Uri.parse(uri, true)).catch((error: unknown) => `[${messageOf(error)}]`);
      return { type: "resource", resource: { uri, text: `${name}:\n${text}`, mimeType: "text/plain" } };
    }),
  );
}

async function contentOf(uri: vscode.Uri): Promise<string> {
  const { type, size } = await vscode.workspace.fs.stat(uri);
  if ((type & vscode.FileType.Directory) !== 0) {
    const entries = await vscode.workspace.fs.readDirectory(uri);
    return entries.map(([entry, kind]) => `${entry}${kind === vscode.FileType.Directory ? "/" : ""}`).join("\n");
  }
  if (size > MAX_CONTENT_BYTES) return "[The file is on the user's machine, and too large to send.]";
  const bytes = await vscode.workspace.fs.readFile(uri);
  return bytes.includes(0) ? "[The file is on the user's machine, and no text.]" : new TextDecoder().decode(bytes);
}
