/** The Host of this machine: its files, its terminals, and a search by ripgrep or built in, with the same hits. */
import { stat } from "node:fs/promises";
import { findProgram } from "../platform/find-program.ts";
import { builtInSearch } from "./built-in-search.ts";
import type { Host, HostSearch, SearchHit, SearchRequest, SearchResult } from "./host.ts";
import { nodeFiles } from "./node-files.ts";
import { ripgrepSearch } from "./ripgrep.ts";
import { MAX_HITS } from "./search-rules.ts";
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

export type NodeSearchOptions = {
  /** Absolute path of ripgrep; null for the built-in search; default: the first `rg` on PATH. */
  readonly ripgrep?: string | null;
};

export function nodeSearch({ ripgrep }: NodeSearchOptions = {}): HostSearch {
  let program = ripgrep;
  return {
    async search(request, signal) {
      signal.throwIfAborted();
      const root = await stat(request.root).catch(() => undefined);
      if (root === undefined) return { ok: false, message: `${request.root} does not exist.` };
      if (program === undefined) program = findProgram("rg") ?? null;
      const byRipgrep = program === null ? undefined : await ripgrepSearch(program, request, signal);
      const result = byRipgrep ?? (await builtInSearch(request, signal));
      return result.ok ? inOrder(request, result) : result;
    },
  };
}

function inOrder({ target }: SearchRequest, result: Extract<SearchResult, { ok: true }>): SearchResult {
  const byPlace = (first: SearchHit, second: SearchHit): number =>
    comparePaths(first.path, second.path) || first.line - second.line;
  const hits = result.hits.toSorted(target === "files" ? (one, other) => comparePaths(one.path, other.path) : byPlace);
  return { ...result, hits: hits.slice(0, MAX_HITS), truncated: result.truncated || hits.length > MAX_HITS };
}

function comparePaths(first: string, second: string): number {
  if (first === second) return 0;
  return first < second ? -1 : 1;
}
