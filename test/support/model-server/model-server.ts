/** An HTTP server that speaks OpenAI's streamed chat completions; its answers are scripted, everything else is real. */
import {
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from "node:http";
import type { AddressInfo } from "node:net";

export type Part =
  | { readonly type: "text"; readonly text: string }
  | { readonly type: "reasoning"; readonly text: string }
  /** A tool call, its arguments streamed in pieces of `pieces` characters. */
  | { readonly type: "call"; readonly name: string; readonly input: unknown; readonly raw?: string }
  /** Waits until the promise settles. */
  | { readonly type: "wait"; readonly until: Promise<unknown> }
  /** A raw event, as it stands. */
  | { readonly type: "raw"; readonly data: string }
  /** Destroys the connection. */
  | { readonly type: "cut" };

export type Answer =
  | { readonly parts: readonly Part[]; readonly finish?: string | null }
  | { readonly status: number; readonly body: string; readonly headers?: Readonly<Record<string, string>> };

export type ReceivedRequest = {
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: { readonly messages: readonly Record<string, unknown>[]; readonly [key: string]: unknown };
  /** `performance.now()` when the request had arrived. */
  readonly at: number;
};

export type ModelServer = {
  /** Ends in `/v1`. */
  readonly baseUrl: string;
  readonly requests: readonly ReceivedRequest[];
  /** `performance.now()` when each answer had been written. */
  readonly answered: readonly number[];
  /** Adds answers, one a request. */
  script(...answers: readonly Answer[]): void;
  /** Settles when the next request has arrived. */
  nextRequest(): Promise<ReceivedRequest>;
  stop(): Promise<void>;
};

const PIECE_CHARS = 7;

export function say(text: string): Answer {
  return { parts: (text.match(/[\s\S]{1,7}/g) ?? []).map((piece) => ({ type: "text", text: piece })) };
}

export function call(name: string, input: unknown): Part {
  return { type: "call", name, input };
}

export async function startModelServer(): Promise<ModelServer> {
  const requests: ReceivedRequest[] = [];
  const answered: number[] = [];
  const answers: Answer[] = [];
  const waiting: ((request: ReceivedRequest) => void)[] = [];
  const server = createServer((request, response) => {
    void receive(request).then(async (received) => {
      requests.push(received);
      for (const resolve of waiting.splice(0)) resolve(received);
      await respond(response, answers.shift() ?? unexpected(received), requests.length);
      answered.push(performance.now());
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    baseUrl: `http://127.0.0.1:${port}/v1`,
    requests,
    answered,
    script: (...more) => void answers.push(...more),
    nextRequest: () => new Promise((resolve) => waiting.push(resolve)),
    stop: () => stop(server),
  };
}

async function receive(request: IncomingMessage): Promise<ReceivedRequest> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  const body = JSON.parse(Buffer.concat(chunks).toString("utf8") || "{}");
  return { url: request.url ?? "", headers: request.headers, body, at: performance.now() };
}

function unexpected({ url, body }: ReceivedRequest): Answer {
  const last = JSON.stringify(body.messages.at(-1) ?? null).slice(0, 300);
  return { status: 400, body: JSON.stringify({ error: { message: `unscripted request to ${url}: ${last}` } }) };
}

async function respond(response: ServerResponse, answer: Answer, number: number): Promise<void> {
  if ("status" in answer) {
    response.writeHead(answer.status, { "content-type": "application/json", ...answer.headers }).end(answer.body);
    return;
  }
  response.writeHead(200, { "content-type": "text/event-stream" });
  const send = (delta: unknown, finish: string | null = null): void => {
    const chunk = {
      id: `c${number}`,
      object: "chat.completion.chunk",
      choices: [{ index: 0, delta, finish_reason: finish }],
    };
    response.write(`data: ${JSON.stringify(chunk)}\n\n`);
  };
  let calls = 0;
  for (const part of answer.parts) {
    if (part.type === "cut") {
      response.destroy();
      return;
    }
    await sendPart(part, { response, send, number, index: calls });
    if (part.type === "call") calls += 1;
  }
  if (answer.finish !== null) send({}, answer.finish ?? (calls > 0 ? "tool_calls" : "stop"));
  const usage = { prompt_tokens: 100, completion_tokens: 20, prompt_tokens_details: { cached_tokens: 60 } };
  response.write(`data: ${JSON.stringify({ choices: [], usage })}\n\n`);
  response.end(answer.finish === null ? undefined : "data: [DONE]\n\n");
}

type Outlet = {
  readonly response: ServerResponse;
  send(delta: unknown): void;
  readonly number: number;
  readonly index: number;
};

async function sendPart(
  part: Exclude<Part, { type: "cut" }>,
  { response, send, number, index }: Outlet,
): Promise<void> {
  switch (part.type) {
    case "wait":
      await part.until;
      return;
    case "raw":
      response.write(`data: ${part.data}\n\n`);
      return;
    case "text":
      send({ content: part.text });
      return;
    case "reasoning":
      send({ reasoning_content: part.text });
      return;
    case "call":
      sendCall(send, part, number, index);
      return;
  }
}

function sendCall(
  send: (delta: unknown) => void,
  { name, input, raw }: Extract<Part, { type: "call" }>,
  number: number,
  index: number,
): void {
  const start = { index, id: `call_${number}_${index}`, type: "function", function: { name, arguments: "" } };
  send({ tool_calls: [start] });
  const json = raw ?? JSON.stringify(input);
  for (let at = 0; at < json.length; at += PIECE_CHARS) {
    send({ tool_calls: [{ index, function: { arguments: json.slice(at, at + PIECE_CHARS) } }] });
  }
}

function stop(server: Server): Promise<void> {
  server.closeAllConnections();
  return new Promise((resolve) => server.close(() => resolve()));
}
