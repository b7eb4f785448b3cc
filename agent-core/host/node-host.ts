/** The Host of this machine. */
import type { Host, HostSearch } from "./host.ts";
import { nodeFiles } from "./node-files.ts";
import type { NodeSearchOptions } from "./node-search.ts";
import { syntaxProblems } from "./syntax/syntax-problems.ts";
import { childRunner } from "./terminals/child-runner.ts";
import { localBackend } from "./terminals/local-backend.ts";
import { sessionTerminals } from "./terminals/session-terminals.ts";

/** The caller owns the terminals, and disposes of them. */
export function nodeHost(options: NodeSearchOptions = {}): Host {
  let search: Promise<HostSearch> | undefined;
  return {
    files: nodeFiles(),
    search: {
      async search(request, signal) {
        search ??= import("./node-search.ts").then(({ nodeSearch }) => nodeSearch(options)); // no start needs it
        return (await search).search(request, signal);
      },
    },
    terminals: sessionTerminals(localBackend(), childRunner()),
    problems: syntaxProblems(),
  };
}
