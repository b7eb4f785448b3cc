/**
 * Corrections: messages in which the user takes exception to the answer before them, by their first words in English and
 * German. A message that agrees, or that answers a question, is none.
 */

import { type Message, typedText } from "../messages/message.ts";

/** Words before the point of a message: "Hm, no", "Sorry, but that is wrong", "Bitte nicht so". */
const LEAD =
  /^(?:(?:ok(?:ay)?|hm+|oh|ah|um|well|sorry|please|but|and|hey|wait|also|bitte|aber|ne|na|mhm|ach)\b[\s,.:;!…-]*)+/i;

/** Openings that look like a correction and agree, decline an offer, or say that something is unknown. */
const AGREEMENTS: readonly RegExp[] = [
  /^no,? (?:problem|problems|worries|rush|hurry|need|idea|clue|doubt|questions?|issues?|objections?|complaints?|comments?|matter|kidding|pressure|wonder|offen[cs]e|thanks|thank you|way)\b/i,
  /^(?:no|nope|nah)\b[\s,.:;!…-]*(?:(?:that|this|it|everything|all)(?:'s|’s| is| are| looks| seems| was)?\s+(?:all\s+)?(?:fine|ok(?:ay)?|good|great|right|correct|perfect|enough|it|well|clear)\b|(?:you(?:'re|’re| are) right|go (?:ahead|on)|keep (?:it|that|going)|leave (?:it|that)|carry on|continue|thanks|thank you|all good|please (?:continue|go on)|i(?:'m|’m| am) (?:fine|good|happy)|not (?:yet|now|at the moment|necessary|needed|that i know)|we(?:'re|’re| are) (?:fine|good|done)))/i,
  /^no (?:more|further|other|changes|tests?|errors?|warnings?|one|new|need|longer)\b/i,
  /^not (?:that|this|much|many|bad|sure|yet|now|really|necessarily|necessary|needed|only|at all|urgent|important|a problem|an issue|today|too)\b(?! (?:one|file|way|line|folder|branch|function|test|place|again)|[\s]*[.,!:;]|[\s]*$)/i,
  /^that(?:'s|’s| is) not (?:a (?:problem|big deal|bug)|an issue|bad|all|urgent|important|necessary|needed|so|yet|too)\b/i,
  /^(?:nein|nee|nö)\b[\s,.:;!–-]*(?:danke|passt|alles|schon (?:gut|ok)|das (?:passt|reicht|ist (?:gut|ok(?:ay)?|richtig|in ordnung|prima|super|perfekt|so gut|alles))|mach (?:ruhig )?weiter|weiter|lass (?:es|das) so|du hast recht|noch nicht|nicht (?:nötig|dass ich wüsste)|keine? (?:frage|fragen|ahnung|änderung))/i,
  /^kein(?:e|en)?\b/i,
  /^nicht (?:schlecht|schlimm|nötig|dringend|wichtig|dass ich|ganz|nur|mehr|sicher|übel|heute|jetzt|unbedingt)\b/i,
  /^das ist nicht (?:schlimm|schlecht|nötig|dringend|wichtig|alles|so wichtig)\b/i,
];

/** A refusal; as the answer to a question it is no correction. */
const REFUSAL = /^(?:no|nope|nah|nein|nee|nö)(?=[\s,.:;!…–-]|$)/i;

const CORRECTIONS: readonly RegExp[] = [
  /^not (?:like )?(?:that|this)(?=[\s,.:;!…-]|$)|^not what i\b|^not (?:the|in|on|into|to)\b.{0,40}\b(?:but|instead|the other)\b/i,
  /^(?:that|this|it)(?:(?:'s|’s| is)(?: still)? (?:not|wrong|incorrect|broken|false)\b|(?: is|) ?n['’]t (?:right|correct|what|it|working|how|the)\b)/i,
  /^(?:that|this|it|the \w+)? ?(?:still )?(?:does(?:n['’]t| not)|did(?:n['’]t| not)) (?:work|help|compile|run|build|fix|change)\b/i,
  /^(?:that|this|it|they)? ?(?:is |are |'s )?still (?:not|broken|wrong|fail|failing|fails|missing|the same|there|does(?:n['’]t| not)|isn['’]t)\b/i,
  /^wrong(?=\s*[.,!:;…-]|\s*$|(?:\s+[\p{L}\p{N}'’_-]+){1,3}\s*(?:[.,!:;…–]|$))/iu,
  /^falsche[nrs]?(?:\s+[\p{L}\p{N}_-]+){1,2}\s*(?:[.,!:;…–]|$)/iu,
  /^i (?:said|meant|told you|asked (?:you|for)|did(?:n['’]t| not) (?:ask|want|mean|say))\b/i,
  /^i (?:undid|reverted|took\b.{1,40}\bback)\b/i,
  /^(?:undo|revert|roll back) (?:that|this|it|your|the last)\b/i,
  /^you(?:'ve|’ve| have)? (?:again )?(?:forgot|forgotten|missed|broke|broken|misunderstood|ignored|deleted|removed|overwrote|overlooked|(?:did|have|should|were)(?:n['’]t| not)|should have|were supposed)\b/i,
  /^(?:don['’]t|do not|stop)(?: (?:do|doing|change|changing) (?:that|this|it)\b|\s*[.,!]|\s*$)/i,
  /^(?:so )?nicht (?:so|das|diese[nrsm]?|die|den|in|auf)(?=[\s,.:;!–-]|$)|^so nicht\b/i,
  /^(?:das |es )?(?:ist |war )?(?:leider )?(?:immer noch |noch immer )?falsch\b|^das (?:ist|war) (?:immer noch )?(?:nicht|kein)\b|^(?:das )?stimmt (?:so )?nicht\b/i,
  /^(?:das |es )?(?:funktioniert|klappt|geht|läuft|kompiliert|baut) (?:so |immer noch |noch immer |leider |noch )*nicht\b|^immer noch (?:nicht|falsch|kaputt|fehler|derselbe|das gleiche)/i,
  /^ich (?:habe |hatte |hab )?(?:doch )?(?:gesagt|sagte|meinte|wollte (?:doch|nicht|aber)|hatte gebeten|gemeint)(?![a-zäöüß])|^ich (?:habe|hatte|hab) .{0,40}\b(?:gesagt|gemeint|gebeten|verlangt)\b/i,
  /^(?:mach|nimm) (?:das|es|die änderung|deine änderung) .{0,20}(?:rückgängig|zurück)|^rückgängig\b/i,
  /^du (?:hast|solltest|hättest)\b.{0,60}(?:vergessen|übersehen|kaputt|gelöscht|ignoriert|missverstanden|überschrieben|sollen|nicht)(?![a-zäöüß])/i,
  /^(?:lass das|hör auf|stopp)(?=[\s,.:;!–-]|$)/i,
];

/** True for a message that corrects the answer before it. `asked`: that answer ended in a question. */
export function isCorrection(message: string, asked = false): boolean {
  const text = message.replace(/^[^\p{L}\p{N}]+/u, "").replace(LEAD, "");
  if (AGREEMENTS.some((pattern) => pattern.test(text))) return false;
  if (REFUSAL.test(text)) return !asked;
  return CORRECTIONS.some((pattern) => pattern.test(text));
}

/** Messages of the user, after the first one, that correct the answer before them. */
export function correctionsIn<Said extends { readonly message: Message }>(said: readonly Said[]): readonly Said[] {
  let isFirst = true;
  let asked = false;
  return said.filter(({ message }) => {
    if (message.role === "assistant") asked = asksUser(message);
    if (message.role !== "user" || message.synthetic === true) return false;
    const corrects = !isFirst && isCorrection(typedText(message.content), asked);
    isFirst = false;
    return corrects;
  });
}

/** True for an answer that ends in a question. */
export function asksUser({ content }: Extract<Message, { role: "assistant" }>): boolean {
  return content?.trimEnd().endsWith("?") === true;
}
