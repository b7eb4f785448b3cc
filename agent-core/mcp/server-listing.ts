/** Tools and prompts of a server, as its lists have them. */
import { setImmediate } from "node:timers/promises";
import { attempt } from "../platform/errors.ts";
import type { ArgumentCheck } from "../tools/argument-check.ts";
import type { CallOptions, OpenClient } from "./open-client.ts";
import type { ListProblem, ServerPrompt, ServerTool } from "./server-answers.ts";

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
export async function listingOf(client: OpenClient, before: Listing, options?: CallOptions): Promise<Listing> {
  const { has, instructions } = client;
  const [tools, prompts] = await Promise.all([
    // Servers forget to announce their tools.
    client.tools(options).catch((error: unknown) => (has.tools ? Promise.reject(error) : undefined)),
    // They announce prompts that they do not have, or fail once.
    has.prompts
      ? client.prompts(options).catch(() => ({ items: before.prompts, problems: before.promptProblems }))
      : undefined,
  ]);
  const known = new Map(before.tools.map(({ inputSchema, check }) => [JSON.stringify(inputSchema), check]));
  const checked: CheckedTool[] = [];
  for (const [index, tool] of (tools?.items ?? []).entries()) {
    const check = known.get(JSON.stringify(tool.inputSchema)) ?? checkOf(client, tool);
    checked.push({ ...tool, check });
    if ((index + 1) % COMPILED_AT_ONCE === 0) await setImmediate();
  }
  return {
    tools: checked,
    prompts: prompts?.items ?? [],
    hasResources: has.resources,
    instructions,
    toolProblems: tools?.problems ?? [],
    promptProblems: prompts?.problems ?? [],
  };
}

/** A schema that does not compile checks nothing: the server does. */
function checkOf(client: OpenClient, { inputSchema }: ServerTool): ArgumentCheck {
  return attempt(() => client.check(inputSchema)) ?? (() => undefined);
}
