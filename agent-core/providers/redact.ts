/** Removes secrets from messages, logs and journals. */
import { decodedUrl } from "../platform/json.ts";

const MASK = "[key]";
/** Shorter keys are placeholders of local servers (`none`, `ollama`); masking them would hide ordinary words. */
export const SHORTEST_SECRET = 8;

/** Forms of keys: a known prefix, a JSON web token, an authorization header. */
const KEY_SHAPES: readonly RegExp[] = [
  // OpenAI, Anthropic, OpenRouter (also in its shortened form sk-ab***yz) and Stripe.
  /\b(?:sk|pk|rk)-[\w*.-]{6,}/g,
  /\b(?:xai|gsk|hf|nvapi|pplx|r8|tgp|csk|fw)[-_]\w{12,}/g,
  /\bgh[opusr]_\w{16,}|\bgithub_pat_\w{16,}|\bAIza[\w-]{16,}|\bAKIA[A-Z0-9]{12,}/g,
  /\beyJ[\w-]{8,}\.[\w-]{8,}(?:\.[\w-]*)?/g,
];

/** Names of secrets in headers, queries and JSON. Only the value is masked. */
const NAMED_SECRETS =
  /((?:authorization|api[-_]?key|x-api-key|access[-_]?token|secret|signature|sig|cookie|password)["']?\s*[:=]\s*["']?(?:(?:bearer|basic)\s+)?)[^\s"'&,;<>]{6,}/gi;
const BEARER = /\b(bearer\s+)[\w.~+/=-]{8,}/gi;
const URL_PASSWORD = /(\/\/)[^/\s:@]*:[^/\s@]+@/g;

/** Environment variables whose values are secrets. */
const SECRET_NAME = /(?:KEY|TOKEN|SECRET|PASSWORD|PASSWD|CREDENTIALS?)$/i;

export function secretsOf(environment: Readonly<Record<string, string | undefined>>): readonly string[] {
  return Object.entries(environment).flatMap(([name, value]) => (value && SECRET_NAME.test(name) ? [value] : []));
}

/** True for a text with a secret, or with something that looks like a key. */
export function holdsSecret(text: string, secrets: readonly string[]): boolean {
  const plain = decodedUrl(text);
  return redact(plain) !== plain || holdsValue(text, secrets);
}

/** True for a text with one of `secrets` or half of one, plain, backwards or in a common encoding. */
export function holdsValue(text: string, secrets: readonly string[]): boolean {
  const wanted = secrets
    .filter(({ length }) => length >= SHORTEST_SECRET)
    .flatMap((secret) => [secret, ...halvesOf(secret)])
    .flatMap((value) => [value, [...value].toReversed().join("")]);
  return wanted.length > 0 && formsOf(text).some((form) => wanted.some((value) => form.includes(value)));
}

function halvesOf(secret: string): readonly string[] {
  const half = Math.ceil(secret.length / 2);
  return half < SHORTEST_SECRET ? [] : [secret.slice(0, half), secret.slice(-half)];
}

/** Levels of percent signs that are decoded. */
const MAX_LEVELS = 3;
/** Runs of characters that may be hexadecimal or base64, and the characters that stand for one byte or three. */
const ENCODINGS = [
  { run: /[0-9a-f]{16,}/gi, group: 2, encoding: "hex" },
  { run: /[\w+/-]{11,}/g, group: 4, encoding: "base64" },
] as const;

/** The text without percent signs, its bytes in the other encodings from each place where a group may begin, and these without separators. */
function formsOf(text: string): readonly string[] {
  let plain = text;
  for (let level = 0; level < MAX_LEVELS; level += 1) plain = decodedUrl(plain);
  const texts = [plain, plain.replaceAll(/[^\w+/=-]+/g, "")];
  const decoded = texts.flatMap((each) =>
    ENCODINGS.flatMap(({ run, group, encoding }) =>
      (each.match(run) ?? []).flatMap((match) =>
        Array.from({ length: group }, (_, from) => Buffer.from(match.slice(from), encoding).toString("latin1")),
      ),
    ),
  );
  return [...texts, text, ...decoded];
}

/** Masks text that looks like a key, and every occurrence of `secrets`. */
export function redact(text: string, secrets: readonly (string | undefined)[] = []): string {
  let clean = text;
  for (const secret of secrets) {
    if (secret !== undefined && secret.length >= SHORTEST_SECRET) clean = clean.replaceAll(secret, MASK);
  }
  for (const shape of KEY_SHAPES) clean = clean.replace(shape, MASK);
  return clean
    .replace(NAMED_SECRETS, (match, name: string) => (match.endsWith(MASK) ? match : name + MASK))
    .replace(BEARER, `$1${MASK}`)
    .replace(URL_PASSWORD, "$1");
}
