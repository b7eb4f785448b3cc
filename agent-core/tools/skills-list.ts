import * as z from "zod";
import { categoryOf, skillList } from "../skills/skill-index.ts";
import { isForUser } from "../skills/skill-places.ts";
import { defineTool, type ToolContext, type ToolResult } from "./tool.ts";

const input = z.object({ category: z.string().min(1).exactOptional() });

export const tool = defineTool({
  name: "skills_list",
  toolset: "skills",
  kind: "read",
  readOnly: true,
  need: "rare",
  description: "List the skills, each with its description: procedures for recurring work.",
  input,
  title: ({ category }) => (category === undefined ? "List skills" : `List skills: ${category}`),
  effect: () => ({ kind: "none" }),
  run,
});

async function run({ category }: z.infer<typeof input>, { skills }: ToolContext): Promise<ToolResult> {
  if (skills === undefined) return { ok: false, text: "skills_list: there are no skills in this session." };
  const offered = (await skills.offered()).filter((skill) => !isForUser(skill));
  const chosen = category === undefined ? offered : offered.filter((skill) => categoryOf(skill) === category);
  if (chosen.length > 0) return { ok: true, text: skillList(chosen) };
  const categories = [...new Set(offered.map(categoryOf))].join(", ");
  return {
    ok: false,
    text: `skills_list: no skill is in ${JSON.stringify(category)}. The categories are ${categories}.`,
  };
}
