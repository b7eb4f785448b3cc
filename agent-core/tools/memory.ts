import { basename } from "node:path";
import * as z from "zod";
import type { Memory } from "../memory/memory.ts";
import type { MemoryTarget } from "../memory/memory-ledger.ts";
import { type NoteChange, notesLength } from "../memory/notes.ts";
import { findThreat } from "../prompt/injection-scan.ts";
import { shortTitle } from "./shown-path.ts";
import { defineTool, refusal, type StagedCall, type ToolContext, type ToolResult } from "./tool.ts";

const input = z
  .object({
    action: z.enum(["add", "replace", "remove"]),
    target: z.enum(["memory", "user"]).default("memory").describe("user: about the user"),
    scope: z.enum(["user", "project"]).exactOptional().describe("project: holds here only"),
    content: z.string().min(1).exactOptional().describe("The entry, in a sentence or two"),
    old_text: z.string().min(1).exactOptional().describe("A part that no other entry has"),
  })
  .superRefine((call, refinement) => {
    const needed = { add: ["content"], replace: ["content", "old_text"], remove: ["old_text"] } as const;
    for (const name of needed[call.action]) {
      if (call[name] !== undefined) continue;
      refinement.addIssue({ code: "custom", path: [name], message: `is needed to ${call.action}` });
    }
  });

type Call = z.infer<typeof input>;

/** Shorter names of folders are ordinary words. Characters. */
const SHORTEST_NAME = 3;

const titles: Readonly<Record<Call["action"], string>> = { add: "Remember", replace: "Correct", remove: "Forget" };

export const tool = defineTool({
  name: "memory",
  toolset: "memory",
  kind: "think",
  readOnly: false,
  description:
    "Remember facts for later sessions: decisions, conventions, the user's corrections and preferences; nothing that only this task needs or the code shows. Replace or remove outdated entries by their text.",
  input,
  title: ({ action, content, old_text: oldText }) => shortTitle(`${titles[action]}: ${content ?? oldText ?? ""}`),
  effect: ({ content: text }) => ({ kind: "memory", text }),
  stage,
});

/** The change is shown before it is approved. */
async function stage(call: Call, context: ToolContext): Promise<StagedCall> {
  const { memory } = context;
  if (memory === undefined) return refusal("memory", "there is no memory in this session.");
  const threat = call.content === undefined ? undefined : findThreat(call.content);
  if (threat !== undefined) return refusal("memory", `the content contains ${threat}; it was not saved.`);
  const change = changeOf(call);
  const target = await memory.placed(targetOf(call, context.cwd), change);
  const preview = await memory.preview(target, change);
  if (!preview.ok) return refusal("memory", preview.message);
  const { path, oldText, newText } = preview;
  return {
    ok: true,
    diffs: [{ path, oldText, newText }],
    run: () => run(call, { target, change }, { memory, context }),
  };
}

/** Notes about the work that name the project hold there only. */
function targetOf({ target, scope, content = "" }: Call, cwd: string): MemoryTarget {
  if (scope === "project") return "project";
  if (target === "user" || scope === "user") return target;
  const name = basename(cwd).toLowerCase();
  const words = content.toLowerCase().match(/[\p{L}\p{N}][\p{L}\p{N}._-]*/gu) ?? [];
  const isNamed =
    content.includes(cwd) ||
    (name.length >= SHORTEST_NAME && words.some((word) => word.replace(/[._-]+$/, "") === name));
  return isNamed ? "project" : target;
}

type Where = { readonly memory: Memory; readonly context: ToolContext };

async function run(
  call: Call,
  { target, change }: { readonly target: MemoryTarget; readonly change: NoteChange },
  { memory, context }: Where,
): Promise<ToolResult> {
  const { memoryWriter: by = "agent", sessionId, callId } = context;
  const changed = await memory.change(target, change, { by, sessionId, callId });
  if (!changed.ok) return refusal("memory", changed.message);
  const { notes, evicted } = changed;
  const made =
    evicted.length === 0
      ? ""
      : ` To make room, the oldest ${evicted.length === 1 ? "entry was" : `${evicted.length} entries were`} moved to the archive.`;
  const done = { add: "Saved", replace: "Corrected", remove: "Forgotten" }[call.action];
  const used = `${notesLength(notes)}/${memory.limit(target)} characters`;
  const where = target === "project" ? " for this project" : "";
  return {
    ok: true,
    text: `${done}${where}. ${notes.length === 1 ? "1 entry" : `${notes.length} entries`}, ${used}.${made}`,
  };
}

function changeOf({ action, content = "", old_text: oldText = "" }: Call): NoteChange {
  if (action === "replace") return { action, content, oldText };
  return action === "add" ? { action, content } : { action, oldText };
}
