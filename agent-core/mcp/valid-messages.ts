/** Messages of servers, made valid before the library refuses them: null for what is left out, and forgotten fields. */
import {
  type FetchLike,
  type JSONRPCMessage,
  LATEST_PROTOCOL_VERSION,
  SUPPORTED_PROTOCOL_VERSIONS,
} from "@modelcontextprotocol/client";
import * as z from "zod";
import { httpFetch } from "../platform/http/http-fetch.ts";
import { parseJson } from "../platform/json.ts";
import { isMessage } from "./stdio-transport.ts";

/** Length of a server's error. Characters. */
const ERROR_CHARS = 2_000;

/** The library uses no members of a response that ours lacks. Messages in the response become valid before it reads them. */
export const ourFetch: FetchLike = async (url, { method, headers, body, signal } = {}) => {
  const init = { method, headers: new Headers(headers), signal, body: body == null ? undefined : String(body) };
  const response = await httpFetch(url, init);
  const { id }: { readonly id?: unknown } = Object(parseJson(String(body)));
  const asked = (written: unknown): unknown => written ?? id;
  const read = response.json.bind(response);
  response.json = async () => {
    const value = await read();
    const found = [value].flat();
    return found.every(isMessage) ? found.map((each) => validMessage(each, asked)) : value;
  };
  const type = response.headers.get("content-type") ?? "";
  if (type.includes("event-stream"))
    Object.defineProperty(response, "body", { value: response.body.pipeThrough(validEvents(asked)) });
  else if (response.ok && id !== undefined && !type.includes("html")) {
    const named = new Headers([...response.headers.entries()]);
    named.set("content-type", "application/json"); // servers forget it
    Object.defineProperty(response, "headers", { value: named });
  }
  return response as unknown as Response;
};

const BLANK_LINE = /\r?\n\r?\n|\r\r/;

/** Events of a stream, with one valid message each. The library drops all others, and a last one without a blank line. */
function validEvents(asked: (id: unknown) => unknown): TransformStream<Uint8Array, Uint8Array> {
  const [decoder, encoder] = [new TextDecoder(), new TextEncoder()];
  let parts: string[] = [];
  let tail = "";
  const bytes = (event: string): Uint8Array => encoder.encode(`${event}\n\n`);
  return new TransformStream({
    transform(chunk, out) {
      const text = decoder.decode(chunk, { stream: true });
      parts.push(text);
      const hasEnd = BLANK_LINE.test(tail + text);
      tail = (tail + text).slice(-3);
      if (!hasEnd) return;
      const blocks = parts.join("").split(BLANK_LINE);
      parts = [blocks.pop() ?? ""];
      for (const block of blocks) out.enqueue(bytes(validEvent(block, asked) ?? block));
    },
    flush(out) {
      const last = validEvent(parts.join(""), asked);
      // The library would resume the stream after an event that is cut off.
      if (last !== undefined) out.enqueue(bytes(last));
    },
  });
}

/** Undefined for a block without a whole message. */
function validEvent(block: string, asked: (id: unknown) => unknown): string | undefined {
  const lines = block.split(/\r\n|\r|\n/);
  const data = lines.filter((line) => line.startsWith("data:")).map((line) => line.slice(5));
  const found = [parseJson(data.join("\n"))].flat();
  if (found.length === 0 || !found.every(isMessage)) return undefined;
  const events = found.map((each) => `data: ${JSON.stringify(validMessage(each, asked))}`);
  return [...lines.filter((line) => /^(?:id|retry):/.test(line)), events.join("\n\n")].join("\n");
}

/** `askedId`: id of the request that a message with this id, and this error, answers. */
export function validMessage(
  message: JSONRPCMessage,
  askedId: (id: unknown, error: unknown) => unknown,
): JSONRPCMessage {
  if ("method" in message) return { ...message, jsonrpc: "2.0" };
  const { id, ...written }: Fields = { ...message };
  const { error, result } = written;
  // Servers write both members, with null for the one that does not apply.
  const outcome = error == null ? { result: validResult(result) } : { error: validError(error) };
  return { jsonrpc: "2.0", id: askedId(id, error), ...outcome } as JSONRPCMessage; // the library checks the id
}

function validError(error: unknown): object {
  const { code, message, data }: Fields = typeof error === "object" ? { ...error } : { message: String(error) };
  const detail = data === undefined ? "" : `: ${typeof data === "string" ? data : JSON.stringify(data)}`;
  const words = `${message || "the server gave no reason"}${detail}`.slice(0, ERROR_CHARS);
  return { code: Number.isInteger(code) ? code : -32_603, message: words, data };
}

/** A text or a list alone is the content of a tool's result. */
function validResult(written: unknown): object {
  if (typeof written !== "object" || Array.isArray(written)) return written === undefined ? {} : { content: written };
  const { _meta: meta, ...result }: Fields = { ...written };
  const valid = "protocolVersion" in result ? greetingSchema.parse(withoutNulls(result)) : result;
  return { ...valid, ...(typeof meta === "object" && meta && { _meta: meta }) };
}

/** The first answer of a server. A version that nobody knows is read as the newest. */
const greetingSchema = z.looseObject({
  protocolVersion: z.enum(SUPPORTED_PROTOCOL_VERSIONS).catch(LATEST_PROTOCOL_VERSION),
  capabilities: z.looseObject({}).catch({}),
  serverInfo: z
    .looseObject({ name: z.string().catch(""), version: z.string().catch("") })
    .catch({ name: "", version: "" }),
  instructions: z.string().optional().catch(undefined),
});

type Fields = Readonly<Record<string, unknown>>;

function withoutNulls(value: object): Fields {
  const entries = Object.entries(value).filter(([, each]) => each !== null);
  return Object.fromEntries(
    entries.map(([key, each]) => [key, typeof each === "object" && !Array.isArray(each) ? withoutNulls(each) : each]),
  );
}
