/**
 * Checks that a candidate must pass before anything is written. All of them are code: no text of a session can talk its way
 * past them. Each rejection has a reason for people.
 */

import { contentWords, markedValues, placeSaying, textKey, valuesIn, wordRow } from "../../memory/statement.ts";
import { findThreat } from "../../prompt/injection-scan.ts";
import { holdsSecret } from "../../providers/redact.ts";
import { type Candidate, isGeneral, isInstruction, isRule, sentencesOf } from "./candidates.ts";
import type { Source } from "./extraction.ts";

/** Part of a session that the checks need. */
export type Evidence = {
  readonly sources: readonly Source[];
  /** Texts that every session has already: instructions of the project, the prompt, the memory. Nothing that was learnt. */
  readonly known: readonly string[];
  /** Values of the environment's secrets. */
  readonly secrets: readonly string[];
  /** Name of the project's folder. */
  readonly project: string;
};

/** A candidate with its evidence. `by`: its witness with the least trust; the text of a `tool` waits for the user's yes. */
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
/** Share of a text's words that stand beside its quote. */
const SUPPORTED = 0.5;

/** Checks candidates against one session. Reads the session once. */
export class Gates {
  readonly #evidence: Evidence;
  /** Texts in a form for comparison, as far as they were needed. */
  readonly #folded = new Map<Source, string>();
  readonly #known: ReadonlySet<string>;

  constructor(evidence: Evidence) {
    this.#evidence = evidence;
    this.#known = new Set(evidence.known.flatMap(linesOf).map(textKey));
  }

  check(candidate: Candidate): Checked {
    const text = candidate.text.replaceAll(/\s+/g, " ").replaceAll("·", "-").trim();
    const cleaned = { ...candidate, text };
    if (text.length < 6 || text.length > MAX_TEXT_CHARS) return rejected("its length is not that of a fact");
    const quoted = this.#find(cleaned);
    if (quoted === undefined) return rejected("the session does not show it");
    const found = (quoted.by === "user" && this.#toolSaying(text, quoted)) || quoted;
    const problem =
      this.#unsupported(cleaned, found) ??
      this.#restated(text, found) ??
      this.#secret(cleaned) ??
      injection(cleaned, found) ??
      transient(cleaned, found);
    if (problem !== undefined) return rejected(problem);
    const isRule = candidate.isStated === true || candidate.isRule === true || isPartOfRule(candidate.quote, found);
    const isExplicit = found.by === "user" && isRule;
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
    return source && this.#around(source, wanted, this.#text(source).indexOf(wanted));
  }

  #around(source: Source, wanted: string, at: number): Found {
    const text = this.#text(source);
    const context = text.slice(Math.max(0, at - CONTEXT_CHARS), at + wanted.length + CONTEXT_CHARS);
    return { by: source.by, position: source.position, context };
  }

  /** The output of a tool that says more of the text than the user's message does. */
  #toolSaying(text: string, { context }: Found): Found | undefined {
    const tools = this.#evidence.sources.filter(({ by }) => by === "tool");
    const outputs = tools.map((source) => this.#text(source));
    const place = placeSaying(text, `${context} ${this.#evidence.project}`, outputs);
    const source = place && tools[place.output];
    return source && this.#around(source, "", place.at);
  }

  #text(source: Source): string {
    const folded = this.#folded.get(source) ?? fold(source.text);
    this.#folded.set(source, folded);
    return folded;
  }

  /** A real quote does not prove another text: its values, names and most words stand beside the quote. */
  #unsupported({ text, subject, entity, kind, quote }: Candidate, { context }: Found): string | undefined {
    const around = fold(`${quote} ${context}`);
    if ([...valuesIn(text)].some((value) => !around.includes(fold(value)))) return "its value is not in the session";
    const place = `${around} ${fold(this.#evidence.project)}`;
    const names = text.match(/(?<=\S\s)\p{Lu}\p{Ll}+\b/gu) ?? [];
    if (names.some((name) => !place.includes(name.toLowerCase()))) return "the session does not name it";
    if (kind === "fact" && entity === "person" && contentWords(subject).some((word) => !place.includes(word))) {
      return "the session does not name this person";
    }
    const near = new Set(contentWords(place));
    const words = new Set(contentWords(text));
    const shared = [...words].filter((word) => near.has(word)).length;
    return shared >= words.size * SUPPORTED ? undefined : "the quote does not support it";
  }

  /** The output of a tool is no news either when a known line has all its words. */
  #restated(text: string, { by }: Found): string | undefined {
    const parts = [...contentWords(text), ...valuesIn(text)];
    const holdsParts = (line: string): boolean => parts.every((part) => line.toLowerCase().includes(part));
    const isKnown = this.#known.has(textKey(text)) || (by === "tool" && [...this.#known].some(holdsParts));
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

/** Words in a row from which a sentence is copied. */
const COPIED_WORDS = 5;

/**
 * The summary without sentences that a tool's output has word for word, and without those with a name or a marked value that
 * nothing in the session has. `acted`: arguments of the agent's calls.
 */
export function safeSummary(summary: string, sources: readonly Source[], acted: string): string {
  const textOf = (by: Source["by"]): string =>
    sources.flatMap((each) => (each.by === by ? [each.text] : [])).join("\n");
  const [spoken, output] = [textOf("user"), textOf("tool")];
  const all = fold(`${spoken}\n${output}\n${acted}`);
  const said = ` ${wordRow(`${spoken}\n${acted}`).join(" ")} `;
  const read = ` ${wordRow(output).join(" ")} `;
  const isCopied = (sentence: string): boolean => {
    const row = wordRow(sentence);
    return row.some((_, at) => {
      const words = row.slice(at, at + COPIED_WORDS);
      const run = ` ${words.join(" ")} `;
      return words.length === COPIED_WORDS && read.includes(run) && !said.includes(run);
    });
  };
  const isInvented = (sentence: string): boolean => {
    const names = sentence.match(/(?<=\S\s)\p{Lu}\p{Ll}+\b/gu) ?? [];
    return [...markedValues(sentence), ...names].some((name) => !all.includes(fold(name)));
  };
  return summary
    .split(/(?<=[.!?])\s+|(?<=[。！？])|\n+/)
    .filter((sentence) => sentence.trim() !== "")
    .filter((sentence) => findThreat(sentence) === undefined && !isCopied(sentence) && !isInvented(sentence))
    .join("\n");
}

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
function scopeOf({ scope, text, quote }: Candidate, { by }: Found): Candidate["scope"] {
  if (by === "tool") return "project";
  if (isGeneral(quote) || isGeneral(text)) return "user";
  return scope === "user" && PERSONAL.test(`${text} ${quote}`) ? "user" : "project";
}
