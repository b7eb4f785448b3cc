/** Which parameter of the request a provider did not take, as far as it says so. */
import type { ErrorSigns } from "./error-signs.ts";

/** What providers write around the name, each with the name as its group. */
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

/** Without these there is no request. */
const NEEDED: ReadonlySet<string> = new Set([
  "model",
  "messages",
  "input",
  "stream",
  "tools",
  "instructions",
  "system",
]);

/** The top-level name, `reasoning` for `reasoning.effort`; undefined when nothing could be left out. */
export function refusedParameter({ parameter, text }: Pick<ErrorSigns, "parameter" | "text">): string | undefined {
  const named = parameter ?? SENTENCES.map((sentence) => sentence.exec(text)?.[1]).find(Boolean);
  const name = named?.split(/[.[]/, 1)[0];
  return name === undefined || name === "" || NEEDED.has(name) ? undefined : name;
}
