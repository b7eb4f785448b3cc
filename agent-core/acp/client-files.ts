/** HostFiles through the client: its open, unsaved text is what the agent reads, its documents take the edits. */
import { isAbsolute, relative } from "node:path";
import { type AgentContext, methods, RequestError } from "@zed-industries/agent-client-protocol";
import { conflictWith } from "../host/conflict-with.ts";
import type { ExpectedText, FileFailure, FileMove, FileText, FileWritten, HostFiles } from "../host/host.ts";
import {
  fileMethods,
  type HermesPutBack,
  type HermesWriteMeta,
  reviewResponse,
  WRITE_CONFLICT,
} from "../protocol/files.ts";
import { call } from "../protocol/method.ts";

export type ClientFilesOptions = {
  readonly client: AgentContext;
  readonly sessionId: string;
  /** Workspace folders: only files in them are the client's. */
  readonly roots: readonly string[];
  readonly canRead: boolean;
  readonly canWrite: boolean;
  /** The client checks the expected text itself. */
  readonly checksExpected: boolean;
  /** The client removes and moves files itself. */
  readonly movesFiles: boolean;
  /** The client puts earlier texts back itself. */
  readonly putsBack: boolean;
  /** This machine's own files. */
  readonly disk: HostFiles;
};

/** What client and disk said of a file when it was last read. */
type Seen = { readonly client: string; readonly disk: string };

export function clientFiles(options: ClientFilesOptions): HostFiles {
  const { disk, roots, canRead, canWrite } = options;
  const seen = new Map<string, Seen>();
  const isClients = (path: string): boolean => roots.some((root) => isInside(path, root));
  const guarded = async (path: string, expected: ExpectedText, signal: AbortSignal) => {
    const present = canRead ? await readThrough(options, seen, path, signal) : await disk.readText(path, signal);
    return conflictWith(path, present, expected);
  };
  return {
    stat: (path) => disk.stat(path),
    list: (folder) => disk.list(folder),
    readText(path, signal) {
      return canRead && isClients(path) ? readThrough(options, seen, path, signal) : disk.readText(path, signal);
    },
    async writeText(path, text, expected, signal) {
      if (!canWrite || !isClients(path)) return disk.writeText(path, text, expected, signal);
      if (!options.checksExpected) {
        const conflict = await guarded(path, expected, signal);
        if (conflict !== undefined) return conflict;
      }
      return writeThrough(options, { path, content: text, expected }, signal);
    },
    async remove(path, expected, signal) {
      if (canWrite && options.movesFiles && isClients(path)) return removeThrough(options, path, expected, signal);
      const conflict = isClients(path) ? await guarded(path, { kind: "text", text: expected }, signal) : undefined;
      return conflict ?? disk.remove(path, expected, signal);
    },
    async rename(move, signal) {
      const { from, to, expected } = move;
      if (canWrite && options.movesFiles && isClients(from) && isClients(to)) return moveThrough(options, move, signal);
      const conflict = isClients(from) ? await guarded(from, { kind: "text", text: expected }, signal) : undefined;
      return conflict ?? disk.rename(move, signal);
    },
    async putBack(path, text, expected, signal) {
      if (!canWrite || !isClients(path)) return disk.putBack(path, text, expected, signal);
      if (options.putsBack) return putBackThrough(options, { path, text, expected }, signal);
      const conflict = await guarded(path, expected, signal);
      if (conflict !== undefined) return conflict;
      // ACP has no way to take a file away.
      if (text === null) return disk.putBack(path, null, expected, signal);
      return writeThrough(options, { path, content: text, expected }, signal);
    },
  };
}

async function readThrough(
  { client, sessionId, disk }: ClientFilesOptions,
  seen: Map<string, Seen>,
  path: string,
  signal: AbortSignal,
): Promise<FileText | FileFailure> {
  const onDisk = await disk.readText(path, signal);
  // What the disk refuses (binary, folder, too large) the client would only show worse; what is missing there may
  // still be an unsaved document.
  if (!onDisk.ok && onDisk.reason !== "missing") return onDisk;
  const text = await clientText(client, sessionId, path);
  signal.throwIfAborted();
  if (text === undefined) return onDisk;
  if (!onDisk.ok) return text === "" ? onDisk : { ok: true, text, source: "editor" };
  const before = seen.get(path);
  seen.set(path, { client: text, disk: onDisk.text });
  if (text === onDisk.text) return onDisk;
  // The same client text over a changed disk is a stale copy, not unsaved work.
  const stale = before !== undefined && before.client === text && before.disk !== onDisk.text;
  return stale ? onDisk : { ok: true, text, source: "editor" };
}

/** Undefined when the client cannot give the file. */
async function clientText(client: AgentContext, sessionId: string, path: string): Promise<string | undefined> {
  try {
    return (await client.request(methods.client.fs.readTextFile, { sessionId, path })).content;
  } catch (error) {
    if (error instanceof RequestError) return undefined;
    throw error; // the connection is gone
  }
}

type Write = { readonly path: string; readonly content: string; readonly expected: ExpectedText };

function writeThrough(
  { client, sessionId }: ClientFilesOptions,
  { path, content, expected }: Write,
  signal: AbortSignal,
): Promise<FileWritten | FileFailure> {
  const hermes: HermesWriteMeta = { expected };
  const request = { sessionId, path, content, _meta: { hermes } };
  const { writeTextFile } = methods.client.fs;
  // Where the user decides first this waits for them, and a stopped turn withdraws it.
  const answer = client.request(writeTextFile, request, { cancellationSignal: signal });
  return settled(answer, `${path} was not written by the editor`, signal);
}

function removeThrough(
  { client, sessionId }: ClientFilesOptions,
  path: string,
  expected: string,
  signal: AbortSignal,
): Promise<FileWritten | FileFailure> {
  const answer = call(client, fileMethods.remove, { sessionId, path, expected }, { cancellationSignal: signal });
  return settled(answer, `${path} was not removed by the editor`, signal);
}

function moveThrough(
  { client, sessionId }: ClientFilesOptions,
  move: FileMove,
  signal: AbortSignal,
): Promise<FileWritten | FileFailure> {
  const answer = call(client, fileMethods.rename, { sessionId, ...move }, { cancellationSignal: signal });
  return settled(answer, `${move.from} was not moved by the editor`, signal);
}

/** Outcome of a change by the client; `failed` begins the message of a refusal. */
async function settled(
  response: Promise<unknown>,
  failed: string,
  signal: AbortSignal,
): Promise<FileWritten | FileFailure> {
  try {
    const review = reviewResponse.safeParse(await response).data?._meta.hermes.review;
    return { ok: true, ...(review && { review }) };
  } catch (error) {
    signal.throwIfAborted();
    if (!(error instanceof RequestError)) throw error;
    const reason = error.code === WRITE_CONFLICT ? "conflict" : "failed";
    return { ok: false, reason, message: `${failed}: ${error.message}` };
  }
}

function putBackThrough(
  { client, sessionId }: ClientFilesOptions,
  back: Omit<HermesPutBack, "sessionId">,
  signal: AbortSignal,
): Promise<FileWritten | FileFailure> {
  const answer = call(client, fileMethods.putBack, { sessionId, ...back }, { cancellationSignal: signal });
  return settled(answer, `${back.path} was not written by the editor`, signal);
}

function isInside(path: string, root: string): boolean {
  const inner = relative(root, path);
  return inner === "" || !(inner.startsWith("..") || isAbsolute(inner));
}
