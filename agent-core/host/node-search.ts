/** Search of this machine's files: ripgrep when it is on PATH, else built in; the same hits in the same order. */
import { stat } from "node:fs/promises";
import { builtInSearch } from "./built-in-search.ts";
import { findProgram } from "./find-program.ts";
import type { HostSearch, SearchHit, SearchRequest, SearchResult } from "./host.ts";
import { ripgrepSearch } from "./ripgrep-search.ts";
import { MAX_HITS } from "./search-limits.ts";

export type NodeSearchOptions = {
  /** Path of ripgrep; null for the built-in engine; default: the first `rg` on PATH. */
  readonly ripgrep?: string | null;
};

export function nodeSearch(options: NodeSearchOptions = {}): HostSearch {
  const ripgrep = options.ripgrep === undefined ? findProgram("rg") : (options.ripgrep ?? undefined);
  return {
    async search(request, signal) {
      signal.throwIfAborted();
      const root = await stat(request.root).catch(() => undefined);
      if (root === undefined) return { ok: false, message: `${request.root} does not exist.` };
      const result =
        ripgrep !== undefined && request.target === "content"
          ? await ripgrepSearch(ripgrep, request, signal)
          : await builtInSearch(request, signal);
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
