/** HostProblems through the client: what its language servers find, and a parser's word on files they say nothing of. */
import { type AgentContext, RequestError } from "@zed-industries/agent-client-protocol";
import type { EditedFile, FileProblems, HostProblems, ProblemWatch } from "../host/problems.ts";
import { call, InvalidResponseError } from "../protocol/method.ts";
import { type HermesProblemsRequest, type HermesProblemsWatch, problemMethods } from "../protocol/problems.ts";

export type ClientProblemsOptions = {
  readonly client: AgentContext;
  readonly sessionId: string;
  /** What can be seen without the client. */
  readonly local: HostProblems;
};

export function clientProblems({ client, sessionId, local }: ClientProblemsOptions): HostProblems {
  const settled = async (watchId: string, edits: readonly EditedFile[], signal: AbortSignal) => {
    const request: HermesProblemsRequest = { sessionId, watchId, paths: edits.map(({ path }) => path) };
    const response = call(client, problemMethods.settled, request, { cancellationSignal: signal });
    return (await answered(response, signal))?.files ?? [];
  };
  return {
    async watch(id) {
      const request: HermesProblemsWatch = { sessionId, watchId: id };
      const none = new AbortController().signal;
      const isWatching = await answered(
        call(client, problemMethods.watch, request).then(() => true),
        none,
      );
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
async function answered<Value>(response: Promise<Value>, signal: AbortSignal): Promise<Value | undefined> {
  try {
    return await response;
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof RequestError || error instanceof InvalidResponseError) return undefined;
    throw error; // the connection is gone
  }
}

/** A language server knows its language better than a grammar: where it finds errors, the grammar has nothing to add. */
function joined(theirs: readonly FileProblems[], ours: readonly FileProblems[]): readonly FileProblems[] {
  const seesErrors = (path: string): boolean =>
    theirs.some((file) => file.path === path && file.after.some(({ severity }) => severity === "error"));
  return [...theirs, ...ours.filter(({ path }) => !seesErrors(path))];
}
