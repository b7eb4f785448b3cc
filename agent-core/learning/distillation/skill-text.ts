/** Text of a learnt skill: a SKILL.md in the Agent Skills format, made from its record, and changes of a user's SKILL.md. */
import { localDate } from "../../platform/clock.ts";
import { AUTHOR } from "../../skills/skill.ts";
import type { LearntSkill, SkillContent } from "./learnt-skills.ts";
import type { Bullet, Delta } from "./proposal.ts";

/** Equal records give equal texts. */
export function skillText(skill: Pick<LearntSkill, "name" | "project" | "createdAt"> & SkillContent): string {
  const { name, description, version, createdAt, changedAt, score, applicableWhen, tools, bullets } = skill;
  const quoted = JSON.stringify;
  return `---
name: ${name}
description: ${quoted(description)}
metadata:
  version: "${version}"
  created: "${localDate(createdAt)}"
  last_updated: "${localDate(changedAt)}"
  avg_feedback_score: "${score === null ? "" : score.toFixed(2)}"
  applicable_when: ${quoted(applicableWhen.join("; "))}
  tools_used: ${quoted(tools.join(", "))}
  hermes:
    author: ${AUTHOR}
    project: ${quoted(skill.project)}
---

# ${name}

${bullets.map(({ text }) => `- ${text}`).join("\n")}
`;
}

/** Bullets after the deltas. Deltas of unknown ids and repeated texts change nothing. */
export function withDeltas(
  bullets: readonly Bullet[],
  deltas: readonly Delta[],
  next: number,
): { readonly bullets: readonly Bullet[]; readonly next: number } {
  let changed = [...bullets];
  let number = next;
  for (const delta of deltas) {
    if (delta.op === "remove") changed = changed.filter(({ id }) => id !== delta.id);
    else if (changed.some(({ text }) => text === delta.text)) continue;
    else if (delta.op === "add") {
      changed.push({ id: `b${number}`, text: delta.text, helpful: 0, harmful: 0 });
      number += 1;
    } else {
      changed = changed.map((bullet) =>
        bullet.id === delta.id ? { id: bullet.id, text: delta.text, helpful: 0, harmful: 0 } : bullet,
      );
    }
  }
  return { bullets: changed, next: number };
}

/** A text of the user with the deltas. Everything but the changed lines stays. `bullets`: those that the deltas name. */
export function withDeltasIn(text: string, deltas: readonly Delta[], bullets: readonly Bullet[]): string {
  const lines = text.trimEnd().split("\n");
  for (const delta of deltas) {
    if (delta.op === "add") {
      if (!lines.includes(`- ${delta.text}`)) lines.push(`- ${delta.text}`);
      continue;
    }
    const old = bullets.find(({ id }) => id === delta.id);
    const at = lines.indexOf(`- ${old?.text ?? ""}`);
    if (old === undefined || at < 0) continue;
    lines.splice(at, 1, ...(delta.op === "edit" ? [`- ${delta.text}`] : []));
  }
  return `${lines.join("\n")}\n`;
}
