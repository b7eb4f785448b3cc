/** Classifies an error of a wire as a fault. */
import { type ErrorDetails, FROM_PROVIDER, readErrorDetails } from "./error-details.ts";
import type { Fault, FaultKind } from "./fault.ts";
import { keyAdvice } from "./fault-message.ts";
import { faultMessage } from "./fault-sentence.ts";
import type { ModelRequest } from "./wire/wire.ts";

/** Never throws. The message contains no key. */
export function classify(error: unknown, { endpoint, model }: Pick<ModelRequest, "endpoint" | "model">): Fault {
  const signs = readErrorDetails(error, Date.now());
  const { status, retryAfterMs, detail } = signs;
  const { kind, parameter } = kindOf(signs);
  const shouldRetry = signs.shouldRetry ?? (isFinal(kind, signs) ? false : undefined);
  const limits = kind === "output-limit" ? tokensIn(signs.text) : windowsIn(signs.text);
  // A limit per minute is no window.
  const isRate = status === 429 || /rate_limit/.test(signs.codes);
  const isAboutLimit = kind === "output-limit" || (kind === "context-overflow" && !isRate);
  return {
    kind,
    message: faultMessage({ kind, endpoint, model, status, retryAfterMs, detail }),
    ...(status !== undefined && { status }),
    ...(retryAfterMs !== undefined && { retryAfterMs }),
    ...(shouldRetry !== undefined && { shouldRetry }),
    ...(isAboutLimit && limits.length > 0 && { limits }),
    ...(parameter !== undefined && { parameter }),
    ...(kind === "authentication" && { keyFor: endpoint.provider, keyAdvice: keyAdvice(endpoint.provider) }),
  };
}

function kindOf(signs: ErrorDetails): { readonly kind: FaultKind; readonly parameter?: string | undefined } {
  const kind = faultKindOf(signs);
  const isUnclear = kind === "unsupported-parameter" || (kind === "bad-request" && signs.status !== undefined);
  const parameter = isUnclear ? refusedParameter(signs) : undefined;
  if (parameter !== undefined) return { kind: "unsupported-parameter", parameter };
  if (kind !== "unsupported-parameter") return { kind };
  // Words about a parameter that name none of the request.
  return { kind: LONG_INPUT.test(signs.text) ? "context-overflow" : "bad-request" };
}

/** Smaller and larger numbers in a text are none of tokens. */
const FEWEST_TOKENS = 256;
const MOST_TOKENS = 100_000_000;

function tokensIn(text: string): readonly number[] {
  const found = [...text.matchAll(/(?<![\w.-])(?:\d{1,3}(?:,\d{3})+|\d+)(?![\w.-]*\w)/g)];
  return found.map(([digits]) => Number(digits.replaceAll(",", ""))).filter((tokens) => tokens >= FEWEST_TOKENS);
}

/** The smallest number that stands at a word for a limit: the other ones are about the request. */
function windowsIn(text: string): readonly number[] {
  const named = [...text.matchAll(AT_LIMIT)].flatMap(([, after = "", before = ""]) => tokensIn(after + before));
  return named.toSorted((first, second) => first - second).slice(0, 1);
}

/** "maximum context length is 8192", "limit: 8192", "9000 > 8192", "[1, 8192]", "with 8192 maximum context length". */
const AT_LIMIT =
  /(?:maximum|max|limit|context|exceed(?:s|ed)?|at most|less than|up to|allowed|<=|>|超过|最大|上限|\[\d+,)[^\d<>]{0,50}?(?<![\w.-])(\d[\d,]*)(?![\w.-]*\w)|(?<![\w.-])(\d[\d,]*)(?: tokens?)? (?:maximum|max|limit)/gi;

/** Time does not change it. */
function isFinal(kind: FaultKind, { codes, text, retryAfterMs }: ErrorDetails): boolean {
  if (kind !== "rate-limit" || retryAfterMs !== undefined || PASSING.test(text)) return UNTRUSTED.test(codes);
  return text.split(/[.!?]\s|\n/).some((sentence) => LONG_LIMIT.test(sentence) && REACHED.test(sentence));
}

/** Codes of a certificate that is not trusted. */
const UNTRUSTED = /CERT|SELF_SIGNED|UNABLE_TO_VERIFY/;

/** Parameters that every request needs. */
const NEEDED = new Set(["model", "messages", "input", "stream", "tools", "instructions", "system"]);

/** The optional parameter of the request that a refusal names first: `reasoning` for `reasoning.effort`. Undefined when it names none. */
function refusedParameter({ parameter, text: whole, sent }: ErrorDetails): string | undefined {
  const [text = ""] = whole.split(ECHO, 1);
  if (text.includes("cache_control")) return "cache_control"; // the mark of a block
  const head = parameter?.split(/[.[]/, 1)[0];
  if (NEEDED.has(head ?? "") || PART.test(text)) return undefined;
  const optional = sent.filter((name) => !NEEDED.has(name));
  // The limit of an answer is often only compared with another parameter.
  const place = (name: string) => text.search(mentionOf(name)) + (/^max_/.test(name) ? text.length : 0);
  const named = optional.filter((name) => mentionOf(name).test(text)).toSorted((a, b) => place(a) - place(b));
  return optional.find((name) => name === head) ?? named[0];
}

/** The request behind its refusal, as pydantic and LiteLLM quote it. */
const ECHO = /['"]input['"]\s*:|optional_params|\breceived (?:params|model group)\b/i;
/** Refusals of a message, of the schema of a tool, or of one of their parts; and of a model by its name. */
const PART =
  /\bmessages\b|\bmessage \S|\broles?\b|\b(?:tools|function_?declarations|input|contents)\W{1,4}\d|\b(?:function|tool) ['"`]|['"`]properties|properties[.[]|\w['"`]? (?:item|block)s?\b|system memory/i;

/** "Reasoning effort", "presencePenalty" and, at Ollama, "thinking" are parameters, too; a part of a message is none. */
function mentionOf(name: string): RegExp {
  const words = name.replaceAll("_", "[_ -]?") + (name === "reasoning_effort" ? `|${THINKING}` : "");
  const whole = `(?<!\\w|(?:\\]|\\d|assistant|user)\\.)(?:${words})(?!\\w)`;
  // A plain word needs a sign that it is a name.
  const refused = "(?:invalid|support\\w*|unknown|unrecognized|unexpected|parameter|argument|field|supplied)";
  const before = `(?:['"\`]|${refused}:? |${refused}[^:\\n]{0,40}: (?=\\w+\\W*$))`;
  const after = "(?:['\"`:.]| (?:is|must|may|can|should|does|was)\\b)";
  return new RegExp(name.includes("_") ? whole : `${before}${whole}|${whole}${after}`, "im");
}

const THINKING = "(?<=support\\w* |in )thinking|thinking(?=[ _](?:level|budget))";

type Rule = {
  /** HTTP status. Absent: only errors without a status match. */
  readonly status?: (status: number) => boolean;
  /** Matched against names and codes. */
  readonly codes?: RegExp;
  /** Matched against all texts. */
  readonly text?: Pick<RegExp, "test">;
  /** Matched against names, codes and texts. */
  readonly words?: RegExp;
  readonly kind: FaultKind;
};

/** Gemini has a limit of 0 for models outside of its free tier, and yet names a delay; Volcengine pauses a model at a limit. */
const NEVER_FREE =
  /free_tier_\w+, limit: 0(?!\.?\d)|\blimit\b.{0,60}has been paused|(?:free tier.{0,30}exhausted|extra usage is required)(?![\s\S]*(?:again|retry|wait))/i;
const BILLING =
  /insufficient.{0,12}(quota|credit|balance|fund)|balance.{0,12}insufficient|exceeded your current quota|out of credits|credit balance|billing|payment required|(spending|key|budget) limit|specified API usage limits|余额不足|欠费/i;
/** A limit that no wait within a turn outlasts, and words of the sentence that says that it is reached. */
const LONG_LIMIT = /\b(?:per|a|this)[ -](?:day|week|month)\b|\b(?:daily|weekly|monthly)\b/i;
const REACHED = /exceed|reach|exhaust|too many|\b(?:hit|used|over|out of)\b/i;
/** A short span, or a state that passes. */
const PASSING = /\b(?:per|an?|each|every|this)[ -](?:sec|min|hour)|\b(?:hourly|slow|busy|load|(?<!on[ -])demand)\b/i;
/** "Usage limit reached, try again at …" is a temporary limit, not a bill. */
const TEMPORARY = /try again|resets? (at|in)|(retry|again) (after|in)|per (second|minute|hour|day)/i;
const OVERLOADED = /overloaded|over capacity|at capacity|no available (capacity|server|worker)/i;
/** LM Studio and others load a model at its first request. One whose loading failed stays away. */
const LOADING =
  /^(?!.*(?:fail|error)\w*(?![\w:]))(?:.*\b(?:model|server|weights)\b.{0,30} (?:(?:is|are) (?!not?\b).{0,12}(?:loading|starting|warming)|(?<!\bnot )being loaded)\b|loading model)(?!.*(?:fail|error))/im;
/** A gateway passes a failure behind it on as a refusal; LM Studio names a model that it has unloaded. */
const BEHIND =
  /upstream request (?:failed|timed? ?out)|connection (?:reset|timeout|termination)|model (?:has )?(?:been )?(?:unloaded|crashed)|failed dependency/i;
const PARAMETER =
  /(unsupported|unknown|unrecognized|invalid|unexpected).{0,20}(parameter|field|argument|value)|extra inputs are not permitted|is (deprecated|not supported) (for|with|by) this model|not support(ed)? (the |this )?(following )?parameter|not support the .{1,30} parameter|(argument|parameter)s? not supported|cannot both be/i;
/** Signed or encrypted reasoning of earlier answers, or a reasoning item without its neighbour. */
const REASONING =
  /thinking.{0,80}(signature|cannot be modified|must remain as they were)|signature.{0,40}thinking|encrypted.{0,20}content.{0,60}(invalid|could not|failed)|of type 'reasoning'.{0,60}without its required|without its required 'reasoning'|reasoning input items|not persisted when .?store|expected .{0,4}thinking.{0,60}found/i;
/** DeepSeek's and Kimi's refusal of calls without reasoning, directly or through a gateway. */
const NO_REASONING = /missing.{0,4}reasoning_content|reasoning_content.{0,60}(is missing|must be passed back)/i;
/** A server refuses a field that it sent itself: DeepSeek's R1, and gateways in front of strict servers. */
const OWN_FIELD =
  /(remove|extra inputs|unknown|unrecognized|unexpected|not permitted|not supported).{0,80}(reasoning_(content|details)|extra_content)\b|messages?\W.{0,40}(reasoning|extra_content).{0,60}(not permitted|not supported|unsupported|unknown|unexpected)/i;
/** Ollama ("does not support tools"), vLLM, llama.cpp ("tools param requires --jinja"), OpenRouter ("support tool use"), Gemini. */
const NO_TOOLS =
  /(not|n't) support.{0,24}(\btools?\b|function)|support tool use|(tool|function) call(s|ing)?.{0,20}not (supported|enabled)|['"`]tools['"`] is not supported|--enable-auto-tool-choice|requires --jinja/i;
const NO_VISION =
  /(not|n't) support.{0,24}(image|vision|multimodal)|support image input|image_url.{0,40}(not|only).{0,24}support/i;
const IMAGE =
  /images?.{0,40}(not supported|unsupported|not allowed|is invalid|could not be (processed|decoded)|too large|exceeds?\b)|at most \d+ images?|valid (jpe?g|png|image)|could not process image/i;
/**
 * Sources beside OpenAI and Anthropic: Kimi ("exceeded model token limit"), GLM ("Prompt exceeds max length", "tokens in
 * request more than max tokens allowed"), DashScope ("Range of input length should be"), xAI ("maximum prompt length"), TGI ("must have
 * less than 4096 tokens"), vLLM ("max_model_len"), and the Chinese texts of these.
 */
const OVERFLOW =
  /context.{0,30}(length|window|limit|size)|maximum (context|prompt|input)|token count.{0,40}supports up to|(prompt|input|request).{0,20}(is )?too (long|large)|too many (input )?tokens|exceed(s|ed)?.{0,30}(tokens?|context|limit|length)|reduce the length|tokens? .{0,20}more than max|input (token )?length|less than [\d,]+ tokens|over the (model|context|token) limit|tokens? (of [\d,]+ )?exceeded|max_(model_len|seq_len|num_tokens)|`inputs` tokens|(输入|上下文|长度|tokens?).{0,20}(超过|超出|超长|过长)|(超过|超出).{0,20}(长度|上限|限制)/i;
/** The whole input, beside words that also refuse a tool, a message or a parameter. */
const LONG_INPUT =
  /(?<!["'\w])(?:input|prompt) (?:(?:length|tokens?)\b|\([\d,]+ tokens\)|is too long)|message token length/i;
const NO_MODEL =
  /model.{0,80}(not (be )?found|does not exist|not exist|unknown|no longer available|not supported|not available)|(unknown|invalid|no such) model|no endpoints found|no models? loaded/i;
/** Anthropic's whole message about an unknown model. */
const NAMED_MODEL = /^model: \S/im;
const BAD_KEY =
  /(invalid|incorrect|expired|missing|malformed).{0,20}(api.?key|credential|token)|api.?key not valid|unauthori[sz]ed/i;
/**
 * Sources: Azure ("content management policy"), DashScope ("data_inspection_failed", "inappropriate content"), Zhipu (1301,
 * in Chinese), DeepSeek ("Content Exists Risk"), MiniMax ("input new_sensitive"), Volcengine ("SensitiveContentDetected"),
 * Gemini ("PROHIBITED_CONTENT"), Anthropic ("blocked by content filtering policy"), OpenAI ("potentially violating our usage
 * policy"), OpenRouter ("your input was flagged"), xAI ("violates usage guidelines"), Moonshot ("considered high risk").
 */
const FILTERED =
  /content.{0,12}(filter|polic|moderation|exists risk|safety)|data.?inspection|responsible.?ai|usage (polic|guideline)|(input|prompt|content|request|response|output)[^.]{0,40}(flagged|blocked|high risk|filtered|rejected)|(inappropriate|sensitive|unsafe|harmful|prohibited)[ _]?content|safety system|(safety|guardrail|moderation)[^.]{0,40}(flagged|blocked|violat|rejected)|new_sensitive|敏感|违规|不安全|风险/i;
/** llama.cpp and Ollama answer 500 where the model's template refuses a message, and quote the template. */
const INVALID_REQUEST =
  /invalid_request|validation error|unprocessable|jinja|chat template|raise_exception|\{[%{]|at row \d+, column \d|roles? .{0,40}(alternate|supported)/i;

/** "Requested 36278", "request of 42,000 tokens", "Your prompt has 42000 tokens". */
const ASKED_TOKENS =
  /\b(?:requested|request|prompt|input)(?: (?:tokens?|length|size|of|has|had|is|was|with|contains|needs|about))*:? ([\d,]+)/gi;
/** "tokens per min (TPM): Limit 30000", "a limit of 30,000 input tokens". */
const TOKEN_LIMIT =
  /\btokens?\b[^.\d]{0,30}\blimit\b[^.,;\d]{0,6}([\d,]+)|\b(?:limit|max|maximum|exceeds?|at most|up to)\b[^.\d]{0,20}([\d,]+) (?:\w+ )?tokens/gi;

/** A request that a limit of tokens per minute can never admit. One that other requests have spent passes. */
const NEVER_FITS: Rule["text"] = {
  test(text) {
    const limits = [...text.matchAll(TOKEN_LIMIT)].flatMap(([, after = "", before = ""]) => tokensIn(after + before));
    const asked = [...text.matchAll(ASKED_TOKENS)].flatMap(([, tokens = ""]) => tokensIn(tokens));
    return TOO_LARGE.test(text) || asked.some((tokens) => tokens > Math.min(...limits) && tokens < MOST_TOKENS);
  },
};
/** Neither a queue nor a time is too long for good. */
const TOO_LARGE =
  /\b(?:request|prompt|body|input|messages?)\b(?:(?!\b(?:queue|rate|took|takes|wait\w*)\b)[^.]){0,40}?\btoo (?:long|large)/i;

/** "Range of max_tokens should be [1, 8192]": the limit of the answer, and not its parameter, is refused. */
const OUTPUT_LIMIT: Rule["text"] = {
  test: (text) =>
    /max_?(?:completion_|output_|new_)?tokens|maximum tokens you requested/i.test(text) &&
    tokensIn(text).length > 0 &&
    !/(?:unsupported|unknown|unrecognized) (?:parameter|argument|field)|not supported|instead|context (?:limit|length|window)/i.test(
      text,
    ),
};

const is =
  (...codes: readonly number[]) =>
  (status: number): boolean =>
    codes.includes(status);

const rules: readonly Rule[] = [
  { status: is(429), text: NEVER_FITS, kind: "context-overflow" },
  { codes: /rate_limit/, text: NEVER_FITS, kind: "context-overflow" },
  { status: is(400, 404, 422, 500), text: LOADING, kind: "overloaded" },
  { status: is(400, 403, 422, 451, 500), words: FILTERED, kind: "filtered" },
  { status: is(451), kind: "filtered" },
  { status: is(403, 429), text: NEVER_FREE, kind: "billing" },
  { status: is(402), text: TEMPORARY, kind: "rate-limit" },
  { status: is(402), kind: "billing" },
  { status: is(401), kind: "authentication" },
  { status: is(403, 404), text: BILLING, kind: "billing" },
  { status: is(403), kind: "authentication" },
  { status: is(400, 404, 422, 500, 501), text: NO_TOOLS, kind: "no-tools" },
  { status: is(404), text: NO_VISION, kind: "no-vision" },
  { status: is(404), text: IMAGE, kind: "image-rejected" },
  { status: is(400, 404, 422), codes: /model_not_found/, kind: "model-not-found" },
  { status: is(404), text: NO_MODEL, kind: "model-not-found" },
  { status: is(404), codes: /not_found_error/, text: NAMED_MODEL, kind: "model-not-found" },
  { status: is(404), kind: "unknown" },
  // Groq refuses the answer of its own model: the call in it could not be read. One that it does not allow stays refused.
  { status: is(400), codes: /tool_use_failed/, text: /^(?!.*tool choice is none)/is, kind: "unread-call" },
  { status: is(408, 504), kind: "timeout" },
  { status: is(409), kind: "server" },
  { status: is(413), kind: "context-overflow" },
  { status: is(429), codes: /insufficient_quota/, kind: "billing" },
  { status: is(429), text: OVERLOADED, kind: "overloaded" },
  { status: is(429), text: TEMPORARY, kind: "rate-limit" },
  { status: is(429), text: BILLING, kind: "billing" },
  { status: is(429), kind: "rate-limit" },
  { status: is(400, 422), text: NO_REASONING, kind: "reasoning-missing" },
  { status: is(400, 422), text: REASONING, kind: "reasoning-rejected" },
  { status: is(400, 422), text: OWN_FIELD, kind: "reasoning-rejected" },
  { status: is(400, 422), codes: /invalid_encrypted_content/, kind: "reasoning-rejected" },
  { status: is(400, 415, 422), text: NO_VISION, kind: "no-vision" },
  { status: is(400, 415, 422), text: IMAGE, kind: "image-rejected" },
  { status: is(400, 422), codes: /unsupported_(parameter|value)|unknown_parameter/, kind: "unsupported-parameter" },
  { status: is(400, 422), codes: /context_length_exceeded/, kind: "context-overflow" },
  { status: is(400, 422), text: OUTPUT_LIMIT, kind: "output-limit" },
  // Before the overflow rule for texts, because both kinds of text mention "max_tokens".
  { status: is(400, 422), text: PARAMETER, kind: "unsupported-parameter" },
  { status: is(400, 422), text: OVERFLOW, kind: "context-overflow" },
  { status: is(400, 422), text: NO_MODEL, kind: "model-not-found" },
  { status: is(400, 422), text: BAD_KEY, kind: "authentication" },
  { status: is(400, 422), text: BILLING, kind: "billing" },
  { status: is(400, 424, 499), text: BEHIND, kind: "server" },
  { status: is(500, 502), text: INVALID_REQUEST, kind: "bad-request" },
  { status: is(500, 502), text: OVERFLOW, kind: "context-overflow" },
  { status: is(503, 529), kind: "overloaded" },
  { status: (status) => status >= 500, kind: "server" },
  { status: (status) => status >= 400, kind: "bad-request" },

  { codes: /insufficient_quota|billing/, kind: "billing" },
  { codes: /context_length_exceeded|request_too_large/, kind: "context-overflow" },
  // A failed response names the rejected part of the request. The same request would fail again.
  { codes: /image/, kind: "image-rejected" },
  { words: FILTERED, kind: "filtered" },
  { codes: /invalid_prompt|bio_policy|data_residency/, kind: "bad-request" },
  { codes: /rate_limit/, kind: "rate-limit" },
  { codes: /overloaded/, kind: "overloaded" },
  { codes: /invalid_api_key|authentication_error|permission_error/, kind: "authentication" },
  { codes: /model_not_found/, kind: "model-not-found" },
  { codes: /not_found_error/, text: NAMED_MODEL, kind: "model-not-found" },
  { codes: /server_error|api_error/, kind: "server" },
  { codes: /SyntaxError|ZodError/, kind: "malformed" },
  { codes: /invalid_request/, text: OVERFLOW, kind: "context-overflow" },
  { codes: /invalid_request/, kind: "bad-request" },
  { codes: /Timeout|ETIMEDOUT|TIMEOUT|timeout_error/, kind: "timeout" },
  // Node's error for an incomplete body. Its cause may be any network code.
  { text: /^(terminated|premature close|aborted)$/im, kind: "cut-off" },
  // Errors of our own fetch that another attempt would meet again.
  { codes: /ERR_REDIRECT|ERR_PROXY_AUTHENTICATION/, kind: "bad-request" },
  {
    codes: /\b(ERR_PROXY|E(CONN\w+|NOTFOUND|AI_AGAIN|PIPE|NETUNREACH|HOSTUNREACH|PROTO)|UND_ERR_\w+)\b/,
    kind: "network",
  },
  { codes: /CERT|SELF_SIGNED|UNABLE_TO_VERIFY|ERR_(TLS|SSL)/, kind: "network" },
  { text: OVERLOADED, kind: "overloaded" },
  { text: /server_error/, kind: "server" },
  { text: OVERFLOW, kind: "context-overflow" },
  { text: /rate limit|too many requests/i, kind: "rate-limit" },
  { text: BILLING, kind: "billing" },
  { text: /connection error|fetch failed|socket hang up|network/i, kind: "network" },
  { text: /timed? ?out/i, kind: "timeout" },
  { text: BAD_KEY, kind: "authentication" },
  { text: NO_MODEL, kind: "model-not-found" },
  { words: /AbortError|request was aborted/i, kind: "cut-off" },
  { codes: new RegExp(FROM_PROVIDER), kind: "unexplained" },
];

/** Returns `unknown` when no rule matches. */
export function faultKindOf(signs: ErrorDetails): FaultKind {
  return rules.find((rule) => fits(rule, signs))?.kind ?? "unknown";
}

function fits({ status, codes, text, words }: Rule, signs: ErrorDetails): boolean {
  if ((status === undefined) !== (signs.status === undefined)) return false;
  if (signs.status !== undefined && !status?.(signs.status)) return false;
  const isSaid = words === undefined || words.test(signs.codes) || words.test(signs.text);
  return isSaid && (codes?.test(signs.codes) ?? true) && (text?.test(signs.text) ?? true);
}
