/**
 * Checks that a candidate must pass before anything is written. All of them are code: no text of a session can talk its way
 * past them. Each rejection has a reason for people.
 */
import {
  contentWords,
  markedValues,
  placeSaying,
  sentencesOf,
  textKey,
  valuesIn,
  wordRow,
} from "../../memory/statement.ts";
import { findThreat } from "../../prompt/injection-scan.ts";
import { holdsSecret } from "../../providers/redact.ts";
import type { Candidate } from "./extraction.ts";
import type { Source } from "./session-evidence.ts";

/** Part of a session that the checks need. */
export type Evidence = {
  readonly sources: readonly Source[];
  /** Texts that every session has already: instructions of the project, the prompt, the memory. Nothing that was learnt. */
  readonly known: readonly string[];
  /** Values of the environment's secrets. */
  readonly secrets: readonly string[];
  /** Name of the project's folder. */
  readonly project: string;
  /** Commands that the agent ran with exit code 0, in a session whose results the user kept. */
  readonly proven?: ReadonlySet<string>;
};

/**
 * A candidate with its evidence. `by`: its witness with the least trust. The text of a `tool` waits for the user's yes; a
 * `run` is one whose command passed here, with a result that the user kept.
 */
export type Admitted = Candidate & {
  readonly scope: "user" | "project";
  readonly by: "user" | "tool" | "run";
  readonly position: number;
  /** The user stated it as a rule for later. */
  readonly isExplicit: boolean;
};

/** `unproven`: the session does not show it. `harmful`: its text must not stay anywhere. `unwanted`: nobody needs it later. */
type Problem = { readonly kind: "unproven" | "harmful" | "unwanted"; readonly reason: string };

export type Checked = { readonly ok: true; readonly candidate: Admitted } | ({ readonly ok: false } & Problem);

type Found = { readonly by: "user" | "tool"; readonly position: number; readonly context: string };

/** Longest text of a fact. Characters. */
const MAX_TEXT_CHARS = 240;
const MIN_QUOTE_WORDS = 3;
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
    const isFact = text.length >= 6 && text.length <= MAX_TEXT_CHARS;
    if (!isFact) return rejected("unwanted", "its length is not that of a fact");
    const quoted = this.#find(cleaned);
    if (quoted === undefined) return rejected("unproven", "the session does not show it");
    const leftOut = this.#leftOut(cleaned, quoted);
    const found = (quoted.by === "user" && this.#toolSaying(text, `${quoted.context} ${leftOut}`)) || quoted;
    const unproven = this.#unsupported(cleaned, found, leftOut);
    if (unproven !== undefined) return rejected("unproven", unproven);
    const harm = this.#secret(cleaned) ?? harmIn(cleaned);
    if (harm !== undefined) return rejected("harmful", harm);
    const unneeded = this.#restated(text, found) ?? unwanted(cleaned, found);
    if (unneeded !== undefined) return rejected("unwanted", unneeded);
    const isProven = found.by === "tool" && this.#isProven(cleaned);
    const isExplicit = found.by === "user" && candidate.isRule === true;
    const by = isProven ? "run" : found.by;
    return {
      ok: true,
      candidate: { ...cleaned, scope: scopeOf(cleaned, found), by, position: found.position, isExplicit },
    };
  }

  /** A fact about a command that passed here: the fact has no other value. */
  #isProven({ kind, value, cites }: Candidate): boolean {
    const { proven } = this.#evidence;
    if (kind !== "fact" || value === undefined || cites === undefined) return false;
    return proven?.has(cites.trim()) === true && fold(cites) === fold(value);
  }

  /** The message that the candidate quotes; one of the user before one of a tool. */
  #find({ quote, position }: Candidate): Found | undefined {
    const wanted = fold(quote);
    if (wanted === "") return undefined;
    // A short quote is in many messages by chance.
    const isShort = wordRow(wanted).length < MIN_QUOTE_WORDS;
    const holds = (text: string): boolean => (isShort ? text === wanted : text.includes(wanted));
    const holding = (by: Source["by"]): readonly Source[] =>
      this.#evidence.sources.filter((source) => source.by === by && holds(this.#text(source)));
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

  /** The subject that a correction with a value, which no tool showed before, leaves out. The request named it; no person. */
  #leftOut({ subject, kind, entity, quote, value = "" }: Candidate, { by, position, context }: Found): string {
    const before = this.#evidence.sources.filter((source) => source.position < position);
    const isRead = before.some((source) => source.by === "tool" && this.#text(source).includes(fold(value)));
    const isCorrection = by === "user" && valuesIn(value).size > 0 && fold(quote).includes(fold(value));
    if (isRead || !isCorrection || (kind === "fact" && entity === "person")) return "";
    const request = fold(before.findLast((source) => source.by === "user")?.text ?? "");
    const isLeftOut = contentWords(subject).every((word) => request.includes(word) && !context.includes(word));
    return isLeftOut ? fold(subject) : "";
  }

  /** The output of a tool that says more of the text than the user's own words do. */
  #toolSaying(text: string, own: string): Found | undefined {
    const tools = this.#evidence.sources.filter(({ by }) => by === "tool");
    const outputs = tools.map((source) => this.#text(source));
    const place = placeSaying(text, `${own} ${this.#evidence.project}`, outputs);
    const source = place && tools[place.output];
    return source && this.#around(source, "", place.at);
  }

  #text(source: Source): string {
    const folded = this.#folded.get(source) ?? fold(source.text);
    this.#folded.set(source, folded);
    return folded;
  }

  /** A real quote does not prove another text: its values, names and most words stand beside the quote. */
  #unsupported(candidate: Candidate, { context }: Found, leftOut: string): string | undefined {
    const { text, subject, entity, kind, quote, value = "" } = candidate;
    const around = fold(`${quote} ${context}`);
    const isInvented = [value, ...valuesIn(text)].some((each) => !around.includes(fold(each)));
    if (isInvented || !fold(text).includes(fold(value))) return "its value is not in the session";
    const place = `${around} ${fold(this.#evidence.project)}`;
    const names = text.match(/(?<=\S\s)\p{Lu}\p{Ll}+\b/gu) ?? [];
    const isNamed = (kind === "fact" && entity === "person") || fold(text).includes(fold(subject));
    const named = [...names.map(fold), ...(isNamed ? contentWords(subject) : [])];
    if (named.some((name) => !`${place} ${leftOut}`.includes(name))) return "the session does not name it";
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

function rejected(kind: Problem["kind"], reason: string): Checked {
  return { ok: false, kind, reason };
}

function fold(text: string): string {
  return text.toLowerCase().replaceAll(/\s+/g, " ").trim();
}

/** Lines and sentences of a prompt. */
function linesOf(text: string): readonly string[] {
  return text
    .split(/\n|(?<=[.!?;])\s+/)
    .map((line) => line.replace(/^[\s#*§-]+/, "").trim())
    .filter((line) => line.length > 5);
}

/** A secret by its name, and the shape of a key without a known prefix: a wrong hit costs a note, a miss stores a password. */
const SECRET =
  /\b(?:passwords?|passwd|passphrase|pin|api[ _-]?keys?|access[ _-]?keys?|private keys?|tokens?|secrets?|credentials?|passwort)\b[^.]{0,24}?(?:\bis\b|\bare\b|\bist\b|=|:)\s*[`"']?(?!(?:in|stored|kept|set|read|at|from|the|a|an|not|never|under)\b)\S{4,}/i;
const LONG_RANDOM =
  /(?<![\w/.-])(?=[\w+/=-]*\d)(?=[\w+/=-]*[a-zA-Z])(?![\w-]*\/[\w-]*\/)[A-Za-z0-9+/=_]{28,}(?![\w/.-])/;

/** Marks of prompts, and private things. */
function harmIn({ text, quote, subject, isSensitive }: Candidate): string | undefined {
  const threat = findThreat(`${subject}\n${text}\n${quote}`);
  if (threat !== undefined) return `it holds ${threat}`;
  if (/<\/?\w+[^>]*>|<\||\[\/?(?:INST|SYSTEM)\]/i.test(text)) return "it holds markup of a prompt";
  return isSensitive === true ? "it is private, and the user did not ask to keep it" : undefined;
}

/** A wish for one task only, and one that a tool's output has. */
function unwanted({ kind, isRule }: Candidate, { by }: Found): string | undefined {
  if (kind === "preference" && isRule === false) return "the user meant it for one task";
  return kind === "preference" && by === "tool" ? "a tool's output is not the user's wish" : undefined;
}

/** Words in a row from which a sentence is copied. */
const COPIED_WORDS = 5;

/** Share of a passing remark's words from which a sentence repeats it. */
const REPEATED = 0.6;

/** The summary without sentences that repeat a remark which no later session needs. */
export function withoutRemarks(summary: string, remarks: readonly string[]): string {
  const rows = remarks.map((remark) => [...new Set(contentWords(remark))]);
  const repeats = (sentence: string): boolean => {
    const words = new Set(contentWords(sentence));
    return rows.some((row) => row.filter((word) => words.has(word)).length >= Math.max(1, row.length * REPEATED));
  };
  return sentencesOf(summary)
    .filter((sentence) => !repeats(sentence))
    .join("\n");
}

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
    const length = Math.min(COPIED_WORDS, row.length); // a shorter sentence counts as a whole
    return row.some((_, at) => {
      const words = row.slice(at, at + length);
      const run = ` ${words.join(" ")} `;
      return words.length === length && read.includes(run) && !said.includes(run);
    });
  };
  const isInvented = (sentence: string): boolean => {
    const names = sentence.match(/(?<=\S\s)\p{Lu}\p{Ll}+\b/gu) ?? [];
    return [...markedValues(sentence), ...names].some((name) => !all.includes(fold(name)));
  };
  return sentencesOf(summary)
    .filter((sentence) => findThreat(sentence) === undefined && !isCopied(sentence) && !isInvented(sentence))
    .join("\n");
}

/** A rule holds in all projects when words of its own quote say so. */
function scopeOf({ everywhere, quote }: Candidate, { by }: Found): Admitted["scope"] {
  const isGeneral = everywhere !== undefined && fold(quote).includes(fold(everywhere));
  return by === "user" && isGeneral ? "user" : "project";
}
