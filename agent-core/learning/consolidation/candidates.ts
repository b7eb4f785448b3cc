/**
 * Candidates for facts and preferences. Statements that the user makes outright are found by code: a clear wish is kept
 * without a model, and despite it.
 */
import { typedText } from "../../messages/message.ts";
import { correctionsIn } from "../../sessions/correction.ts";
import type { EntityKind } from "../facts.ts";
import type { Transcript, TranscriptMessage } from "../transcript.ts";

export type Candidate = {
  readonly kind: "fact" | "preference";
  /** The thing that it is about; empty: the project. */
  readonly subject: string;
  readonly entity: EntityKind;
  readonly text: string;
  readonly scope: "user" | "project";
  /** Span of the message that shows it. */
  readonly quote: string;
  /** Position of that message; undefined or wrong: any message counts. */
  readonly position: number | undefined;
  /** Known item that it replaces: its id, or its exact text. */
  readonly supersedes?: string | undefined;
  /** Id of the known item that says the same. */
  readonly repeats?: string | undefined;
  /** Found by code in the user's own words, as a rule or as a correction. */
  readonly isStated?: true;
  /** The model says that the user states it as a rule for later. */
  readonly isRule?: boolean;
};

/** Rules of a user are short; longer sentences are descriptions of a task. Characters. */
const MAX_RULE_CHARS = 300;
const MIN_RULE_WORDS = 3;
/** Rules of one session that are read. */
const MAX_STATED = 60;

/** Words in front of `always` and `never` in a rule. */
const LEAD = String.raw`(?:^|[,;:]\s*|\b(?:please|to|we|i|and|but|actually|bitte|wir|ich|(?:you|we) (?:must|should))\s+)`;
/** Verbs of an experience, and forms that tell what happens: `I always get`, `but never returns`. */
const EXPERIENCE = String.raw`(?!(?:mind|works?|fail|again|been|came|did|end up|find|found|get|got|had|have|hear|heard|hit|knew|know|notice|saw|see|seen|think|thought|understand|understood|was|were)\b)(?!\w*(?:[^s\W]s|ed)\b)`;
/** Words before one thing of the present task; a convention names kinds of things. */
const ONE_THING =
  "(?!(?:a|an|the|this|that|these|those|it|them|my|your|its|one|only|der|die|das|den|ein|eine|einen|diese[nrs]?)\\b)";
/** Wordings of a rule for later, whatever is around them. */
const OUTRIGHT: readonly RegExp[] = [
  /\bfrom now on\b|\bgoing forward\b|\bin (?:the )?future\b(?!\s+\w+s\b)|^(?:everywhere|in (?:all|every|any) projects?)\b/i,
  /^(?:please\s+)?(?:remember|note|keep in mind)\b(?!\s+(?:when|how|if)\b(?!.*:))/i,
  /\bwe (?:have )?(?:decided|agreed|chose|chosen|settled) (?:on|that|to|for)\b/i,
  /\b(?:ab jetzt|ab sofort|in zukunft|merk dir|denk daran)\b/i,
];
/** Wordings of a rule for later, unless the sentence begins as a task. */
const RULES: readonly RegExp[] = [
  new RegExp(`${LEAD}(?:always|never|don't ever|do not ever)\\s+${EXPERIENCE}`, "i"),
  /\b(?:every|each) time (?:you|we)\b|\b(?:every|each) time[.!]?$/i,
  new RegExp(
    String.raw`(?:^|[,;:]\s*|\b(?:please|we|to|bitte|wir)\s+)(?:use|prefer|run|verwende|nutze|verwenden|nutzen)\s+${ONE_THING}.{1,120}(?:,\s*(?:and\s+)?(?:not|nicht)\b|\binstead of\b|\brather than\b|\bstatt\b)`,
    "i",
  ),
  new RegExp(String.raw`\bI (?:prefer|insist)\s+${ONE_THING}`, "i"),
  /^(?:bitte\s+)?(?:immer|nie|niemals)\b(?!\s+(?:wenn|noch|wieder|mehr)\b)|\bbitte (?:immer|niemals)\b/i,
];
/** Wordings of a rule, and of a requirement of one task as well: one counts when another session repeats it. */
const HINTS: readonly RegExp[] = [
  /\b(?:every|each|all)\b.{1,60}\b(?:has to|have to|must|should|needs? to|ends?|begins?|starts?|goes|go)\b/i,
  /\b(?:must|should) (?:always|never)\b/i,
  /\b(?:use|prefer|write|put|run|call|name|say|end|start)\b.{1,120}(?:,\s*(?:and\s+)?not\b|\binstead of\b|\brather than\b)/i,
];
/** Start of a sentence that asks for a piece of work. */
const TASK =
  /^(?:(?:please|now|then|also|can you|could you|i want you to|let's)\s+)*(?:add|build|change|create|delete|extend|fix|implement|make (?!sure)|move|refactor|remove|rename|replace|show|update|write (?:a|an|the|me|some|code|tests?))\b/i;

/** Words in front of a rule that are not part of it. */
const OPENER =
  /^(?:\W*(?:no|nope|wrong|ok|okay|well|hey|also|and|but|again|actually|not (?:like )?(?:that|this)|that(?:'s| is) (?:not (?:right|it)|wrong)|nein|please|bitte|remember(?:\s+that)?|note(?:\s+that)?|keep in mind(?:\s+that)?|i (?:said|meant|told you|asked you)(?:\s+(?:that|to))?|i (?:undid|reverted|took back) (?:it|that|this|the \w+)|merk dir|denk daran|(?:from|as of) now(?: on)?|going forward|in (?:the )?future(?!\s+\w+s\b)|ab (?:jetzt|sofort)|in zukunft)\b\s*[,:;.!–—-]*\s*)+/i;

/** Wording of a correction that says how it should be. */
const DIRECTIVE =
  /\b(?:must|should|has to|have to|needs? to|use|uses|end|ends|start|starts|begin|begins|go|put|write|add|name|call|keep|leave|run|runs|goes|belongs?|is|are|muss|müssen|soll|sollen)\b/i;
/** Words for something that only the present conversation shows. */
const DEICTIC = /\b(?:this|that|these|those|the other|here|above|below|it|them|last one|first one|hier|oben|unten)\b/i;
const MARKED_VALUE = /`[^`]+`|"[^"]+"/;

/** Wording that makes a rule hold in all projects. */
const GENERAL =
  /\b(?:everywhere|(?:in|for|across) (?:all|every|any|each)(?: (?:of )?my)? (?:projects?|repos?|repositories|workspaces?)|in general|generally|no matter (?:which|what) project|überall|in allen projekten)\b/i;

const DECISION = /\bwe (?:have )?(?:decided|agreed|chose|chosen|settled)\b/i;
/** Verbs of a sentence that says how something is. */
const STATES =
  /\b(?:is|are|was|lives?|runs|runs? (?:on|in|at|under|with)|listens?|ist|sind|heißt|läuft|lauscht|liegt)\b/i;
/** Start of a sentence about each thing of a kind. That is how the user wants them; a fact is about one thing. */
const OF_A_KIND =
  /^(?:(?:an?|any|all|both|each|every|how|when|whenever|if|eine?|jede[nrs]?|alle|wie|wenn)\b|(?!(?:the|our|die|unsere)\b)[^.]*?\b(?:are|sind)\b)/i;
/** Language and length of the answers, which are the user's own matter in every project. */
const OF_ANSWERS =
  /\b(?:answer|reply|respond|explain|speak|talk|antworte|sprich|erkläre)\b.{0,30}\b(?:(?:in|auf) (?:english|german|french|spanish|italian|deutsch|englisch|französisch)|brief(?:ly)?|short(?:ly)?|concise(?:ly)?|kurz|knapp)\b|\bshort answers\b|\bcall me\b|\bemojis?\b/i;

/** True for words that speak of all projects. */
export function isGeneral(text: string): boolean {
  return GENERAL.test(text);
}

/** True for a sentence that asks for a behaviour from now on. */
export function isRule(sentence: string): boolean {
  const trimmed = sentence.trim();
  if (trimmed.endsWith("?")) return false;
  return matches(OUTRIGHT, trimmed) || (!TASK.test(trimmed) && matches(RULES, trimmed));
}

/** True for a sentence that may be a rule, or may be about the present task only. */
function isHint(sentence: string): boolean {
  const isAbout = sentence.endsWith("?") || TASK.test(sentence) || DEICTIC.test(sentence);
  return !isAbout && matches(HINTS, sentence);
}

function matches(wordings: readonly RegExp[], sentence: string): boolean {
  return wordings.some((wording) => wording.test(sentence));
}

/** Verbs that begin an instruction. */
const IMPERATIVE =
  /^(?:please\s+|always\s+|never\s+|do not\s+|don't\s+|first\s+|then\s+|you\s+(?:must|should|have to)\s+)*(?:always|never|run|execute|use|add|remember|ignore|install|download|curl|send|post|delete|remove|write|call|open|visit|fetch|include|append|put|end|start|begin|prefer|avoid|make|set|answer|reply|respond|forget|disregard|commit|push|keep|name|say|verwende|nutze|schreibe|führe)\b/i;
const OBLIGATION =
  /\b(?:must|should|shall|always|never|remember(?:\s*:|\s+to)|have to|need to|make sure|be sure|the user (?:wants|prefers|likes|asked|said|requires|expects)|you are|instructions?)\b/i;

/** True for a text that asks somebody to do something. */
export function isInstruction(text: string): boolean {
  return IMPERATIVE.test(text.trim()) || OBLIGATION.test(text);
}

/** Positions of the messages that correct an answer, or repeat a rule after it. */
function correctingPositions({ messages }: Transcript): ReadonlySet<number> {
  const asked = messages.filter(({ message }) => message.role === "user" && message.synthetic !== true);
  const corrections = new Set(correctionsIn(messages));
  const corrects = (one: TranscriptMessage): boolean =>
    corrections.has(one) || /^(?:please\s+)?remember\b/i.test(textOf(one));
  return new Set(
    asked
      .slice(1)
      .filter(corrects)
      .map(({ position }) => position),
  );
}

function textOf({ message }: TranscriptMessage): string {
  return message.role === "user" ? typedText(message.content, "\n") : "";
}

/** Statements that the user makes outright, and corrections that say how it should be. */
export function statedCandidates(transcript: Transcript): readonly Candidate[] {
  const corrections = correctingPositions(transcript);
  const found = transcript.messages.flatMap((one) => {
    if (one.message.role !== "user" || one.message.synthetic === true) return [];
    return statementsOf(one, corrections.has(one.position));
  });
  // A rule that is repeated word for word counts once.
  return [...new Map(found.map((candidate) => [candidate.text, candidate])).values()].slice(-MAX_STATED);
}

function statementsOf(one: TranscriptMessage, corrects: boolean): readonly Candidate[] {
  const { position } = one;
  const typed = textOf(one);
  return sentencesOf(typed).flatMap((sentence): readonly Candidate[] => {
    const isStated = isRule(sentence) || (corrects && isCorrectingRule(sentence));
    const text = asRule(sentence);
    if (!isRuleLength(sentence, text) || !(isStated || isHint(sentence))) return [];
    const isFact = DECISION.test(sentence) || (isStated && isAboutOneThing(text));
    const kind = isFact ? "fact" : "preference";
    const scope = kind === "preference" && (isGeneral(sentence) || OF_ANSWERS.test(text)) ? "user" : "project";
    return [
      { kind, subject: "", entity: "project", text, scope, quote: sentence, position, ...(isStated && { isStated }) },
    ];
  });
}

/** True for a sentence that says how one thing is, and asks for nothing. */
function isAboutOneThing(text: string): boolean {
  return STATES.test(text) && !OF_A_KIND.test(text) && !isInstruction(text);
}

function isRuleLength(sentence: string, rule: string): boolean {
  return sentence.length <= MAX_RULE_CHARS && rule.split(/\s+/).length >= MIN_RULE_WORDS;
}

function isCorrectingRule(sentence: string): boolean {
  const rule = sentence.replace(OPENER, "");
  if (/\?\s*$/.test(rule)) return false;
  return (DIRECTIVE.test(rule) || isAboutOneThing(rule)) && (MARKED_VALUE.test(rule) || !DEICTIC.test(rule));
}

/** The sentence as a rule of its own. */
export function asRule(sentence: string): string {
  const rule = sentence.replace(OPENER, "").trim();
  return rule.charAt(0).toUpperCase() + rule.slice(1);
}

/** Sentences of the text without pasted parts. A dot within a marked value ends no sentence. */
export function sentencesOf(text: string): readonly string[] {
  const own = text.replaceAll(/```[\s\S]*?(?:```|$)/g, "\n").replaceAll(/^>.*$/gm, "");
  const held: string[] = [];
  const plain = own.replaceAll(/`[^`\n]+`|"[^"\n]+"/g, (value) => `${HELD}${held.push(value) - 1}${HELD}`);
  return plain
    .split(/(?<=[.!?])\s+|\n+/)
    .map((sentence) => {
      const parts = sentence.split(HELD);
      return parts
        .map((part, index) => (index % 2 === 0 ? part : (held[Number(part)] ?? "")))
        .join("")
        .trim();
    })
    .filter((sentence) => sentence !== "");
}

/** Mark around the number of a value, from a private area of Unicode. */
const HELD = "\ue000";
