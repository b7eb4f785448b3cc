/** The Host of this machine. */
import type { Host } from "./host.ts";
import { nodeFiles } from "./node-files.ts";
import { nodeSearch } from "./node-search.ts";
import { nodeTerminals } from "./node-terminals.ts";

export type NodeHost = Host & {
  /** Ends every command that still runs. */
  dispose(): Promise<void>;
};

export function nodeHost(): NodeHost {
  const terminals = nodeTerminals();
  return { files: nodeFiles(), search: nodeSearch(), terminals, dispose: () => terminals.dispose() };
}
