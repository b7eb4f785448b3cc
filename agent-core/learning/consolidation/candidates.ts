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
  /** Earlier fact that it replaces, in words. */
  readonly supersedes?: string | undefined;
  /** Found by code in the user's own words, as a rule or as a correction. */
  readonly isStated?: true;
};

/** Rules of a user are short; longer sentences are descriptions of a task. Characters. */
const MAX_RULE_CHARS = 300;
const MIN_RULE_WORDS = 3;
/** Rules of one session that are read. */
const MAX_STATED = 60;

const LEAD = String.raw`(?:^|[,;:]\s*|\b(?:please|must|should|to|we|i|you|and|but|bitte|wir|ich)\s+)`;
/** Wordings of a rule for later. */
const RULES: readonly RegExp[] = [
  new RegExp(`${LEAD}(?:always|never)\\s+(?!mind\\b|works?\\b|fail|seen\\b|been\\b|again\\b|knew\\b|heard\\b)`, "i"),
  /\bfrom now on\b|\bgoing forward\b|\bin (?:the )?future\b|\b(?:every|each) time\b|^(?:everywhere|in (?:all|every|any) projects?)\b/i,
  /^(?:please\s+)?(?:remember|note|keep in mind)\b(?!\s+(?:when|how|if)\b(?!.*:))/i,
  /\b(?:every|each|all)\b.{1,60}\b(?:has to|have to|must|should|needs? to|ends?|begins?|starts?|goes|go)\b/i,
  /\bwe (?:have )?(?:decided|agreed|chose|chosen|settled) (?:on|that|to|for)\b/i,
  /\b(?:use|prefer|write|put|run|call|name|say|end|start)\b.{1,120}(?:,\s*(?:and\s+)?not\b|\binstead of\b|\brather than\b)/i,
  /\bI (?:prefer|always|never|insist)\b/i,
  /\b(?:ab jetzt|ab sofort|in zukunft|merk dir|denk daran|niemals)\b|^(?:bitte\s+)?(?:immer|nie)\b|\bbitte immer\b/i,
];

/** Words in front of a rule that are not part of it. */
const OPENER =
  /^(?:\W*(?:no|nope|wrong|ok|okay|well|hey|also|and|but|again|not (?:like )?(?:that|this)|that(?:'s| is) (?:not (?:right|it)|wrong)|nein|please|bitte|remember(?:\s+that)?|note(?:\s+that)?|keep in mind(?:\s+that)?|i (?:said|meant|told you)(?:\s+that)?|i (?:undid|reverted|took back) (?:it|that|this|the \w+)|merk dir|denk daran|(?:from|as of) now(?: on)?|going forward|in (?:the )?future|ab (?:jetzt|sofort)|in zukunft)\b\s*[,:;.!–—-]*\s*)+/i;

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
const STATES = /\b(?:is|are|was|lives?|runs?|listens?|ist|sind)\b/i;

/** True for words that speak of all projects. */
export function isGeneral(text: string): boolean {
  return GENERAL.test(text);
}

/** True for a sentence that asks for a behaviour from now on. */
export function isRule(sentence: string): boolean {
  return !/\?\s*$/.test(sentence) && RULES.some((rule) => rule.test(sentence.trim()));
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
export function correctingPositions({ messages }: Transcript): ReadonlySet<number> {
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

/** Positions of the messages beside which the user took back an edit of the answer before them. */
export function undoingPositions({ messages, happened }: Transcript): ReadonlySet<number> {
  const undone = happened.filter((entry) => entry.type === "verdict" && entry.outcome !== "kept").map(({ at }) => at);
  if (undone.length === 0) return new Set();
  const asked = messages.filter(({ message }) => message.role === "user" && message.synthetic !== true);
  return new Set(
    asked.slice(1).flatMap(({ position }, index) => {
      const from = asked[index]?.at ?? 0;
      const next = messages.find((later) => later.position > position && later.message.role === "assistant");
      return undone.some((at) => at >= from && at <= (next?.at ?? Number.POSITIVE_INFINITY)) ? [position] : [];
    }),
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
  const sentences = sentencesOf(typed);
  const isEverywhere = sentences.some(isGeneral);
  return sentences.flatMap((sentence): readonly Candidate[] => {
    const isStated = isRule(sentence);
    if (!isStated && !(corrects && isCorrectingRule(sentence))) return [];
    const text = asRule(sentence);
    if (sentence.length > MAX_RULE_CHARS || text.split(/\s+/).length < MIN_RULE_WORDS) return [];
    const isDecision = DECISION.test(sentence);
    const kind = isDecision || (!corrects && !isInstruction(text) && STATES.test(text)) ? "fact" : "preference";
    const scope = isEverywhere && kind === "preference" ? "user" : "project";
    return [{ kind, subject: "", entity: "project", text, scope, quote: sentence, position, isStated: true }];
  });
}

function isCorrectingRule(sentence: string): boolean {
  const rule = sentence.replace(OPENER, "");
  if (/\?\s*$/.test(rule)) return false;
  return DIRECTIVE.test(rule) && (MARKED_VALUE.test(rule) || !DEICTIC.test(rule));
}

/** The sentence as a rule of its own. */
function asRule(sentence: string): string {
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
