import * as z from "zod";
import { withoutMarkup } from "../messages/without-markup.ts";
import { shortTitle } from "./shown-path.ts";
import { defineTool, type ToolContext, type ToolResult } from "./tool.ts";

const MAX_CHOICES = 4;

const input = z.object({
  question: z.string().min(1),
  choices: z
    .array(z.string().min(1))
    .max(MAX_CHOICES)
    .default([])
    .describe("Up to 4; a free answer is always possible"),
});

export const tool = defineTool({
  name: "clarify",
  toolset: "clarify",
  kind: "other",
  readOnly: false,
  need: "rare",
  interactive: true,
  description: "Ask the user a question when you cannot continue without the answer.",
  input,
  title: ({ question }) => shortTitle(`Ask: ${withoutMarkup(question)}`),
  effect: () => ({ kind: "none" }),
  run,
});

async function run({ question, choices }: z.infer<typeof input>, context: ToolContext): Promise<ToolResult> {
  const answer = await context.ask({ question, choices }, context.signal);
  if (answer.kind === "answered") return { ok: true, text: `The user answered: ${answer.text}` };
  const why = answer.kind === "cancelled" ? "The user did not answer" : "No user can answer here";
  return { ok: true, text: `${why}. Use your best judgement, and say what you assumed.` };
}
