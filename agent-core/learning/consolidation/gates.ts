/**
 * Checks that a candidate must pass before anything is written. All of them are code: no text of a session can talk its way
 * past them. Each rejection has a reason for people.
 */

import { contentWords, contradicts, readStatement, type Statement, similarity } from "../../memory/statement.ts";
import { findThreat } from "../../prompt/injection-scan.ts";
import { holdsSecret } from "../../providers/redact.ts";
import { type Candidate, isGeneral, isInstruction, isRule, sentencesOf } from "./candidates.ts";
import type { Source } from "./extraction.ts";

/** Part of a session that the checks need. */
export type Evidence = {
  readonly sources: readonly Source[];
  /** Texts that every session has already: instructions of the project, the prompt, the memory. Nothing that was learnt. */
  readonly known: readonly string[];
  /** Learnt facts that hold. A change of one is reported, even when the memory has the new value already. */
  readonly learnt: readonly string[];
  /** Values of the environment's secrets. */
  readonly secrets: readonly string[];
  /** Name of the project's folder. */
  readonly project: string;
};

/** A candidate with its evidence. */
export type Admitted = Candidate & {
  readonly by: "user" | "tool";
  readonly position: number;
  /** The user stated it as a rule for later. */
  readonly isExplicit: boolean;
};

export type Checked =
  | { readonly ok: true; readonly candidate: Admitted }
  | { readonly ok: false; readonly reason: string };

type Found = { readonly by: "user" | "tool"; readonly position: number; readonly context: string };

/** Longest text of a fact. Characters. */
const MAX_TEXT_CHARS = 240;
const MIN_QUOTE_CHARS = 8;
/** Text around a quote that may support a fact. Characters. */
const CONTEXT_CHARS = 240;

/** Checks candidates against one session. Reads the session once. */
export class Gates {
  readonly #evidence: Evidence;
  /** Texts in a form for comparison, as far as they were needed. */
  readonly #folded = new Map<Source, string>();
  readonly #known: readonly Statement[];
  readonly #learnt: readonly Statement[];
  readonly #byWord = new Map<string, number[]>();

  constructor(evidence: Evidence) {
    this.#evidence = evidence;
    this.#known = evidence.known.flatMap(linesOf).map(readStatement);
    this.#learnt = evidence.learnt.map(readStatement);
    for (const [index, { words }] of this.#known.entries()) {
      for (const word of words) this.#byWord.set(word, [...(this.#byWord.get(word) ?? []), index]);
    }
  }

  check(candidate: Candidate): Checked {
    const text = candidate.text.replaceAll(/\s+/g, " ").replaceAll("·", "-").trim();
    const cleaned = { ...candidate, text };
    if (text.length < 6 || text.length > MAX_TEXT_CHARS) return rejected("its length is not that of a fact");
    const found = this.#find(cleaned);
    if (found === undefined) return rejected("the session does not show it");
    const problem =
      this.#unsupported(cleaned, found) ??
      this.#restated(text) ??
      this.#secret(cleaned) ??
      injection(cleaned, found) ??
      transient(cleaned, found);
    if (problem !== undefined) return rejected(problem);
    const isExplicit = found.by === "user" && (candidate.isStated === true || isPartOfRule(candidate.quote, found));
    const scope = scopeOf(cleaned, found);
    return { ok: true, candidate: { ...cleaned, scope, by: found.by, position: found.position, isExplicit } };
  }

  /** The message that the candidate quotes; one of the user before one of a tool. */
  #find({ quote, position }: Candidate): Found | undefined {
    const wanted = fold(quote);
    if (wanted === "") return undefined;
    // A short quote is in many messages by chance.
    const isShort = wanted.length < MIN_QUOTE_CHARS || !wanted.includes(" ");
    const holds = (text: string): boolean => (isShort ? text === wanted : text.includes(wanted));
    const holding = (by: Source["by"]): readonly Source[] => {
      return this.#evidence.sources.filter((source) => source.by === by && holds(this.#text(source)));
    };
    const said = holding("user");
    const all = said.length > 0 ? said : holding("tool");
    const source = all.find((each) => each.position === position) ?? all.at(-1);
    if (source === undefined) return undefined;
    const text = this.#text(source);
    const at = text.indexOf(wanted);
    const context = text.slice(Math.max(0, at - CONTEXT_CHARS), at + wanted.length + CONTEXT_CHARS);
    return { by: source.by, position: source.position, context };
  }

  #text(source: Source): string {
    const folded = this.#folded.get(source) ?? fold(source.text);
    this.#folded.set(source, folded);
    return folded;
  }

  /** A real quote does not prove another text: its values, names and most words stand beside the quote. */
  #unsupported({ text, subject, entity, kind, quote }: Candidate, { context }: Found): string | undefined {
    const around = fold(`${quote} ${context}`);
    const { values, words } = readStatement(text);
    const missing = [...values].find((value) => !around.includes(fold(value)));
    if (missing !== undefined) return "its value is not in the session";
    const place = `${around} ${fold(this.#evidence.project)}`;
    const names = text.match(/(?<=\S\s)\p{Lu}\p{Ll}+\b/gu) ?? [];
    if (names.some((name) => !place.includes(name.toLowerCase()))) return "the session does not name it";
    if (kind === "fact" && entity === "person" && contentWords(subject).some((word) => !place.includes(word))) {
      return "the session does not name this person";
    }
    const near = new Set(contentWords(place));
    const shared = [...words].filter((word) => near.has(word)).length;
    const share = words.size === 0 ? 1 : shared / words.size;
    return share >= (values.size > 0 ? 0.25 : 0.5) ? undefined : "the quote does not support it";
  }

  #restated(text: string): string | undefined {
    const statement = readStatement(text);
    if (this.#learnt.some((learnt) => contradicts(statement, learnt))) return undefined;
    const candidates = new Map<number, number>();
    for (const word of statement.words) {
      for (const index of this.#byWord.get(word) ?? []) candidates.set(index, (candidates.get(index) ?? 0) + 1);
    }
    const isKnown = [...candidates].some(([index, shared]) => {
      const known = this.#known[index];
      return (
        known !== undefined &&
        shared / statement.words.size >= 0.8 &&
        [...statement.values].every((value) => known.values.has(value)) &&
        (statement.values.size > 0 || similarity(statement.words, known.words) >= 0.5) &&
        statement.isNegated === known.isNegated
      );
    });
    return isKnown ? "the prompt, the project's instructions or the memory say it already" : undefined;
  }

  #secret({ text, quote, subject }: Candidate): string | undefined {
    const { secrets } = this.#evidence;
    const isSecret = [text, quote, subject].some(
      (each) => holdsSecret(each, secrets) || SECRET.test(each) || LONG_RANDOM.test(each),
    );
    return isSecret ? "it holds a secret" : undefined;
  }
}

function rejected(reason: string): Checked {
  return { ok: false, reason };
}

function fold(text: string): string {
  return text
    .toLowerCase()
    .replaceAll(/[\s\u00a0]+/g, " ")
    .trim();
}

/** True when the sentence around the quote is a rule. */
function isPartOfRule(quote: string, { context }: Found): boolean {
  const wanted = fold(quote);
  return sentencesOf(context).some((sentence) => {
    return (sentence.includes(wanted) || wanted.includes(sentence)) && isRule(sentence);
  });
}

/** Lines and sentences of a prompt. */
function linesOf(text: string): readonly string[] {
  return text
    .split(/\n|(?<=[.!?;])\s+/)
    .map((line) => line.replace(/^[\s#*§-]+/, "").trim())
    .filter((line) => line.length > 5);
}

/** A secret by its name, and the shape of a key without a known prefix. */
const SECRET =
  /\b(?:passwords?|passwd|passphrase|pin|api[ _-]?keys?|access[ _-]?keys?|private keys?|tokens?|secrets?|credentials?|passwort)\b[^.]{0,24}?(?:\bis\b|\bare\b|\bist\b|=|:)\s*[`"']?(?!(?:in|stored|kept|set|read|at|from|the|a|an|not|never|under)\b)\S{4,}/i;
const LONG_RANDOM =
  /(?<![\w/.-])(?=[\w+/=-]*\d)(?=[\w+/=-]*[a-zA-Z])(?![\w-]*\/[\w-]*\/)[A-Za-z0-9+/=_]{28,}(?![\w/.-])/;

/** Text of a tool never asks for anything, and is never a preference. */
function injection({ kind, text, quote, subject }: Candidate, { by, context }: Found): string | undefined {
  const threat = findThreat(`${subject}\n${text}\n${quote}`);
  if (threat !== undefined) return `it holds ${threat}`;
  if (/<\/?\w+[^>]*>|\bsystem prompt\b|\[\/?(?:INST|SYSTEM)\]/i.test(text)) return "it holds markup of a prompt";
  if (by === "user") return undefined;
  if (kind === "preference") return "a tool's output is not the user's wish";
  if (isInstruction(text) || isInstruction(quote)) return "a tool's output gives no instructions";
  const line = context
    .split(/(?<=[.!?])\s/)
    .filter((part) => part.includes(fold(quote).slice(0, 40)))
    .join(" ");
  return /\b(?:remember|always run|never tell|ignore|you must|from now on|important:)\b/i.test(line)
    ? "a tool's output gives no instructions"
    : undefined;
}

/** The summary without sentences that ask for something that the user did not say: a tool's output may ask for it. */
export function safeSummary(summary: string, sources: readonly Source[]): string {
  const spoken = fold(sources.flatMap(({ by, text }) => (by === "user" ? [text] : [])).join("\n"));
  const isThreat = findThreat(summary) !== undefined;
  const isSafe = (sentence: string): boolean => {
    if (isThreat && findThreat(sentence) !== undefined) return false;
    const asked = sentence.replace(/^(?:asked|answered):\s*/i, "");
    if (!isInstruction(asked) && !/\b(?:remember|ignore)\b/i.test(asked)) return true;
    const statement = readStatement(asked);
    if (![...statement.values].every((value) => spoken.includes(value))) return false;
    const said = new Set(contentWords(spoken));
    const known = [...statement.words].filter((word) => said.has(word)).length;
    return known >= statement.words.size * SPOKEN;
  };
  return summary
    .split(/(?<=[.!?])\s+|\n+/)
    .filter(isSafe)
    .join("\n");
}

/** Share of a sentence's words that the user said, from which it is the user's. */
const SPOKEN = 0.7;

const STATUS =
  /\b(?:currently|at the moment|right now|for now|today|yesterday|tomorrow|tonight|this (?:time|session|week|morning|branch|task)|just once|so far|in progress|still (?:failing|broken|open|running|to do)|work in progress|wip|pending|not yet|temporar(?:y|ily)|todo|next step|gerade|im moment|heute|gestern|morgen)\b/i;
const DONE =
  /\b(?:has|have|had|was|were|is|are|been)\s+(?:just\s+|now\s+|already\s+|successfully\s+)?(?:fixed|done|completed?|finished|merged|updated|implemented|committed|released|passing|failing|green|red|blocked|waiting|refactored|renamed)\b|\b(?:tests?|build|lint|checks?)\s+(?:now\s+)?(?:pass(?:es|ed)?|fail(?:s|ed)?)\b|\b\d+ (?:tests?|errors?|warnings?|failures?|files?)\b|^(?:i|we|the (?:user|agent|assistant)) (?:asked|requested|fixed|ran|added|changed|created|wrote|was|were|did|completed|looked)\b/i;
const BROKEN =
  /\b(?:does not|doesn't|do not|don't|did not|didn't|cannot|can't|can not|could not|couldn't|won't|will not|fails? to|refuses? to|never)\s+(?:work|exist|run|start|respond|function|load|compile|build|connect|find|support|return|install|succeed)\w*|\b(?:is|are|was|were)\s+(?:broken|unavailable|missing|down|unreachable|unusable|unreliable|not (?:available|installed|working|found|supported|reachable|running))\b|\bfunktioniert nicht\b|\btimed? out\b/i;
const DATED =
  /\b\d{4}-\d{2}-\d{2}\b|\b\d{1,2}[./]\d{1,2}[./]\d{2,4}\b|\b\d{8}_\d{6}_[0-9a-f]{8}\b|\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-|\b(?=[0-9a-f]*\d)(?=[0-9a-f]*[a-f])[0-9a-f]{12,40}\b|\b(?:commit|sha|hash|revision)\s+`?[0-9a-f]{7,40}\b|\b(?:pr|pull request|issue|ticket|pid|process|job|run)\s*#?\s*\d+\b|(?<![\w`])#\d+\b|\b(?:january|february|march|april|may|june|july|august|september|october|november|december) \d{1,2}\b/i;
/** Words that mean nothing outside the conversation. */
const DEICTIC =
  /^(?:it|this|that|these|those|they)\b|\b(?:the above|the following|as (?:said|mentioned)|that one|this one|the other one)\b/i;

function transient({ kind, text, quote }: Candidate, { by }: Found): string | undefined {
  if (STATUS.test(text) || DONE.test(text)) return "it is a state that passes";
  if (kind === "preference" && STATUS.test(quote) && !/\bfrom now on\b/i.test(quote))
    return "it holds for the moment only";
  if (DATED.test(text)) return "it is about a date or a number of the moment";
  if (DEICTIC.test(text)) return "it refers to the conversation";
  const isRuleOfUser = kind === "preference" && by === "user";
  return !isRuleOfUser && BROKEN.test(text) ? "it says that something does not work" : undefined;
}

/** Wording about the user's own person or the way of talking, which holds in all projects. */
const PERSONAL =
  /\b(?:antworte|sprich|erkläre|answers?|repl(?:y|ies)|explanations?|explain|respond|speak|talk|address me|call me|my name|emojis?|terse|concise|brief|verbose|in (?:english|german|french|spanish))\b/i;

/** A rule of one project holds there only, unless the user says otherwise. */
function scopeOf({ scope, kind, text, quote }: Candidate, { by, context }: Found): Candidate["scope"] {
  if (by === "tool") return "project";
  if (isGeneral(quote) || isGeneral(text) || (kind === "preference" && isGeneral(context))) return "user";
  return scope === "user" && PERSONAL.test(`${text} ${quote}`) ? "user" : "project";
}
