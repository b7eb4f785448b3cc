import * as z from "zod";
import { nearestNames } from "../platform/names.ts";
import type { SkillLibrary } from "../skills/skill-library.ts";
import { shortTitle } from "./shown-path.ts";
import { defineTool, refusal, type ToolContext, type ToolResult } from "./tool.ts";

const input = z.object({
  name: z.string().min(1),
  file_path: z.string().min(1).exactOptional().describe("A file that the skill lists"),
});

export const tool = defineTool({
  name: "skill_view",
  toolset: "skills",
  kind: "read",
  readOnly: true,
  largeOutput: true,
  description: "Read a skill and the list of its files, or one of its files.",
  input,
  title: ({ name, file_path: path }) => shortTitle(`Read skill ${name}${path === undefined ? "" : `: ${path}`}`),
  effect: () => ({ kind: "none" }),
  run,
});

async function run({ name, file_path: path }: z.infer<typeof input>, { skills }: ToolContext): Promise<ToolResult> {
  if (skills === undefined) return refusal("skill_view", "there are no skills in this session");
  const { skills: all, failures } = await skills.load();
  const skill = all.find((candidate) => candidate.name === name);
  if (skill === undefined) {
    const broken = failures.find((failure) => failure.name === name);
    return refusal(
      "skill_view",
      broken === undefined ? await unknownSkill(name, skills) : `${name} does not load: ${broken.reason}`,
    );
  }
  if (skill.isOff) return refusal("skill_view", `the user switched ${name} off`);
  if (skill.unusable !== undefined) return refusal("skill_view", `${name} cannot be used here: ${skill.unusable}`);
  const read = await (path === undefined || path === "SKILL.md"
    ? skills.read(skill, "loaded", skill.source === "bundled" ? "procedure" : "whole") // nobody edits a bundled one
    : skills.readFile(skill, path));
  return read.ok ? read : refusal("skill_view", read.reason);
}

async function unknownSkill(name: string, library: SkillLibrary): Promise<string> {
  const names = (await library.offered()).map((skill) => skill.name);
  const near = nearestNames(name, names, 3);
  return `there is no skill ${JSON.stringify(name)}. ${near.length > 0 ? `Did you mean ${near.join(", ")}?` : "skills_list has the names."}`;
}
