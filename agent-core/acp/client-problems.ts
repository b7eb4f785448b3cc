/** HostProblems through the client: what its language servers find, and a parser's word on files they say nothing of. */
import { type AgentContext, RequestError } from "@zed-industries/agent-client-protocol";
import * as z from "zod";
import type { EditedFile, FileProblems, HostProblems, ProblemWatch } from "../host/problems.ts";
import { type HermesProblemsRequest, type HermesProblemsWatch, problemMethods } from "../protocol/problems.ts";

const problem = z.object({
  line: z.number().int().min(1),
  column: z.number().int().min(1),
  severity: z.enum(["error", "warning"]),
  message: z.string(),
  source: z.string().exactOptional(),
  code: z.string().exactOptional(),
});

const answer = z.object({
  files: z.array(z.object({ path: z.string(), before: z.array(problem), after: z.array(problem) })),
});

export type ClientProblemsOptions = {
  readonly client: AgentContext;
  readonly sessionId: string;
  /** What can be seen without the client. */
  readonly local: HostProblems;
};

export function clientProblems({ client, sessionId, local }: ClientProblemsOptions): HostProblems {
  const settled = async (watchId: string, edits: readonly EditedFile[], signal: AbortSignal) => {
    const request: HermesProblemsRequest = { sessionId, watchId, paths: edits.map(({ path }) => path) };
    const response = client.request(problemMethods.settled.name, request, { cancellationSignal: signal });
    return (await asked(response, signal, (value) => answer.parse(value).files)) ?? [];
  };
  return {
    async watch(id) {
      const request: HermesProblemsWatch = { sessionId, watchId: id };
      const none = new AbortController().signal;
      const isWatching = await asked(client.request(problemMethods.watch.name, request), none, () => true);
      const own = await local.watch(id);
      if (!isWatching) return own;
      return {
        async settled(edits, signal) {
          const [theirs, ours] = await Promise.all([settled(id, edits, signal), own.settled(edits, signal)]);
          return joined(theirs, ours);
        },
      } satisfies ProblemWatch;
    },
  };
}

/** Undefined when the client refuses: an edit does not fail because nobody can say what it broke. */
async function asked<Value>(
  response: Promise<unknown>,
  signal: AbortSignal,
  read: (value: unknown) => Value,
): Promise<Value | undefined> {
  try {
    return read(await response);
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof RequestError || error instanceof z.ZodError) return undefined;
    throw error; // the connection is gone
  }
}

/** A language server knows its language better than a grammar: where it finds errors, the grammar has nothing to add. */
function joined(theirs: readonly FileProblems[], ours: readonly FileProblems[]): readonly FileProblems[] {
  const seesErrors = (path: string): boolean =>
    theirs.some((file) => file.path === path && file.after.some(({ severity }) => severity === "error"));
  return [...theirs, ...ours.filter(({ path }) => !seesErrors(path))];
}
