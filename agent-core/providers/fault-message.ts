/** Parts of the messages about faults: names, advice and times. */
import { type Environment, keyFile } from "../config/home.ts";
import { ANY_KEY, custom, keyVariableOf } from "./deployments.ts";
import type { Fault } from "./fault.ts";
import type { Endpoint } from "./wire/wire.ts";

/** Advice where a window is too small: the servers of this machine choose small ones. */
export const LARGER_WINDOW =
  "choose a model with a larger window. A server on this machine sets it: Ollama by OLLAMA_CONTEXT_LENGTH, LM Studio by the context length of the model, llama.cpp by --ctx-size";

/** Name of the provider; the host for an endpoint that has no name of its own. */
export function endpointName({ provider, baseUrl }: Pick<Endpoint, "provider" | "baseUrl">): string {
  const hasNoName = provider === custom.name && baseUrl !== undefined && URL.canParse(baseUrl);
  return hasNoName ? new URL(baseUrl).host : provider;
}

/** Advice for setting this provider's key. `environment`: that of the agent. */
export function keyAdvice(provider: string, environment: Environment = process.env): string {
  return `Set ${keyVariableOf(provider) ?? ANY_KEY} in the environment or in ${keyFile(environment)}.`;
}

/** Message of a fault or a refused setting, with the advice about its key. */
export function withKeyAdvice({ message, keyAdvice: advice }: Pick<Fault, "message" | "keyAdvice">): string {
  return advice === undefined || message.endsWith(advice) ? message : `${message} ${advice}`;
}

/** The message alone, for a client that has a button for the key. */
export function withoutKeyAdvice({ message, keyAdvice: advice }: Pick<Fault, "message" | "keyAdvice">): string {
  return advice !== undefined && message.endsWith(advice) ? message.slice(0, -advice.length).trimEnd() : message;
}

/** `70 s`, `10 min`, `4 min 31 s`, `5 h`, rounded up: a hint must not be cut short. */
export function durationText(ms: number): string {
  const seconds = Math.ceil(ms / 1_000);
  if (seconds < 120) return `${seconds} s`;
  const minutes = Math.floor(seconds / 60);
  const [first, second] =
    minutes < 120
      ? [`${minutes} min`, seconds % 60 > 0 ? ` ${seconds % 60} s` : ""]
      : [`${Math.floor(minutes / 60)} h`, minutes % 60 > 0 ? ` ${minutes % 60} min` : ""];
  return `${first}${second}`;
}

/** First sentence of a fault's message, without the advice. */
export function firstSentence(message: string): string {
  return /^.*?[.!?](?=\s[A-Z]|$)/.exec(message)?.[0] ?? message;
}
