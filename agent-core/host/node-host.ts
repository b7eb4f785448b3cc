/** The Host of this machine. */
import type { Host } from "./host.ts";
import { nodeFiles } from "./node-files.ts";
import { nodeSearch } from "./node-search.ts";
import { syntaxProblems } from "./syntax/syntax-problems.ts";
import { childRunner } from "./terminals/child-runner.ts";
import { localBackend } from "./terminals/local-backend.ts";
import { sessionTerminals } from "./terminals/session-terminals.ts";

/** Its terminals belong to whoever asked for it, who disposes of them. */
export function nodeHost(): Host {
  return {
    files: nodeFiles(),
    search: nodeSearch(),
    terminals: sessionTerminals(localBackend(), childRunner()),
    problems: syntaxProblems(),
  };
}
