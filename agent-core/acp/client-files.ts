/** HostFiles through the client: the agent reads its unsaved text, and its documents take the edits. */
import { hash } from "node:crypto";
import { dirname } from "node:path";
import { type AgentContext, methods, RequestError } from "@zed-industries/agent-client-protocol";
import { BYTE_ORDER_MARK, encodeAs, withMark, withoutMark } from "../host/decode-file.ts";
import { conflictWith, entryBehind, entryOf } from "../host/guarded-write.ts";
import type {
  DiskAfter,
  DiskEntry,
  FileFailure,
  FileMove,
  FileText,
  FileWrite,
  FileWritten,
  HostFiles,
  LineRange,
} from "../host/host.ts";
import { readGit } from "../host/read-git.ts";
import { pathBelow } from "../platform/paths.ts";
import {
  fileMethods,
  HermesConflict,
  type HermesMove,
  type HermesReadMeta,
  HermesReadResult,
  type HermesRemove,
  type HermesRevert,
  type HermesWriteMeta,
  type HermesWriteResult,
  WRITE_CONFLICT,
  writeResponse,
} from "../protocol/files.ts";
import { readMeta } from "../protocol/method.ts";
import { messageWithCause } from "./request-errors.ts";

export type ClientFilesOptions = {
  readonly client: AgentContext;
  readonly sessionId: string;
  /** Workspace folders. The client handles only files in them. */
  readonly roots: readonly string[];
  readonly canRead: boolean;
  readonly canWrite: boolean;
  /** The client can be asked for unsaved text alone. */
  readonly givesUnsaved: boolean;
  /** The client checks the expected text itself. */
  readonly checksExpected: boolean;
  /** The client removes and moves files itself. */
  readonly movesFiles: boolean;
  /** The client reverts files itself. */
  readonly reverts: boolean;
  /** This machine's own files. */
  readonly disk: HostFiles;
};

/**
 * A client sends only the needed lines of a longer file. JSON has up to six bytes for a character, and a message over
 * 32 MB is refused. Characters.
 */
const LARGE_TEXT_CHARS = 5_000_000;

/** Result of a read whose answer is too large for a message. */
const TOO_LARGE = Symbol("too large");

const TOO_LARGE_DOUBT =
  "the text in the editor is too large to compare: this is the disk's, without unsaved changes. Save it and close it in the editor, or use a command to change it";
const CHANGED_TWICE =
  "the editor has unsaved changes here, and a command or another program changed the file on the disk since. The user must save or revert it in the editor first";

/** Replaced texts of a file, of which an editor may still have a copy. */
const MAX_REPLACED = 1_000;

export function clientFiles(options: ClientFilesOptions): HostFiles {
  const { disk, roots, canRead, canWrite, movesFiles } = options;
  const files = new ClientFiles(options);
  const isClients = (path: string): boolean => roots.some((root) => pathBelow(root, path) !== undefined);
  return {
    stat: (path) => disk.stat(path),
    list: (folder) => disk.list(folder),
    readText: (path, signal, needed) =>
      canRead && isClients(path) ? files.read(path, signal, needed) : disk.readText(path, signal),
    guardedWrite: (write, signal) =>
      isClients(write.path) && !files.hasOtherEncoding(write.path)
        ? files.write(write, signal)
        : disk.guardedWrite(write, signal),
    async rename(move, signal) {
      const { from, to, expected } = move;
      if (canWrite && movesFiles && isClients(from) && isClients(to)) return files.move(move, signal);
      const conflict = isClients(from) ? await files.conflict(from, expected, signal) : undefined;
      return conflict ?? disk.rename(move, signal);
    },
  };
}

/** Request to the client for a change; `isGuarded` when the client refuses any text but the expected one. */
type ClientRequest = { readonly method: string; readonly params: Record<string, unknown>; readonly isGuarded: boolean };

class ClientFiles {
  readonly #options: ClientFilesOptions;
  /** Each file as the disk had it last. */
  readonly #onDisk = new Map<string, FileText>();
  /** Hashes of a file's earlier texts on the disk, since the client last had the present one. */
  readonly #replaced = new Map<string, Set<string>>();
  /** The last text of a file that both had. */
  readonly #shared = new Map<string, string>();
  /** Files that neither the disk nor the client had at their last read. */
  readonly #absent = new Set<string>();

  /** Files for which the client treats the byte order mark as a part of the text. */
  readonly #marked = new Set<string>();

  constructor(options: ClientFilesOptions) {
    this.#options = options;
  }

  /** True when the file was not UTF-8 at its last read: the disk alone is read and written. */
  hasOtherEncoding(path: string): boolean {
    return this.#onDisk.get(path)?.encoding !== undefined;
  }

  async read(path: string, signal: AbortSignal, needed?: LineRange): Promise<FileText | FileFailure> {
    const onDisk = await this.#options.disk.readText(path, signal);
    // The client cannot help with a binary file or a folder; a missing file may still be an unsaved document.
    if (!onDisk.ok && onDisk.reason !== "missing") return onDisk;
    // An editor may have read it as UTF-8, and would save the wrong characters.
    if (onDisk.ok && onDisk.encoding !== undefined) {
      this.#noteDisk(path, onDisk);
      return onDisk;
    }
    if (onDisk.ok && needed !== undefined && (await this.#isUnchanged(path, onDisk.text, needed))) return onDisk;
    signal.throwIfAborted();
    const text = await this.#clientText(path);
    signal.throwIfAborted();
    if (text === TOO_LARGE) return onDisk.ok ? { ...onDisk, doubt: TOO_LARGE_DOUBT } : onDisk;
    return this.#present(path, onDisk, text);
  }

  /** The client's text where it is newer than the disk's. */
  async #present(
    path: string,
    onDisk: FileText | FileFailure,
    text: string | undefined,
  ): Promise<FileText | FileFailure> {
    if (!onDisk.ok && text === undefined) this.#absent.add(path);
    if (onDisk.ok) this.#noteDisk(path, onDisk);
    if (text === undefined || (!onDisk.ok && text === "")) return onDisk;
    if (onDisk.ok && hashOf(text) === hashOf(onDisk.text)) {
      this.#noteShared(path, text); // from now on an earlier text is the user's
      return onDisk;
    }
    if (!this.#options.givesUnsaved && (await this.#isOld(path, onDisk, text))) return onDisk;
    if (!onDisk.ok) return { ok: true, text, source: "editor" };
    const isApart = !this.#options.givesUnsaved && (await this.#isApart(path, onDisk.text, text));
    return { ...onDisk, text, source: "editor", ...(isApart && { doubt: CHANGED_TWICE }) };
  }

  /** True when the disk has a change that the client's text lacks. */
  async #isApart(path: string, onDisk: string, text: string): Promise<boolean> {
    const shared = this.#shared.get(path) ?? onDisk;
    const isApart = hashOf(shared) !== hashOf(onDisk) && !(await isNearer(text, onDisk, shared));
    if (!isApart && shared !== onDisk) this.#noteShared(path, onDisk); // the user saved it, and typed on
    return isApart;
  }

  /** True for a stale copy of a foreign client: the disk had this text before, or git has it. */
  async #isOld(path: string, onDisk: FileText | FileFailure, text: string): Promise<boolean> {
    const hash = hashOf(text);
    const last = this.#onDisk.get(path);
    if (this.#replaced.get(path)?.has(hash) === true || (last !== undefined && hashOf(last.text) === hash)) return true;
    return onDisk.ok && !this.#shared.has(path) && isInGit(path, text);
  }

  /** The disk and the client have this text. */
  #noteShared(path: string, text: string): void {
    this.#shared.set(path, text);
    this.#replaced.delete(path);
  }

  #noteDisk(path: string, present: FileText): void {
    const last = this.#onDisk.get(path);
    this.#onDisk.set(path, present);
    if (last === undefined || last.text === present.text) return;
    const replaced = this.#replaced.get(path) ?? new Set();
    replaced.add(hashOf(last.text)).delete(hashOf(present.text));
    this.#replaced.set(path, new Set([...replaced].slice(-MAX_REPLACED)));
  }

  async write(write: FileWrite, signal: AbortSignal): Promise<FileWritten | FileFailure> {
    const { path, expected } = write;
    const request = this.#requestFor(write);
    if (request?.isGuarded !== true) {
      const conflict = await this.conflict(path, expected, signal);
      if (conflict !== undefined) return conflict;
    }
    if (request === undefined) {
      const written = await this.#options.disk.guardedWrite(write, signal);
      await this.#readBack(path);
      return written;
    }
    const before = write.keep === undefined ? null : await this.#entryBefore(write, signal);
    await write.keep?.(before);
    const refused = `${path} was not ${write.after === null ? "removed" : "written"}`;
    const answer = await this.#request(request, refused, signal);
    if (!answer.ok) return answer;
    if (!this.#options.checksExpected) await this.#keepMark(write);
    const { review, shown } = answer.result ?? {};
    const disk = shown && (await diskAfter(path, before, shown));
    const formatted = formattedText(review === undefined ? write.after : review.text, shown);
    const known = { ok: true as const, ...(disk && { disk }) };
    if (formatted === undefined) return { ...known, ...(review !== undefined && { review }) };
    if (review === undefined) return { ...known, formatted };
    return { ...known, review: { ...review, text: formatted, accepted: review.text } };
  }

  /** Restores a byte order mark that a client has dropped with its write. */
  async #keepMark({ path, after, purpose }: FileWrite): Promise<void> {
    const hadMark = this.#onDisk.get(path)?.hasMark === true;
    const present = await this.#readBack(path);
    if (!present.ok || present.text !== after) return;
    this.#noteShared(path, present.text); // the client wrote it
    if (!hadMark || present.hasMark === true) return;
    const { signal } = new AbortController(); // the text is written already
    const write = { path, expected: after, after: withMark(after), purpose };
    await this.#options.disk.guardedWrite(write, signal);
    await this.#readBack(path);
  }

  async #readBack(path: string): Promise<FileText | FileFailure> {
    const present = await this.#options.disk.readText(path, new AbortController().signal);
    if (present.ok) this.#noteDisk(path, present);
    return present;
  }

  async move(move: FileMove, signal: AbortSignal): Promise<FileWritten | FileFailure> {
    const params = { ...move } satisfies Omit<HermesMove, "sessionId">;
    const request = { method: fileMethods.rename.name, params, isGuarded: true };
    const answer = await this.#request(request, `${move.from} was not moved`, signal);
    return answer.ok ? { ok: true } : answer;
  }

  /** For clients that check nothing themselves. */
  async conflict(path: string, expected: string | null, signal: AbortSignal): Promise<FileFailure | undefined> {
    const { canRead, disk } = this.#options;
    // A client logs an error for each read of a file that does not exist.
    const isKnownAbsent = this.#absent.delete(path) && expected === null;
    const asksClient = canRead && !isKnownAbsent;
    const present = asksClient ? await this.read(path, signal) : await disk.readText(path, signal);
    if (!present.ok || present.doubt === undefined) return conflictWith(path, present, expected);
    return { ok: false, reason: "failed", message: `${path} was not changed: ${present.doubt}.` };
  }

  /** Undefined when the client has no method for the change. */
  #requestFor({ path, expected, after, purpose }: FileWrite): ClientRequest | undefined {
    const { canWrite, checksExpected, movesFiles, reverts } = this.#options;
    if (!canWrite) return undefined;
    const guard = expected === null ? ({ kind: "absent" } as const) : ({ kind: "text", text: expected } as const);
    const isMarked =
      this.#marked.has(path) || (purpose === "revert" && expected === null && this.#onDisk.get(path)?.hasMark === true);
    const content = after !== null && isMarked ? withMark(after) : after;
    if (purpose === "revert" && reverts) {
      const params = { path, text: content, expected: guard } satisfies Omit<HermesRevert, "sessionId">;
      return { method: fileMethods.revert.name, params, isGuarded: true };
    }
    if (content !== null) {
      const params = { path, content, _meta: { hermes: { expected: guard } satisfies HermesWriteMeta } };
      return { method: methods.client.fs.writeTextFile, params, isGuarded: checksExpected };
    }
    if (purpose === "revert" || !movesFiles) return undefined; // ACP has no method that removes a file
    const params = { path, expected: expected ?? "" } satisfies Omit<HermesRemove, "sessionId">;
    return { method: fileMethods.remove.name, params, isGuarded: true };
  }

  /** `refused` begins the message of a refusal. */
  async #request(
    { method, params }: ClientRequest,
    refused: string,
    signal: AbortSignal,
  ): Promise<{ readonly ok: true; readonly result: HermesWriteResult | undefined } | FileFailure> {
    const { client, sessionId } = this.#options;
    try {
      // The request may wait for the user's decision; a stopped turn withdraws it.
      const answer = await client.request(method, { sessionId, ...params }, { cancellationSignal: signal });
      return { ok: true, result: writeResponse.safeParse(answer).data?._meta.hermes };
    } catch (error) {
      signal.throwIfAborted();
      if (!(error instanceof RequestError)) throw error;
      const message = `${refused} by the editor: ${messageWithCause(error)}`;
      if (error.code !== WRITE_CONFLICT) return { ok: false, reason: "failed", message };
      const present = HermesConflict.safeParse(error.data).data;
      return { ok: false, reason: "conflict", message, ...present };
    }
  }

  /** Compares the needed lines of a long text with the client's. False for other texts. */
  async #isUnchanged(path: string, text: string, needed: LineRange): Promise<boolean> {
    if (this.#options.givesUnsaved || text.length < LARGE_TEXT_CHARS) return false;
    const part = await this.#clientText(path, needed);
    const lines = text.split(LINE_END).slice(needed.first - 1, needed.first - 1 + needed.count);
    return typeof part !== "string" || withoutLastEnd(part) === withoutLastEnd(lines.join("\n"));
  }

  /**
   * Undefined when the client cannot give the file, or has no unsaved text of it. Default: all lines. Notes where the client gives
   * the byte order mark.
   */
  async #clientText(path: string, part?: LineRange): Promise<string | typeof TOO_LARGE | undefined> {
    const { client, sessionId, givesUnsaved } = this.#options;
    const hermes: HermesReadMeta = { unsavedOnly: true };
    try {
      const { readTextFile } = methods.client.fs;
      const answer = await client.request(readTextFile, {
        sessionId,
        path,
        ...(part && { line: part.first, limit: part.count }),
        ...(givesUnsaved && { _meta: { hermes } }),
      });
      if (readMeta(HermesReadResult, answer._meta) !== undefined) return undefined;
      if (typeof answer.content !== "string") return undefined; // the library does not check answers
      const text = withoutMark(answer.content);
      if (text !== answer.content) this.#marked.add(path);
      else if (part === undefined) this.#marked.delete(path);
      return text;
    } catch (error) {
      // The reader of messages fails the request of an answer that is too large.
      if (error instanceof RequestError) return error.message.startsWith("message too large") ? TOO_LARGE : undefined;
      throw error; // the connection is closed
    }
  }

  /** The disk's content, read again only where the expected text is not the one that the disk had. */
  async #entryBefore({ path, expected, after }: FileWrite, signal: AbortSignal): Promise<DiskEntry | null> {
    const last = this.#onDisk.get(path);
    const onDisk = last?.text === expected ? last : await this.#options.disk.readText(path, signal);
    if (onDisk === undefined || !onDisk.ok) return null;
    const bytes = await encodeAs(onDisk.text, onDisk);
    return after === null ? entryOf(path, bytes).catch(() => null) : entryBehind(path, bytes);
  }
}

/** Further changes are not counted. Characters. */
const MAX_DISTANCE = 2_000;

/** True when fewer changes lead to the text from `first` than from `second`. */
async function isNearer(text: string, first: string, second: string): Promise<boolean> {
  const { diffChars } = await import("diff");
  const [near = 0, far = 0] = [first, second].map((from) => {
    const changes = diffChars(withoutLastEnd(from), withoutLastEnd(text), { maxEditLength: MAX_DISTANCE });
    const sizes = changes?.map(({ added, removed, count }) => (added || removed ? count : 0));
    return sizes?.reduce((sum, size) => sum + size, 0) ?? Number.POSITIVE_INFINITY;
  });
  return near < far;
}

/** True for a text that git has: the copy of a file that an editor opened before a command changed it. */
async function isInGit(path: string, text: string): Promise<boolean> {
  const plain = text.replaceAll("\r\n", "\n");
  const forms = [text, plain, plain.replaceAll("\n", "\r\n")].flatMap((form) => [form, withMark(form)]);
  const named = [...new Set(forms)].map((form) => `blob ${Buffer.byteLength(form)}\0${form}`);
  const ids = named.flatMap((form) => [hash("sha1", form), hash("sha256", form)]);
  const found = await readGit(dirname(path), ["cat-file", "--batch-check"], { input: ids.join("\n") });
  return found?.includes(" blob ") === true;
}

/** Content of the disk after a write of the client, which reports the text that it shows, and if that is saved. */
async function diskAfter(
  path: string,
  before: DiskEntry | null,
  { text, isSaved }: NonNullable<HermesWriteResult["shown"]>,
): Promise<DiskAfter | undefined> {
  if (!isSaved) return { entry: before, ...(text !== null && { unsaved: text }) };
  if (text === null) return { entry: null };
  const hasMark = before?.kind === "file" && before.bytes.subarray(0, BYTE_ORDER_MARK.length).equals(BYTE_ORDER_MARK);
  const entry = await entryBehind(path, await encodeAs(text, { hasMark }));
  return entry === null ? undefined : { entry };
}

/** Text of a saved file where it is another one than the editor was given; undefined where it differs in line ends alone. */
function formattedText(given: string | null, shown: HermesWriteResult["shown"]): string | undefined {
  if (given === null || shown === undefined || shown.text === null || !shown.isSaved) return undefined;
  const { text } = shown;
  return text.replaceAll("\r\n", "\n") === withoutMark(given).replaceAll("\r\n", "\n") ? undefined : text;
}

/** The same for all kinds of line ends, and with or without the last one: some clients give those of their own. */
function hashOf(text: string): string {
  return hash("sha256", withoutLastEnd(text), "base64");
}

const LINE_END = /\r?\n/;

/** Clients differ in the newline after the last line of a part. */
function withoutLastEnd(text: string): string {
  return text.replaceAll("\r\n", "\n").replace(/\n$/, "");
}
