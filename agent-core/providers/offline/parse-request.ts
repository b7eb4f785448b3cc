/** Parses a message in plain words into steps. */
import type { OfflineStep } from "./grammar.ts";
import { grammar } from "./grammar.ts";
import { maskQuotes } from "./quoting.ts";

export type ParsedRequest =
  | { readonly kind: "steps"; readonly steps: readonly OfflineStep[] }
  | { readonly kind: "help" }
  /** `words`: the part without a known form. */
  | { readonly kind: "unknown"; readonly words: string };

/** Longer texts are not parsed, because the patterns would take too long. Characters, with quoted texts. */
const MAX_CHARS = 50_000;
/** The same limit without quoted texts. */
const MAX_PLAIN_CHARS = 5_000;

const VERBS = grammar.flatMap(({ verbs }) => verbs).join("|");
const POLITE = String.raw`(?:(?:please|first|finally|also|now|(?:can|could|would)\s+you)[,\s]+)*`;
/** "then" or a new line, before a verb only: `replace now and then with never in a.txt` is one step. */
const joint = new RegExp(String.raw`(?:[\s,;.]*\s(?:and\s+)?then[,\s]+|\s*\n\s*)(?=${POLITE}(?:${VERBS})\b)`, "i");
const polite = new RegExp(`^${POLITE}`, "i");
const helpWords = /^(?:\/?help|\?|what can you do|what do you understand|hi|hello)(?:\s+me)?[.!?\s]*$/i;

/**
 * Parses the last request. Earlier unanswered messages precede it as paragraphs, so the shortest run of final
 * paragraphs that parses wins.
 */
export function parseRequest(text: string): ParsedRequest {
  if (text.length > MAX_CHARS) return { kind: "unknown", words: text };
  const masked = maskQuotes(text.trim());
  if (masked.text.length > MAX_PLAIN_CHARS) return { kind: "unknown", words: text };
  const paragraphs = masked.text.split(/\n\s*\n/);
  for (let start = paragraphs.length - 1; start >= 0; start -= 1) {
    const words = paragraphs.slice(start).join("\n\n");
    if (helpWords.test(words)) return { kind: "help" };
    const steps = words.split(joint).map((part) => parseStep(masked.unmask(part)));
    if (steps.every((step) => step !== undefined)) return { kind: "steps", steps };
  }
  const last = paragraphs.at(-1) ?? "";
  const unknown = last.split(joint).find((part) => parseStep(masked.unmask(part)) === undefined) ?? last;
  return { kind: "unknown", words: masked.unmask(unknown).trim() };
}

function parseStep(part: string): OfflineStep | undefined {
  const words = part.trim().replace(polite, "");
  for (const form of grammar) {
    const step = form.parse(words);
    if (step !== undefined) return step;
  }
  return undefined;
}
