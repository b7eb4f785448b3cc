/** Tool with which the model finds learnt lines and notes beyond those in its prompt, by the words of a question. */
import * as z from "zod";
import type { Memory } from "../memory/memory.ts";
import { MEMORY_TARGETS } from "../memory/notes.ts";
import { ranked } from "../memory/statement.ts";
import { localDate } from "../platform/clock.ts";
import { findThreat } from "../prompt/injection-scan.ts";
import { shortTitle } from "../tools/shown-path.ts";
import { defineTool, type Tool } from "../tools/tool.ts";
import type { Fact } from "./facts.ts";

const MAX_FOUND = 10;

const input = z.object({ query: z.string().min(1).describe("Words of any language") });
const PARAMETERS = {
  type: "object",
  properties: { query: { type: "string", description: "Words of any language" } },
  required: ["query"],
};

type Line = { readonly text: string; readonly shown: string };

/** `roots`: folders of the workspace, absolute. */
export function memorySearch(home: string, roots: readonly string[]): Tool {
  return defineTool({
    name: "memory_search",
    toolset: "memory",
    kind: "search",
    readOnly: true,
    need: "rare",
    description:
      "Search what was learnt in earlier sessions and the memory, beyond the lines of the prompt: rules, facts and people of this project, also those that no longer hold.",
    input,
    parameters: PARAMETERS,
    title: ({ query }) => shortTitle(`Search the memory: ${query}`),
    effect: () => ({ kind: "none" }),
    run: async ({ query }, { memory }) => {
      const { holdsIn, isShown, readFacts } = await import("./facts.ts"); // a start of the agent does without it
      // The words of a tool reach no model before the user's yes.
      const isOpen = (fact: Fact): boolean => holdsIn(fact, roots) && (fact.source !== "tool" || isShown(fact));
      const facts = (await readFacts(home)).filter(isOpen);
      const lines = [...facts.map(factLine), ...(await noteLines(memory))];
      const found = ranked(query, lines).filter(({ shown }) => findThreat(shown) === undefined);
      const text = found.slice(0, MAX_FOUND).map(({ shown }) => `- ${shown}`);
      return { ok: true, text: text.join("\n") || "Nothing in the memory has these words." };
    },
  });
}

function factLine(fact: Fact): Line {
  const { id, text, subject, from, until, evidence, proposedFor } = fact;
  const since = until === undefined ? `since ${localDate(from)}` : `no longer holds since ${localDate(until)}`;
  const state = proposedFor === undefined ? since : "not confirmed by the user";
  const about = id.startsWith("p-") ? "" : `${subject}: `;
  const session = evidence.at(-1)?.replace(/:\d+$/, "");
  return { text: `${subject} ${text}`, shown: `${about}${text} (${state}${session ? `, session ${session}` : ""})` };
}

async function noteLines(memory: Memory | undefined): Promise<readonly Line[]> {
  if (memory === undefined) return [];
  const notes = await Promise.all(MEMORY_TARGETS.map((target) => memory.read(target)));
  return notes.flat().map((text) => ({ text, shown: text }));
}
