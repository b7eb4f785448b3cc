import * as z from "zod";
import { type NoteChange, notesLength } from "../memory/notes.ts";
import { findThreat } from "../prompt/injection-scan.ts";
import { shortTitle } from "./resolve-path.ts";
import { defineTool, type ToolContext, type ToolResult } from "./tool.ts";

const input = z
  .object({
    action: z.enum(["add", "replace", "remove"]),
    target: z
      .enum(["memory", "user"])
      .default("memory")
      .describe("memory: facts about the work; user: who the user is and likes"),
    content: z.string().min(1).exactOptional().describe("add, replace: the entry, one or two sentences"),
    old_text: z.string().min(1).exactOptional().describe("replace, remove: a part of the entry that no other has"),
  })
  .superRefine((call, refinement) => {
    const needed = { add: ["content"], replace: ["content", "old_text"], remove: ["old_text"] } as const;
    for (const name of needed[call.action]) {
      if (call[name] !== undefined) continue;
      refinement.addIssue({ code: "custom", path: [name], message: `is needed to ${call.action}` });
    }
  });

type Call = z.infer<typeof input>;

const titles: Readonly<Record<Call["action"], string>> = { add: "Remember", replace: "Correct", remove: "Forget" };

export const tool = defineTool({
  name: "memory",
  toolset: "memory",
  kind: "think",
  readOnly: false,
  description:
    "Keep what will matter in later sessions: decisions, conventions, corrections by the user, their preferences. Not what the task of the day needs, nor what the code says itself. The prompt shows the entries as they were when the session began.",
  input,
  title: ({ action, content, old_text: oldText }) => shortTitle(`${titles[action]}: ${content ?? oldText ?? ""}`),
  effect: () => ({ kind: "none" }),
  run,
});

async function run(call: Call, { memory }: ToolContext): Promise<ToolResult> {
  if (memory === undefined) return refused("nothing is remembered here.");
  const threat = call.content === undefined ? undefined : findThreat(call.content);
  if (threat !== undefined) return refused(`the content holds ${threat}; it was not kept.`);
  const changed = await memory.change(call.target, changeOf(call));
  if (!changed.ok) return refused(changed.message);
  const { notes, evicted } = changed;
  const made =
    evicted.length === 0
      ? ""
      : ` To make room the oldest ${evicted.length === 1 ? "entry was" : `${evicted.length} entries were`} moved to the archive.`;
  const done = { add: "Kept", replace: "Corrected", remove: "Forgotten" }[call.action];
  const used = `${notesLength(notes)}/${memory.limit(call.target)} characters`;
  return { ok: true, text: `${done}. ${notes.length} entries, ${used}.${made}` };
}

function changeOf({ action, content = "", old_text: oldText = "" }: Call): NoteChange {
  switch (action) {
    case "add":
      return { action, content };
    case "replace":
      return { action, content, oldText };
    case "remove":
      return { action, oldText };
  }
}

function refused(why: string): ToolResult {
  return { ok: false, text: `memory: ${why}` };
}
