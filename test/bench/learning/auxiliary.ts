/**
 * The simulated model outside the conversation: summaries, judgements, notes. It recognises a request by its words alone,
 * and errs with a seeded probability: it drops, paraphrases and invents.
 */

import type { Noise } from "./chance.ts";
import { distilled, extracted } from "./learning-answers.ts";
import { type AuxiliaryRequest, textOf, type WireMessage } from "./reader.ts";

/** The request as text; undefined for a request of the conversation. */
export function auxiliaryRequest(messages: readonly WireMessage[]): AuxiliaryRequest | undefined {
  const system = textOf(messages.find(({ role }) => role === "system")?.content);
  if (system.includes("\nHow to work:\n")) return undefined;
  const user = messages.filter(({ role }) => role === "user").map(({ content }) => textOf(content));
  return { system, user: user.join("\n\n") };
}

type Answerer = { readonly when: RegExp; answer(request: AuxiliaryRequest, noise: Noise): string };

const answerers: readonly Answerer[] = [
  { when: /You check the result of a task/, answer: judged },
  { when: /You sum up a part of a conversation/, answer: summary },
  { when: /"facts"[\s\S]*"quote"/, answer: extracted },
  { when: /"deltas"/, answer: distilled },
];

/** Answer to an auxiliary request; a few words to an unknown one. */
export function answerAuxiliary(request: AuxiliaryRequest, noise: Noise): string {
  const known = answerers.find(({ when }) => when.test(request.system));
  return known?.answer(request, noise) ?? "nothing";
}

/** A judge that can add up. */
function judged({ user }: AuxiliaryRequest): string {
  const total = /must have the total (\d+)/.exec(user)?.[1];
  const row = /Row: ([\d ]+)/.exec(user)?.[1]?.trim().split(" ").map(Number) ?? [];
  const sum = row.reduce((added, value) => added + value, 0);
  const isRight = total === undefined || sum === Number(total);
  const scores = isRight ? { correctness: 0.95, completeness: 0.95 } : { correctness: 0.1, completeness: 0.9 };
  const reason = isRight ? "The result fits." : `The row adds up to ${sum}, not to ${total}.`;
  return JSON.stringify({ ...scores, confidence: 0.9, missing_aspects: [], reason });
}

/** Lines with values, and the first words of the user; everything else is left out. */
function summary({ user }: AuxiliaryRequest, { chance, share }: Noise): string {
  const lines = user.split("\n").filter((line) => /`[^`]+`/.test(line) && line.length < 400);
  const kept = lines.filter(() => !chance.hits(share));
  return ["## Facts", ...new Set(kept)].join("\n");
}
