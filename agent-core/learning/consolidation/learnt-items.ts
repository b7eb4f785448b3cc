/** Facts and episodes as the user sees them, and the actions of the user on them. Pure. */
import { join } from "node:path";
import { learningFolder } from "../../config/home.ts";
import { contentWords, similarity, valuesIn } from "../../memory/statement.ts";
import type { LearntAction, LearntItem } from "../../protocol/learning.ts";
import type { Episode } from "../episode.ts";
import { dayText, entitySlug, type Fact, isEdited, isPreference, isShown, sessionOf, waits } from "../facts.ts";
import type { LearningChange } from "../learning-ledger.ts";
import { unknownItem } from "../loop.ts";
import { changeOf, type Merged } from "./merge.ts";

/** The facts after an action of the user, and one line for the user. */
export function acted(
  facts: readonly Fact[],
  id: string,
  action: LearntAction,
  at: number,
): Merged & { readonly message: string } {
  const fact = facts.find((each) => each.id === id);
  if (fact === undefined) return { facts, changes: [], message: unknownItem(id) };
  const record = (op: LearningChange["op"], reason: string): LearningChange => {
    return { ...changeOf(op, fact, fact.text, reason), actor: "user" };
  };
  const set = (changed: Partial<Fact>): readonly Fact[] =>
    facts.map((each) => (each === fact ? { ...each, ...changed } : each));
  switch (action) {
    case "pin":
    case "unpin": {
      const message = `${action === "pin" ? "Pinned" : "Unpinned"}: ${fact.text}`;
      return { facts: set({ isPinned: action === "pin" }), changes: [record(action, message)], message };
    }
    case "both":
      return {
        facts: set({ isExplicit: true, proposedFor: undefined }),
        changes: [record("apply", "The user keeps both.")],
        message: `Kept beside the other one: ${fact.text}`,
      };
    case "accept": {
      const accepted = set({ isExplicit: true, proposedFor: undefined, from: at });
      const closed = accepted.map((each) =>
        each.id === fact.proposedFor ? { ...each, until: at, replacedBy: id } : each,
      );
      return { facts: closed, changes: [record("apply", "The user accepted it.")], message: `Kept: ${fact.text}` };
    }
    case "undo": {
      // A fact that was replaced holds again beside the newer one; without a new fact, those that it replaced do.
      const isRestored = fact.until !== undefined;
      const left = isRestored
        ? set({ until: undefined, replacedBy: undefined })
        : facts
            .filter((each) => each !== fact)
            .map((each) => (each.replacedBy === id ? { ...each, until: undefined, replacedBy: undefined } : each));
      const message = `${isRestored ? "Restored" : "Removed"}: ${fact.text}`;
      return { facts: left, changes: [record("undo", message)], message };
    }
    case "forget":
      return { facts, changes: [], message: "" };
  }
}

/** `used`: number of sessions in which it reached the model. */
export function itemOf(fact: Fact, home: string, used: number): LearntItem {
  const { id, text, scope, evidence, seen, from, until, isPinned } = fact;
  const open = isShown(fact) ? "active" : "proposed";
  const state = until === undefined ? open : "closed";
  const pin = isPinned ? ("unpin" as const) : ("pin" as const);
  const both = fact.proposedFor === undefined ? [] : (["both"] as const);
  const more = { active: [pin], proposed: ["accept", ...both], closed: [] } as const;
  return {
    id,
    text,
    scope,
    seen,
    state,
    loop: "consolidation",
    kind: isPreference(fact) ? "preference" : "fact",
    reason: `${sourceText(fact)}${state === "active" ? "" : ` ${stateText(fact)}`}`,
    sessions: [...new Set(evidence.map(sessionOf))],
    at: until ?? from,
    used,
    pinned: isPinned,
    path: join(learningFolder(home), "entities", `${entitySlug(fact.subject)}.md`),
    actions: ["undo", "forget", ...more[state]],
  };
}

function sourceText(fact: Fact): string {
  if (isEdited(fact)) return "You wrote it.";
  if (fact.source === "tool") {
    const where = "A file, a page or the output of a command says it";
    return fact.isExplicit ? `${where}, and you confirmed it.` : `${where}.`;
  }
  if (fact.source === "run") return "The agent ran it here with exit code 0, and you kept the result.";
  return fact.isExplicit ? "You stated it." : "Your words show it.";
}

function stateText(fact: Fact): string {
  const { until, proposedFor } = fact;
  if (until !== undefined) return `It held until ${dayText(until)}.`;
  if (proposedFor !== undefined) return "It would replace another line.";
  return waits(fact) ? "It is not used until you keep it." : "It counts when it is seen again.";
}

export function episodeItem(path: string, episode: Episode, used: number): LearntItem {
  const { sessionId, summary, cwd, endedAt } = episode;
  return {
    id: `e-${sessionId}`,
    loop: "consolidation",
    kind: "episode",
    text: summary,
    scope: cwd,
    path,
    reason: "Summary of a session.",
    sessions: [sessionId],
    at: endedAt,
    seen: 1,
    used,
    state: "active",
    pinned: false,
    actions: ["forget"],
  };
}

/** The episode without sentences and lines that hold the fact's values; in a session behind the fact, also in other words. */
export function withoutFact(episode: Episode, { text, evidence }: Fact): Episode {
  const values = [...valuesIn(text)];
  const words = new Set(contentWords(text));
  const isSource = evidence.some((ref) => sessionOf(ref) === episode.sessionId);
  const isAbout = (line: string): boolean => {
    const lower = line.toLowerCase();
    if (values.length > 0 && values.every((value) => lower.includes(value))) return true;
    return isSource ? similarity(new Set(contentWords(line)), words) >= 0.6 : lower.includes(text.toLowerCase());
  };
  return {
    ...episode,
    summary: episode.summary
      .split(/(?<=[.!?])\s+|\n+/)
      .filter((sentence) => !isAbout(sentence))
      .join("\n"),
    firstMessage: isAbout(episode.firstMessage) ? "" : episode.firstMessage,
    corrections: episode.corrections.filter((line) => !isAbout(line)),
    commands: episode.commands.filter(({ command }) => !isAbout(command)),
  };
}
