import * as z from "zod";
import type { Memory } from "../memory/memory.ts";
import { type NoteChange, notesLength } from "../memory/notes.ts";
import { findThreat } from "../prompt/injection-scan.ts";
import { shortTitle } from "./resolve-path.ts";
import { defineTool, type StagedCall, type ToolContext, type ToolResult } from "./tool.ts";

const input = z
  .object({
    action: z.enum(["add", "replace", "remove"]),
    target: z
      .enum(["memory", "user"])
      .default("memory")
      .describe("memory: facts about the work; user: facts about the user and their preferences"),
    content: z.string().min(1).exactOptional().describe("add, replace: the entry, one or two sentences"),
    old_text: z
      .string()
      .min(1)
      .exactOptional()
      .describe("replace, remove: a part of the entry that no other entry contains"),
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
    "Remember facts for later sessions: decisions, conventions, the user's corrections and preferences. Not facts that only the present task needs, nor facts that the code shows. The prompt shows the entries as of the start of the session.",
  input,
  title: ({ action, content, old_text: oldText }) => shortTitle(`${titles[action]}: ${content ?? oldText ?? ""}`),
  effect: () => ({ kind: "memory" }),
  stage,
});

/** The change is shown before it is approved. */
async function stage(call: Call, context: ToolContext): Promise<StagedCall> {
  const { memory } = context;
  if (memory === undefined) return refused("there is no memory in this session.");
  const threat = call.content === undefined ? undefined : findThreat(call.content);
  if (threat !== undefined) return refused(`the content contains ${threat}; it was not saved.`);
  const preview = await memory.preview(call.target, changeOf(call));
  if (!preview.ok) return refused(preview.message);
  const { path, oldText, newText } = preview;
  return { ok: true, diffs: [{ path, oldText, newText }], run: () => run(call, memory, context) };
}

async function run(
  call: Call,
  memory: Memory,
  { memoryWriter: by = "agent", sessionId, callId }: ToolContext,
): Promise<ToolResult> {
  const changed = await memory.change(call.target, changeOf(call), { by, sessionId, callId });
  if (!changed.ok) return refused(changed.message);
  const { notes, evicted } = changed;
  const made =
    evicted.length === 0
      ? ""
      : ` To make room, the oldest ${evicted.length === 1 ? "entry was" : `${evicted.length} entries were`} moved to the archive.`;
  const done = { add: "Saved", replace: "Corrected", remove: "Forgotten" }[call.action];
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

function refused(why: string): { readonly ok: false; readonly text: string } {
  return { ok: false, text: `memory: ${why}` };
}
