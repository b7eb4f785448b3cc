/** Files of another machine: the agent of a session reads them there, and writes what the user changes. */
import { posix } from "node:path";
import type { ClientContext } from "@zed-industries/agent-client-protocol";
import * as vscode from "vscode";
import { fileMethods } from "../../agent-core/protocol/files.ts";
import { call } from "../../agent-core/protocol/method.ts";
import type { Agents } from "../agent/agents.ts";
import type { ChatSession } from "../chat/chat-session.ts";

const SCHEME = "hermes-remote";
/** Scheme of the texts before an edit, as documents to compare with. */
const beforeScheme = (scheme: string): string => `${scheme}-before`;

/** A path of the session's machine, relative to its folder. */
export function uriIn({ agent, sessionId }: Pick<ChatSession, "agent" | "sessionId">, path: string): vscode.Uri {
  const { remoteCwd } = agent.offers;
  if (remoteCwd === undefined) return vscode.Uri.file(path);
  return vscode.Uri.from({ scheme: SCHEME, path: posix.resolve(remoteCwd, path), query: sessionId ?? "" });
}

/** Opens a file of another machine beside its text before an edit. A hunk is reverted in the diff, and saved. */
export async function showRemoteChange(uri: vscode.Uri, before: string): Promise<void> {
  const then = uri.with({ scheme: beforeScheme(uri.scheme), fragment: String(texts.size) });
  texts.set(then.toString(), before);
  const title = vscode.l10n.t("{0} (agent's edits)", posix.basename(uri.path));
  await vscode.commands.executeCommand("vscode.diff", then, uri, title);
}

const texts = new Map<string, string>();

/** `scheme`: of the files' addresses; one that is registered already is an error. */
export function provideRemoteFiles(agents: Pick<Agents, "of">, scheme = SCHEME): vscode.Disposable {
  const before = { provideTextDocumentContent: (uri: vscode.Uri) => texts.get(uri.toString()) ?? "" };
  return vscode.Disposable.from(
    vscode.workspace.registerFileSystemProvider(scheme, new RemoteFiles(agents), { isCaseSensitive: true }),
    vscode.workspace.registerTextDocumentContentProvider(beforeScheme(scheme), before),
  );
}

/** One file at a time: there are no folders to list, and nothing is created or removed. */
class RemoteFiles implements vscode.FileSystemProvider {
  readonly #agents: Pick<Agents, "of">;
  readonly #changed = new vscode.EventEmitter<vscode.FileChangeEvent[]>();
  /** Text of each file when it was read or written last, and that time. */
  readonly #known = new Map<string, { readonly text: string; readonly at: number }>();

  readonly onDidChangeFile = this.#changed.event;

  constructor(agents: Pick<Agents, "of">) {
    this.#agents = agents;
  }

  watch(): vscode.Disposable {
    return new vscode.Disposable(() => undefined);
  }

  async stat(uri: vscode.Uri): Promise<vscode.FileStat> {
    const { text, at } = await this.#read(uri);
    return { type: vscode.FileType.File, ctime: 0, mtime: at, size: Buffer.byteLength(text) };
  }

  async readFile(uri: vscode.Uri): Promise<Uint8Array> {
    return Buffer.from((await this.#read(uri)).text);
  }

  async writeFile(uri: vscode.Uri, content: Uint8Array): Promise<void> {
    const text = Buffer.from(content).toString();
    const expected = this.#known.get(uri.toString())?.text ?? "";
    await this.#ask(uri, (agent, file) => call(agent, fileMethods.write, { ...file, expected, text }));
    this.#known.set(uri.toString(), { text, at: Date.now() });
  }

  readDirectory(): never {
    throw vscode.FileSystemError.Unavailable();
  }

  createDirectory(): never {
    throw vscode.FileSystemError.NoPermissions();
  }

  delete(): never {
    throw vscode.FileSystemError.NoPermissions();
  }

  rename(): never {
    throw vscode.FileSystemError.NoPermissions();
  }

  /** The time is new only for another text: VS Code then reads an open file again. */
  async #read(uri: vscode.Uri): Promise<{ readonly text: string; readonly at: number }> {
    const { text } = await this.#ask(uri, (agent, file) => call(agent, fileMethods.read, file));
    const known = this.#known.get(uri.toString());
    if (known?.text === text) return known;
    const read = { text, at: Date.now() };
    this.#known.set(uri.toString(), read);
    return read;
  }

  async #ask<Result>(
    { path, query: sessionId }: vscode.Uri,
    request: (agent: ClientContext, file: { readonly sessionId: string; readonly path: string }) => Promise<Result>,
  ): Promise<Result> {
    const agent = this.#agents.of(sessionId);
    try {
      return await request(await agent.agent(), { sessionId, path });
    } catch (error) {
      const reason = await agent.explain(error);
      throw vscode.FileSystemError.Unavailable(vscode.l10n.t("{0} cannot be reached: {1}", path, reason));
    }
  }
}
