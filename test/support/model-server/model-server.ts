/** An HTTP server that speaks models' wire formats. Only its answers are scripted, everything else is real. */
import { once } from "node:events";
import {
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from "node:http";
import type { AddressInfo } from "node:net";
import type { Answer, Part, StatusAnswer } from "./answer.ts";
import { anthropicMessagesFormat } from "./anthropic-messages-format.ts";
import { chatCompletionsFormat } from "./chat-completions-format.ts";
import { codexResponsesFormat } from "./codex-responses-format.ts";
import type { Format } from "./format.ts";
import { pieces } from "./pieces.ts";
import { respond, respondStatus } from "./respond.ts";

type ReceivedRequest = {
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: { readonly messages: readonly Record<string, unknown>[]; readonly [key: string]: unknown };
  /** `performance.now()` at the request's arrival. */
  readonly at: number;
  /** The client's port: the same for requests over one connection. */
  readonly port: number | undefined;
  /** Resolves when this request is answered or aborted. */
  readonly closed: Promise<void>;
  /** `performance.now()` at the end of the answer; 0 before. */
  readonly answer: { readonly writtenAt: number };
};

export type ModelServer = {
  /** Ends in `/v1`. */
  readonly baseUrl: string;
  readonly requests: readonly ReceivedRequest[];
  /** Adds answers, one per request. A request without an answer gets an error that names it. */
  script(...answers: readonly Answer[]): void;
  /** Answers every request for which no scripted answer is left. */
  respondWith(answer: (body: ReceivedRequest["body"]) => Answer): void;
  /** Forgets the requests so far. */
  forget(): void;
  /** Answers to look-ups, by the end of their paths; the last match wins. Look-ups are not among `requests`. */
  readonly lookUps: Map<string, unknown>;
  /** Look-ups in order of arrival. */
  readonly lookedUp: readonly Pick<ReceivedRequest, "url" | "headers">[];
  /** Calls `listener` when an answer falls silent; `closed` resolves when its client leaves. */
  onSilence(listener: (closed: Promise<void>) => void): void;
  /** Resolves with the next request. */
  nextRequest(): Promise<ReceivedRequest>;
  stop(): Promise<void>;
};

const formats: readonly Format[] = [chatCompletionsFormat, codexResponsesFormat, anthropicMessagesFormat];

/** Default answers to look-ups. */
const LOOK_UPS: readonly (readonly [string, unknown])[] = [["/models", { data: [{ id: "test-model" }] }]];

export async function startModelServer(port = 0): Promise<ModelServer> {
  const requests: ReceivedRequest[] = [];
  const answers: Answer[] = [];
  const waiting: ((request: ReceivedRequest) => void)[] = [];
  let otherwise: (request: ReceivedRequest) => Answer = unexpected;
  let onSilence: (closed: Promise<void>) => void = () => undefined;
  const lookUps = new Map(LOOK_UPS);
  const lookedUp: Pick<ReceivedRequest, "url" | "headers">[] = [];
  const handle = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const { url = "", headers } = request;
    const lookUp = [...lookUps].findLast(([path]) => url.split("?")[0]?.endsWith(path));
    if (lookUp !== undefined) {
      lookedUp.push({ url, headers });
      return respondStatus(response, statusOf(lookUp[1]));
    }
    const received = await receive(request, response);
    requests.push(received);
    for (const resolve of waiting.splice(0)) resolve(received);
    const format = formats.find(({ path }) => received.url.endsWith(path));
    if (format === undefined) return respondStatus(response, fail(404, `no such path: ${received.url}`));
    const answer = answers.shift() ?? otherwise(received);
    if (await respond(response, answer, format.speaker(requests.length))) onSilence(received.closed);
  };
  const server = createServer((request, response) => {
    // A client may leave. Any other error must appear in the test.
    handle(request, response).catch(
      (error: unknown) => response.destroyed || respondStatus(response, fail(500, String(error))),
    );
  });
  server.listen(port, "127.0.0.1");
  await once(server, "listening");
  const { port: own } = server.address() as AddressInfo;
  return {
    baseUrl: `http://127.0.0.1:${own}/v1`,
    requests,
    lookUps,
    lookedUp,
    script: (...more) => void answers.push(...more),
    respondWith(answer) {
      otherwise = ({ body }) => answer(body);
    },
    forget: () => void requests.splice(0),
    onSilence(listener) {
      onSilence = listener;
    },
    nextRequest: () => new Promise((resolve) => waiting.push(resolve)),
    stop: () => stop(server),
  };
}

/** Answer to a look-up: a status made by `fail`, or JSON. */
function statusOf(answer: unknown): StatusAnswer {
  const isStatus = typeof answer === "object" && answer !== null && "status" in answer && "body" in answer;
  return isStatus ? (answer as StatusAnswer) : { status: 200, body: JSON.stringify(answer) };
}

/** Text in small pieces. */
function text(words: string): readonly Part[] {
  return pieces(words).map((piece) => ({ type: "text", text: piece }));
}

/** A whole answer in words. */
export function say(words: string): Answer {
  return { parts: text(words) };
}

export function call(name: string, input: unknown): Part {
  return { type: "call", name, input };
}

/** A whole answer that only calls tools. */
export function callTools(...calls: readonly Part[]): Answer {
  return { parts: calls };
}

/** An error as OpenAI writes it. */
export function fail(status: number, message: string, more: Readonly<Record<string, unknown>> = {}): StatusAnswer {
  return { status, body: JSON.stringify({ error: { message, ...more } }) };
}

export type Hold = {
  readonly part: Part;
  /** Settles when the server has sent everything before the part. */
  readonly reached: Promise<void>;
  release(): void;
};

/** Part at which the server waits until the test releases it. */
export function hold(): Hold {
  const released = Promise.withResolvers<void>();
  const reached = Promise.withResolvers<void>();
  return {
    part: { type: "wait", until: released.promise, reached: reached.resolve },
    reached: reached.promise,
    release: released.resolve,
  };
}

async function receive(request: IncomingMessage, response: ServerResponse): Promise<ReceivedRequest> {
  const closed = new Promise<void>((resolve) => response.once("close", () => resolve()));
  const answer = { writtenAt: 0 };
  response.once("finish", () => {
    answer.writtenAt = performance.now();
  });
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  const body = JSON.parse(Buffer.concat(chunks).toString("utf8") || "{}");
  const { url = "", headers } = request;
  return { url, headers, body, at: performance.now(), port: request.socket.remotePort, closed, answer };
}

function unexpected({ url, body }: ReceivedRequest): Answer {
  const last = JSON.stringify(body.messages?.at(-1) ?? null).slice(0, 300);
  return fail(400, `the model server has no answer left for ${url}; last message: ${last}`);
}

async function stop(server: Server): Promise<void> {
  const closed = once(server, "close");
  server.close();
  server.closeAllConnections();
  await closed;
}
