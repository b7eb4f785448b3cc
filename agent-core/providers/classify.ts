/** Classifies an error of a wire as a fault. */
import { type ErrorDetails, readErrorDetails } from "./error-details.ts";
import type { Fault } from "./fault.ts";
import { faultMessage } from "./fault-message.ts";
import { faultKindOf } from "./fault-rules.ts";
import type { ModelRequest } from "./wire/wire.ts";

/** Never throws. The message contains no key. */
export function classify(error: unknown, { endpoint, model }: Pick<ModelRequest, "endpoint" | "model">): Fault {
  const signs = readErrorDetails(error, Date.now());
  const { status, retryAfterMs, detail } = signs;
  const shouldRetry = UNTRUSTED.test(signs.codes) ? false : signs.shouldRetry;
  const known = faultKindOf(signs);
  const parameter = known === "unsupported-parameter" ? refusedParameter(signs) : undefined;
  const kind = known === "unsupported-parameter" && parameter === undefined ? "bad-request" : known;
  return {
    kind,
    message: faultMessage({ kind, endpoint, model, status, retryAfterMs, detail }),
    ...(status !== undefined && { status }),
    ...(retryAfterMs !== undefined && { retryAfterMs }),
    ...(shouldRetry !== undefined && { shouldRetry }),
    ...(parameter !== undefined && { parameter }),
  };
}

/** Codes of a certificate that is not trusted. Time does not change it. */
const UNTRUSTED = /CERT|SELF_SIGNED|UNABLE_TO_VERIFY/;

/** Fault of a stream without a last event, or of an empty answer. */
export function faultOf(
  kind: "cut-off" | "empty",
  { endpoint, model }: Pick<ModelRequest, "endpoint" | "model">,
): Fault {
  return { kind, message: faultMessage({ kind, endpoint, model, detail: "" }) };
}

/** Wordings of providers around a refused parameter. The first group is its name. */
const SENTENCES: readonly RegExp[] = [
  // OpenAI, Mistral, vLLM: Unsupported parameter: 'temperature' · Unknown parameter: 'x.y'
  /(?:unsupported|unknown|unrecognized|invalid|unexpected)[^'"`\n]{0,40}['"`]([\w.]+)['"`]/i,
  // Anthropic: temperature: Extra inputs are not permitted · messages.1.content: cache_control: Extra inputs …
  /^([\w.]+)(?:: [\w.]+)*: extra inputs are not permitted/im,
  // `temperature` is deprecated for this model · 'top_p' is not supported with this model
  /['"`]([\w.]+)['"`][^.\n]{0,40}(?:is|are) (?:not supported|not allowed|not permitted|deprecated|unsupported)/i,
  // does not support the "reasoning_effort" parameter · does not support parameters: ['logprobs']
  /(?:not|n't) support[^'"`\n]{0,40}['"`]([\w.]+)['"`]/i,
  /(?:unsupported|unknown|unrecognized) (?:parameter|argument|field)s?:? ([\w.]+)/i,
];

/** Parameters that every request needs. */
const NEEDED: ReadonlySet<string> = new Set([
  "model",
  "messages",
  "input",
  "stream",
  "tools",
  "instructions",
  "system",
]);

/** Compatible endpoints refuse the cache marks of blocks, which are no top-level parameter. */
const REFUSED_MARK = /cache_control\b.{0,40}(not permitted|not supported|unsupported|not allowed|unexpected|unknown)/i;

/** Top-level name of the refused parameter: `reasoning` for `reasoning.effort`. Undefined when none can be omitted. */
export function refusedParameter({ parameter, text }: Pick<ErrorDetails, "parameter" | "text">): string | undefined {
  if (REFUSED_MARK.test(text)) return "cache_control";
  const named = parameter ?? SENTENCES.map((sentence) => sentence.exec(text)?.[1]).find(Boolean);
  const name = named?.split(/[.[]/, 1)[0];
  return name === undefined || name === "" || NEEDED.has(name) ? undefined : name;
}
