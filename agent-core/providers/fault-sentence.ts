/** A fault as one line for people: what happened, to what, what to do. The only place that words them. */
import { keyVariableOf } from "./deployments.ts";
import type { FaultKind } from "./fault.ts";
import { redact } from "./redact.ts";
import type { Endpoint } from "./wire/wire.ts";

export type FaultFacts = {
  readonly kind: FaultKind;
  readonly endpoint: Endpoint;
  readonly model: string;
  readonly status?: number | undefined;
  readonly retryAfterMs?: number | undefined;
  /** The provider's own words; may hold anything. */
  readonly detail: string;
};

/** Longest part of a provider's own words that is shown. Characters. */
const DETAIL_CHARS = 240;

/** Never holds a key. */
export function faultSentence(facts: FaultFacts): string {
  const { endpoint, model, status } = facts;
  const who = redact(endpoint.provider, [endpoint.apiKey]);
  const code = status === undefined ? "" : ` (${status})`;
  const said = quotedDetail(facts);
  switch (facts.kind) {
    case "authentication":
      return endpoint.apiKey === undefined
        ? `${who} wants a key, and none is set${code}. ${keyAdvice(who)}`
        : `The key for ${who} was refused${code}. ${keyAdvice(who)}`;
    case "billing":
      return `${who} wants to be paid before it goes on${code}${said} Check the account, or choose another model.`;
    case "rate-limit":
      return `${who} limits how often ${model} may be asked${code}${said} Try again ${whenOf(facts)}.`;
    case "overloaded":
      return `${who} is overloaded${code}${said} Try again ${whenOf(facts)}, or choose another model.`;
    case "server":
      return `${who} failed with ${model}${code}${said} Try again, or choose another model.`;
    case "network":
      return `${who} cannot be reached${placeOf(endpoint)}${said} Check the address, the network, and that the server runs.`;
    case "timeout":
      return `${who} did not answer in time with ${model}${code}${said} Try again.`;
    case "cut-off":
      return `${who} broke off the answer of ${model} before its end${said} Send the message again.`;
    case "context-overflow":
      return `The conversation is too long for ${model} at ${who}${code}${said} Start a new session, or choose a model with a larger window.`;
    case "model-not-found":
      return `${who} has no model ${model}${code}${said} Choose another model.`;
    case "bad-request":
    case "unsupported-parameter":
    case "reasoning-rejected":
    case "image-rejected":
      return `${who} refused the request to ${model}${code}${said}`;
    case "empty":
      return `${model} at ${who} gave an empty answer. Send the message again, or choose another model.`;
    case "malformed":
      return `${who} answered for ${model} with something that cannot be read${said} Try again, or check the base URL.`;
    case "unknown":
      return `${who} could not be used with ${model}${code}${said} Check the base URL and the model, or try again.`;
  }
}

/** How a key for this provider is set. */
export function keyAdvice(provider: string): string {
  return `Set ${keyVariableOf(provider) ?? "HERMES_API_KEY"}, or run "Hermes: Set API Key" in VS Code.`;
}

/** `: detail.`, or just the full stop. */
function quotedDetail({ detail, endpoint }: FaultFacts): string {
  const line = redact(withoutMarkup(detail), [endpoint.apiKey]).replace(/\s+/g, " ").trim();
  const cut =
    line.length > DETAIL_CHARS ? `${line.slice(0, DETAIL_CHARS).toWellFormed()}…` : line.replace(/[.\s]+$/, "");
  return cut === "" ? "." : `: ${cut}.`;
}

/** Proxies answer with web pages: their title says what there is to say. */
function withoutMarkup(text: string): string {
  if (!/<(!doctype|html|head|body)\b/i.test(text)) return text;
  return /<title[^>]*>([^<]*)<\/title>/i.exec(text)?.[1] ?? "a web page";
}

function whenOf({ retryAfterMs }: FaultFacts): string {
  return retryAfterMs === undefined ? "in a while" : `in ${Math.max(1, Math.ceil(retryAfterMs / 1000))} s`;
}

function placeOf({ baseUrl }: Endpoint): string {
  return baseUrl !== undefined && URL.canParse(baseUrl) ? ` at ${new URL(baseUrl).origin}` : "";
}
