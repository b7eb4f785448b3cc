/** The Host of this machine. */
import type { Host } from "./host.ts";
import { nodeFiles } from "./node-files.ts";
import { type NodeSearchOptions, nodeSearch } from "./node-search.ts";
import { syntaxProblems } from "./syntax/syntax-problems.ts";
import { childRunner } from "./terminals/child-runner.ts";
import { localBackend } from "./terminals/local-backend.ts";
import { sessionTerminals } from "./terminals/session-terminals.ts";

/** The caller owns the terminals, and disposes of them. */
export function nodeHost(options: NodeSearchOptions = {}): Host {
  return {
    files: nodeFiles(),
    search: nodeSearch(options),
    terminals: sessionTerminals(localBackend(), childRunner()),
    problems: syntaxProblems(),
  };
}
