/** JSON-RPC messages as lines. An unusable line gets an error, and reading goes on. Small messages share one write. */
import { once } from "node:events";
import type { Writable } from "node:stream";
import type { AnyMessage } from "@zed-industries/agent-client-protocol";

const PARSE_ERROR = -32700;
const INVALID_REQUEST = -32600;
const NEWLINE = 0x0a;
/** Both ends of a skipped line are searched for its id. Bytes. */
const PROBED_BYTES = 1_024;
/** Deeper JSON overflows the stack of recursive checks; ACP's own messages have about ten levels. */
const MAX_DEPTH = 200;
const BYTES_PER_MB = 1_000_000;

export type IncomingOptions = {
  /** Limit of one line. Bytes. */
  readonly maxBytes: number;
  /** Sends an error for a line to the other side. */
  readonly reply: (message: AnyMessage) => void;
};

/**
 * Messages of `input`, in order. A response that cannot be used becomes an error response, so that its request fails.
 * Rejects with the error of `input`.
 */
export async function* incomingMessages(
  input: AsyncIterable<Uint8Array>,
  { maxBytes, reply }: IncomingOptions,
): AsyncGenerator<AnyMessage> {
  for await (const line of linesIn(input, maxBytes)) {
    const read = readLine(line, maxBytes);
    if (read === undefined) continue;
    if (read.ok) yield read.message;
    else if (read.isResponse) yield read.error;
    else reply(read.error);
  }
}

/** `bytes` is the whole line, or both ends of a line over the limit. */
type Line = { readonly bytes: Buffer; readonly tail: Buffer; readonly size: number };

async function* linesIn(input: AsyncIterable<Uint8Array>, maxBytes: number): AsyncGenerator<Line> {
  let parts: Buffer[] = [];
  let tail = Buffer.alloc(0);
  let size = 0;
  const add = (part: Buffer): void => {
    size += part.length;
    if (size <= maxBytes) parts.push(part);
    else {
      parts = [Buffer.concat(parts).subarray(0, PROBED_BYTES)];
      tail = Buffer.concat([tail, part.subarray(-PROBED_BYTES)]).subarray(-PROBED_BYTES);
    }
  };
  const take = (): Line => {
    const line = { bytes: parts.length === 1 && parts[0] ? parts[0] : Buffer.concat(parts), tail, size };
    [parts, tail, size] = [[], Buffer.alloc(0), 0];
    return line;
  };
  for await (const chunk of input) {
    const bytes = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
    let start = 0;
    for (let end = bytes.indexOf(NEWLINE); end >= 0; end = bytes.indexOf(NEWLINE, start)) {
      add(bytes.subarray(start, end));
      yield take();
      start = end + 1;
    }
    if (start < bytes.length) add(bytes.subarray(start));
  }
  if (size > 0) yield take();
}

type Refused = { readonly ok: false; readonly isResponse: boolean; readonly error: AnyMessage };
type Read = { readonly ok: true; readonly message: AnyMessage } | Refused;

/** Undefined for a blank line. */
function readLine({ bytes, tail, size }: Line, maxBytes: number): Read | undefined {
  if (size > maxBytes) {
    const [present, limit] = [size, maxBytes].map((count) => `${Math.ceil(count / BYTES_PER_MB)} MB`);
    return refuse(INVALID_REQUEST, `message too large (${present}, limit ${limit})`, bytes, tail);
  }
  const text = bytes.toString("utf8").trim();
  if (text === "") return undefined;
  try {
    const message: unknown = JSON.parse(text);
    // The connection checks the shape of an object, and looks for members in anything else, which throws.
    if (typeof message !== "object" || message === null)
      return refuse(INVALID_REQUEST, "message is not an object", bytes);
    if (isWithinDepth(message, MAX_DEPTH)) return { ok: true, message: message as AnyMessage };
    return refuse(INVALID_REQUEST, `message nested too deeply (limit ${MAX_DEPTH} levels)`, bytes);
  } catch (error) {
    return refuse(PARSE_ERROR, `message is not valid JSON: ${String(error).slice(0, PROBED_BYTES)}`, bytes);
  }
}

/** Members before `params`, `result` or `error`, and the name of that member. */
const HEAD = /^\s*\{((?:\s*"(?:jsonrpc|id|method)"\s*:\s*(?:"(?:[^"\\]|\\.)*"|-?\d+|null)\s*,?)*)\s*(?:"(\w+)")?/;
/** Members after them. */
const TAIL = /[}\]"\w]\s*((?:,\s*"(?:jsonrpc|id|method)"\s*:\s*(?:"(?:[^"\\]|\\.)*"|-?\d+|null)\s*)+)\}\s*$/;
const ID = /"id"\s*:\s*("(?:[^"\\]|\\.)*"|-?\d+)/;

/**
 * Finds the id in the text, because the line has no JSON value. The error of a request that is no JSON has none, as JSON-RPC says.
 * `tail`: end of the line, default: of `bytes`.
 */
function refuse(code: number, message: string, bytes: Buffer, tail: Buffer = bytes.subarray(-PROBED_BYTES)): Refused {
  const [, before = "", member] = HEAD.exec(bytes.toString("utf8", 0, PROBED_BYTES)) ?? [];
  const [, after = ""] = TAIL.exec(tail.toString("utf8")) ?? [];
  const found = ID.exec(before)?.[1] ?? ID.exec(after)?.[1];
  const id: string | number | null = found === undefined ? null : JSON.parse(found);
  const isResponse = id !== null && (member === "result" || member === "error");
  const answered = code === PARSE_ERROR && !isResponse ? null : id;
  return { ok: false, isResponse, error: { jsonrpc: "2.0", id: answered, error: { code, message } } };
}

function isWithinDepth(value: unknown, levels: number): boolean {
  if (typeof value !== "object" || value === null) return true;
  return levels > 0 && Object.values(value).every((member) => isWithinDepth(member, levels - 1));
}

export type GatheredOutput = {
  /** Writes a message as a line of JSON. Waits while the output is full, and rejects after the output failed. */
  send(message: AnyMessage): Promise<void>;
  /** Writes each message with `send`. */
  readonly messages: WritableStream<AnyMessage>;
  /** Resolves to the error when the output fails. */
  readonly failed: Promise<Error>;
};

export function gatheredOutput(output: Writable): GatheredOutput {
  let gathered = "";
  let failure: Error | undefined;
  const failed = new Promise<Error>((resolve) => output.once("error", resolve));
  output.on("error", (error) => {
    failure = error;
  });
  const flush = (): void => {
    const text = gathered;
    gathered = "";
    output.write(text);
  };
  const send = async (message: AnyMessage): Promise<void> => {
    if (failure !== undefined) throw failure;
    // Writes after the event loop has processed everything that arrived.
    if (gathered === "") setImmediate(flush);
    gathered += `${JSON.stringify(message)}\n`;
    if (output.writableNeedDrain) await once(output, "drain");
  };
  return { send, messages: new WritableStream<AnyMessage>({ write: send }), failed };
}
