/** Parts of a learnt skill that come from its cluster: name, description, requests and sessions. */
import { wordRow } from "../../memory/statement.ts";
import { counted } from "../../platform/counted.ts";
import { nameProblem } from "../../skills/skill.ts";
import type { Skill } from "../../skills/skill-places.ts";
import type { Episode } from "../episode.ts";
import type { LearningChange } from "../learning-ledger.ts";
import { type Cluster, contentWords } from "./clusters.ts";
import type { LearntSkill, LearntState } from "./learnt-skills.ts";
import type { Delta, Proposal } from "./proposal.ts";
import type { OutdatedCheck } from "./score-uses.ts";
import { meanOf, outcomeOf } from "./session-score.ts";
import { type Evidence, textProblem } from "./skill-evidence.ts";

/** Sessions of a repeated task, oldest first, and the id of its skill. */
export type Task = { readonly cluster: Cluster; readonly skill?: string };

export type Case = Task & {
  readonly state: LearntState;
  /** Reason why a statement contradicts what the facts say now. */
  readonly outdated: OutdatedCheck;
  /** Skills that are not this loop's: those of the home, and all names. */
  readonly foreign: { readonly home: readonly Skill[]; readonly names: ReadonlySet<string> };
};

export type Admitted = Case & {
  readonly existing: LearntSkill | undefined;
  readonly evidence: Evidence;
  readonly proposal: Proposal;
  readonly deltas: readonly Delta[];
  readonly rejects: readonly LearningChange[];
};

export function contentOf({ proposal, cluster, evidence }: Admitted) {
  const { description } = proposal;
  const isGood = description.length <= 500 && textProblem(description, evidence) === undefined;
  return {
    description: isGood ? description : `Steps for tasks such as: ${commonWords(cluster).join(" ")}.`,
    applicableWhen: [wordsOfMost(cluster)],
    tools: [...new Set(cluster.flatMap(({ tools }) => tools))],
    score: meanOf(cluster.map(outcomeOf)),
  };
}

export function newSkill(input: Admitted, at: number) {
  const name = freeName(input);
  const before = input.state.skills.find((skill) => skill.name === name);
  return {
    id: `s-${name}`,
    name,
    project: input.cluster[0]?.cwd ?? "",
    state: "trial" as const,
    createdAt: at,
    uses: [],
    pinned: false,
    earlier: [],
    hashes: before?.hashes ?? [],
    version: (before?.version ?? 0) + 1,
    ...seenFields(input.cluster, undefined),
    reason: reasonOf(input.cluster),
  };
}

export function seenFields(cluster: Cluster, existing: LearntSkill | undefined) {
  return { sessions: [...new Set([...(existing?.sessions ?? []), ...cluster.map(({ sessionId }) => sessionId)])] };
}

export function uses({ skills }: Episode, { name }: Pick<LearntSkill, "name">): boolean {
  return skills.some((use) => use.startsWith(`${name}@`));
}

export function reasonOf(cluster: Cluster): string {
  const corrections = cluster.flatMap((episode) => episode.corrections).length;
  const corrected = corrections === 0 ? "" : `, with ${counted(corrections, "correction")}`;
  return `${cluster.length} sessions of the last 7 days had such a task${corrected}.`;
}

/** Name that the model proposes, else one of the words of the messages; with a number when it is in use. */
function freeName({ proposal, cluster, state, foreign }: Admitted): string {
  const proposed = proposal.name.toLowerCase();
  const base = nameProblem(proposed) === undefined && proposed.length <= 48 ? proposed : nameFrom(cluster);
  const used = (name: string): boolean =>
    foreign.names.has(name) || state.skills.some((skill) => skill.name === name && skill.state !== "retired");
  for (let number = 1; ; number += 1) {
    const name = number === 1 ? base : `${base}-${number}`;
    if (!used(name)) return name;
  }
}

export function nameFrom(cluster: Cluster): string {
  const words = commonWords(cluster).flatMap((word) => word.match(/[a-z0-9]+/g) ?? []);
  return words.slice(0, 4).join("-").slice(0, 48).replace(/-$/, "") || "repeated-task";
}

/** Words of all messages, in the order of the first one. */
export function commonWords(cluster: Cluster): readonly string[] {
  const lists = cluster.map(({ firstMessage }) => contentWords(firstMessage));
  const isCommon = (word: string): boolean =>
    contentWords(word).some((stem) => lists.every((list) => list.includes(stem)));
  return [...new Set(wordRow(cluster[0]?.firstMessage ?? ""))].filter(isCommon);
}

/** Words that most requests have: what the user said beside one task may be private. */
function wordsOfMost(cluster: Cluster): string {
  const requests = cluster.map(({ firstMessage }) => new Set(wordRow(firstMessage)));
  const words = [...new Set(requests.flatMap((request) => [...request]))];
  return words.filter((word) => requests.filter((request) => request.has(word)).length * 2 > requests.length).join(" ");
}
