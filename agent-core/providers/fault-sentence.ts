/** The sentence of a fault: what failed, on what, and what to do. Loaded with the first fault. */
import { isLoopback } from "../platform/http/network-settings.ts";
import { truncate } from "../platform/one-line.ts";
import type { FaultKind } from "./fault.ts";
import { durationText, endpointName, LARGER_WINDOW } from "./fault-message.ts";
import { redact } from "./redact.ts";
import type { Endpoint } from "./wire/wire.ts";

type FaultFacts = {
  readonly kind: FaultKind;
  readonly endpoint: Endpoint;
  readonly model: string;
  readonly status?: number | undefined;
  readonly retryAfterMs?: number | undefined;
  /** Text of the provider; may contain anything. */
  readonly detail: string;
};

/** Longest quote of a provider's text. Characters. */
const DETAIL_CHARS = 240;

/** Contains no key. */
export function faultMessage(facts: FaultFacts): string {
  const { endpoint, model, status } = facts;
  const who = redact(endpointName(endpoint), [endpoint.apiKey]);
  const code = status === undefined ? "" : ` (${status})`;
  const detail = quotedDetail(facts);
  const isAdvice = /\b(?:again|retry|wait|resets?)\b[^.]{0,30}\d/i.test(detail);
  const url = URL.parse(endpoint.baseUrl ?? "");
  const place = url === null || url.host === endpointName(endpoint) ? "" : ` at ${url.origin}`;
  switch (facts.kind) {
    case "authentication":
      return endpoint.apiKey === undefined
        ? `${who} needs a key, and none is set${code}.`
        : `The key for ${who} was refused${code}${status === 403 ? detail : "."}`;
    case "billing":
      return `${who} requires payment${code}${detail} Check the account, or choose another model.`;
    case "rate-limit":
      return `${who} limits requests to ${model}${code}${detail}${isAdvice ? "" : ` Try again ${whenOf(facts)}.`}`;
    case "overloaded":
      return `${who} is overloaded${code}${detail} Try again ${whenOf(facts)}, or choose another model.`;
    case "server":
    case "unexplained":
      return `${who} failed with ${model}${code}${detail} Try again, or choose another model.`;
    case "network":
      return `${who} cannot be reached${place}${detail} ${remedyOf(endpoint)}`;
    case "timeout":
      return `${who} did not answer in time with ${model}${code}${detail} Try again.`;
    case "cut-off":
      return `${who} cut off the answer of ${model}${detail} Send the message again.`;
    case "context-overflow":
      return `The conversation is too long for ${model} at ${who}${code}${detail} Start a new session, or ${isOnThisMachine(endpoint) ? LARGER_WINDOW : "choose a model with a larger window"}.`;
    case "model-not-found":
      return `${who} has no model ${model}${code}${detail} Choose another model.`;
    case "bad-request":
      return `${who} refused the request to ${model}${code}${detail} If it refuses each message, take the last one back with /undo, or choose another model.`;
    case "filtered":
      return `The content filter of ${who} refused the request to ${model}${code}${detail} Take your last message back with /undo, or put it another way.`;
    case "no-tools":
      return `${who} has no tool calls for ${model}${code}${detail} Choose a model with tools, or start the server with its parser: vLLM with --enable-auto-tool-choice and --tool-call-parser, llama.cpp with --jinja.`;
    case "output-limit":
      return `${who} allows shorter answers of ${model} alone${code}${detail} Lower max_tokens.`;
    case "unsupported-parameter":
    case "reasoning-rejected":
    case "reasoning-missing":
    case "image-rejected":
    case "no-vision":
      return `${who} refused the request to ${model}${code}${detail}`;
    case "empty":
      return `${model} at ${who} gave an empty answer. Send the message again, or choose another model.`;
    case "unread-call":
      return `${model} at ${who} wrote a tool call as text that could not be read. Send the message again, or choose another model.`;
    case "malformed":
      return `${who} sent an unreadable answer for ${model}${detail} Try again, or check the base URL.`;
    case "unknown":
      return `${who} failed with ${model}${code}${detail} Check the base URL and the model, or try again.`;
  }
}

/** `: detail.`, or the full stop alone. */
function quotedDetail({ detail, endpoint }: FaultFacts): string {
  const line = redact(withoutMarkup(detail), [endpoint.apiKey]).replace(/\s+/g, " ").trim();
  const cut = truncate(line.replace(/[.\s]+$/, ""), DETAIL_CHARS);
  return cut === "" ? "." : `: ${cut}.`;
}

/** A proxy may answer with a web page, whose title is its message. */
function withoutMarkup(text: string): string {
  if (!/<(!doctype|html|head|body)\b/i.test(text)) return text;
  return /<title[^>]*>([^<]*)<\/title>/i.exec(text)?.[1] ?? "a web page";
}

function whenOf({ retryAfterMs }: FaultFacts): string {
  return retryAfterMs === undefined ? "in a while" : `in ${durationText(Math.max(1, retryAfterMs))}`;
}

/** Most networks that need a proxy name it by a script, which is not read. */
function remedyOf(endpoint: Endpoint): string {
  if (isOnThisMachine(endpoint)) return "Check the address, and that the server runs.";
  return "Check the address, the network and the proxy: network.proxy, VS Code's http.proxy and HTTPS_PROXY are read, scripts that choose a proxy (PAC) are not.";
}

function isOnThisMachine({ baseUrl = "" }: Endpoint): boolean {
  return isLoopback(URL.parse(baseUrl)?.hostname ?? "");
}
