/** Sends one scripted answer over a real connection. */
import type { ServerResponse } from "node:http";
import type { Answer, Part, StreamedAnswer } from "./answer.ts";
import type { Speaker } from "./format.ts";

/** Resolves with true when the answer falls silent with the connection open. */
export async function respond(response: ServerResponse, answer: Answer, speaker: Speaker): Promise<boolean> {
  if ("silent" in answer) return true;
  if ("hangUp" in answer) response.destroy();
  else if ("status" in answer) respondStatus(response, answer);
  else {
    await stream(response, answer, speaker);
    return answer.parts.some(({ type }) => type === "stall");
  }
  return false;
}

export function respondStatus(
  response: ServerResponse,
  { status, body, headers }: Extract<Answer, { status: number }>,
): void {
  response.writeHead(status, { "content-type": "application/json", ...headers }).end(body);
}

async function stream(response: ServerResponse, answer: StreamedAnswer, speaker: Speaker): Promise<void> {
  response.writeHead(200, { "content-type": "text/event-stream", "cache-control": "no-cache" });
  response.flushHeaders();
  for (const bytes of speaker.begin(answer)) response.write(bytes);
  for (const part of answer.parts) if (!(await send(response, part, speaker))) return;
  if (answer.finish !== null) for (const bytes of speaker.end(answer)) response.write(bytes);
  response.end();
}

/** Resolves with false when the server sends no further part. */
async function send(response: ServerResponse, part: Part, speaker: Speaker): Promise<boolean> {
  switch (part.type) {
    case "wait":
      await flushed(response);
      part.reached?.();
      await part.until;
      return true;
    case "stall":
      return false;
    case "cut":
      await flushed(response);
      response.destroy();
      return false;
    case "raw":
      response.write(speaker.raw(part.data));
      return true;
    case "bytes":
      await new Promise((resolve) => response.write(part.bytes, resolve));
      return true;
    case "text":
    case "reasoning":
    case "refusal":
    case "call":
      for (const bytes of speaker.speak(part)) response.write(bytes);
      return true;
  }
}

/** Resolves once everything written so far is sent. Every reader of the stream ignores the comment. */
function flushed(response: ServerResponse): Promise<void> {
  return new Promise((resolve) => response.write(":\n", () => resolve()));
}
