/** Tools and prompts of a server, as its lists have them. */
import { setImmediate } from "node:timers/promises";
import { messageOf } from "../platform/errors.ts";
import type { ArgumentCheck } from "../tools/argument-check.ts";
import type { OpenClient } from "./open-client.ts";
import type { ListProblem, ServerPrompt, ServerTool } from "./server-answers.ts";

/** A tool of the server, with the check of its arguments. */
export type CheckedTool = ServerTool & { readonly check: ArgumentCheck };

export type Listing = {
  readonly tools: readonly CheckedTool[];
  readonly prompts: readonly ServerPrompt[];
  readonly hasResources: boolean;
  /** The server's advice on its use, as it wrote it. */
  readonly instructions: string | undefined;
  /** Tools and prompts that cannot be used. */
  readonly toolProblems: readonly ListProblem[];
  readonly promptProblems: readonly ListProblem[];
};

export const NOTHING: Listing = {
  tools: [],
  prompts: [],
  hasResources: false,
  instructions: undefined,
  toolProblems: [],
  promptProblems: [],
};

/** Schemas that are compiled before the event loop runs other work: one takes about a millisecond. */
const COMPILED_AT_ONCE = 5;

/** Reads the lists. The check of a tool whose schema did not change stays. */
export async function listingOf(client: OpenClient, before: Listing): Promise<Listing> {
  const [tools, prompts] = await Promise.all([
    client.has.tools ? client.tools() : undefined,
    client.has.prompts ? client.prompts() : undefined,
  ]);
  const toolProblems = [...(tools?.problems ?? [])];
  const known = new Map(before.tools.map(({ inputSchema, check }) => [JSON.stringify(inputSchema), check]));
  const checked: CheckedTool[] = [];
  let compiled = 0;
  for (const tool of tools?.items ?? []) {
    try {
      const check = known.get(JSON.stringify(tool.inputSchema)) ?? client.check(tool.inputSchema);
      checked.push({ ...tool, check });
    } catch (error) {
      toolProblems.push({ name: tool.name, reason: `its schema does not compile (${messageOf(error)})` });
    }
    compiled += 1;
    if (compiled % COMPILED_AT_ONCE === 0) await setImmediate();
  }
  const { has, instructions } = client;
  return {
    tools: checked,
    prompts: prompts?.items ?? [],
    hasResources: has.resources,
    instructions,
    toolProblems,
    promptProblems: prompts?.problems ?? [],
  };
}
