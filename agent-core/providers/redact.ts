/** Keeps secrets out of messages, logs and journals. */

const SECRET_SHAPES =
  /\b(?:sk|pk|rk|xai|gsk|ghp|gho|ghs|github_pat|hf|AIza)[-_A-Za-z0-9]{12,}|\bBearer\s+[\w.~+/=-]{8,}|\beyJ[\w-]{10,}\.[\w-]{10,}\.[\w-]+/g;

/** Replaces what looks like a key, and every occurrence of the given secrets. */
export function redact(text: string, secrets: readonly (string | undefined)[] = []): string {
  let clean = text;
  for (const secret of secrets)
    if (secret !== undefined && secret.length >= 6) clean = clean.replaceAll(secret, "[key]");
  return clean.replace(SECRET_SHAPES, "[key]");
}
