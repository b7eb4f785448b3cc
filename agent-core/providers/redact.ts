/** Removes secrets from messages, logs and journals. */

const MASK = "[key]";
/** Shorter keys are placeholders of local servers (`none`, `ollama`); masking them would hide ordinary words. */
const SHORTEST_SECRET = 8;

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

/** Values of the environment's secrets. */
export function secretsOf(environment: Readonly<Record<string, string | undefined>>): readonly string[] {
  return Object.entries(environment).flatMap(([name, value]) => (value && SECRET_NAME.test(name) ? [value] : []));
}

/** True for a text with a secret, plain or in a common encoding, or with something that looks like a key. */
export function holdsSecret(text: string, secrets: readonly string[]): boolean {
  const plain = decodedUrl(text);
  return holdsValue(text, secrets) || holdsValue(plain, secrets) || redact(plain) !== plain;
}

/** True for a text with one of `secrets`, plain or in a common encoding. */
export function holdsValue(text: string, secrets: readonly string[]): boolean {
  const long = secrets.filter((secret) => secret.length >= SHORTEST_SECRET);
  const encoded = long.flatMap((secret) =>
    (["base64", "base64url", "hex"] as const).map((encoding) =>
      Buffer.from(secret).toString(encoding).replace(/=+$/, ""),
    ),
  );
  return [...long, ...encoded].some((secret) => text.includes(secret));
}

function decodedUrl(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text; // not URL-encoded
  }
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
