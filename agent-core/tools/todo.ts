import * as z from "zod";
import { defineTool } from "./tool.ts";

const MAX_ITEMS = 256;
const MAX_CONTENT_CHARS = 4_000;

const input = z.object({
  todos: z
    .array(
      z.object({
        id: z.string().min(1),
        content: z.string().min(1).max(MAX_CONTENT_CHARS),
        status: z.enum(["pending", "in_progress", "completed", "cancelled"]),
      }),
    )
    .max(MAX_ITEMS)
    .optional()
    .describe("Omit to read the list"),
  merge: z.boolean().default(false).describe("Update by id, keep the others"),
});

export const tool = defineTool({
  name: "todo",
  toolset: "todo",
  kind: "think",
  readOnly: false,
  description: "Keep a plan that the user sees, with one step in progress at a time.",
  input,
  title: ({ todos }) => (todos === undefined ? "Read the plan" : "Update the plan"),
  effect: () => ({ kind: "none" }),
  run({ todos, merge }, { todos: list }) {
    if (todos !== undefined && merge) list.merge(todos);
    else if (todos !== undefined) list.replace(todos);
    return Promise.resolve({ ok: true, text: JSON.stringify(list.items) });
  },
});
