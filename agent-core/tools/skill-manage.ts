import * as z from "zod";
import type { ChangedFile, SkillAction } from "../skills/change-skill.ts";
import { shortTitle } from "./shown-path.ts";
import { defineTool, refusal, type StagedCall, type ToolContext, type ToolResult } from "./tool.ts";

const text = z.string().exactOptional();

const input = z
  .object({
    action: z.enum(["create", "edit", "patch", "delete", "write_file", "remove_file"]),
    name: z.string().min(1).describe("Lower case and hyphens"),
    content: text.describe("create, edit: the whole SKILL.md, with name and description in its front matter"),
    category: text.describe("create: folder of the skill"),
    file_path: text.describe("In references/, templates/, scripts/ or assets/"),
    file_content: text,
    old_string: text.describe("patch: text that is there once"),
    new_string: text,
  })
  .superRefine((call, refinement) => {
    for (const name of NEEDED[call.action]) {
      if (call[name] !== undefined) continue;
      refinement.addIssue({ code: "custom", path: [name], message: `is needed to ${call.action}` });
    }
  });

type Call = z.infer<typeof input>;

const NEEDED: Readonly<Record<SkillAction, readonly Exclude<keyof Call, "action" | "name" | "category">[]>> = {
  create: ["content"],
  edit: ["content"],
  patch: ["old_string", "new_string"],
  delete: [],
  write_file: ["file_path", "file_content"],
  remove_file: ["file_path"],
};

const titles: Readonly<Record<SkillAction, string>> = {
  create: "Create skill",
  edit: "Rewrite skill",
  patch: "Change skill",
  delete: "Delete skill",
  write_file: "Write file of skill",
  remove_file: "Remove file of skill",
};

export const tool = defineTool({
  name: "skill_manage",
  toolset: "skills",
  kind: "edit",
  readOnly: false,
  need: "rare",
  description:
    "Keep a procedure that worked and will be needed again as a skill, or correct one that was wrong. Read a skill before you change it.",
  input,
  title: ({ action, name, file_path: path }) =>
    shortTitle(`${titles[action]} ${name}${path === undefined ? "" : `: ${path}`}`),
  effect: (call) => ({ kind: "skill", text: call.content ?? call.file_content ?? call.new_string }),
  stage,
});

/** The change is shown before it is approved. */
async function stage(call: Call, context: ToolContext): Promise<StagedCall> {
  if (context.skills === undefined) return refusal("skill_manage", "there are no skills in this session.");
  const { planSkillChange } = await import("../skills/change-skill.ts");
  const planned = await planSkillChange(call, context.skills, context.skills.today);
  if (!planned.ok) return refusal("skill_manage", `${planned.reason}.`);
  const { files, folder } = planned;
  const diffs = files.map(({ path, before, after }) => ({ path, oldText: before, newText: after }));
  const run = async (): Promise<ToolResult> => {
    const result = await write(call, folder, files, context);
    return result.ok ? { ...result, diffs } : result;
  };
  return { ok: true, diffs, run };
}

async function write(
  { action, name }: Call,
  folder: string,
  files: readonly ChangedFile[],
  { host, signal }: ToolContext,
): Promise<ToolResult> {
  const { removeEmptyFolders } = await import("../skills/change-skill.ts");
  for (const { path, before, after } of files) {
    const written = await host.files.guardedWrite({ path, expected: before, after, purpose: "edit" }, signal);
    if (!written.ok) return refusal("skill_manage", `${written.message} Another window may have changed the skill.`);
    if (after === null) await removeEmptyFolders(path, folder);
  }
  const done = action === "delete" ? `Deleted the skill ${name}` : `Saved the skill ${name} in ${folder}`;
  const hint = action === "create" ? ` The user can name it as /${name}.` : "";
  return { ok: true, text: `${done}.${hint}` };
}
