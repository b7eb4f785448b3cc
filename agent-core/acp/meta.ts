/**
 * What is ours on top of ACP, in `_meta.hermes` fields; every one has a fallback for clients and agents that do not
 * know it. The extension and the panel import these types and nothing else of the core.
 */

/** `clientCapabilities._meta.hermes` at initialize. */
export type HermesClientCapabilities = {
  /** `fs/write_text_file` honours `_meta.hermes.expected`. */
  readonly expectedText?: boolean;
  /** `terminal/create` honours `_meta.hermes.outputFile`. */
  readonly terminalOutputFile?: boolean;
};

/** `_meta.hermes` of `fs/write_text_file`: the write is refused (-32010) when the document holds anything else. */
export type HermesWriteMeta = {
  readonly expected: { readonly kind: "absent" } | { readonly kind: "text"; readonly text: string };
};

/**
 * `_meta.hermes` of the answer to `fs/write_text_file`: the user decided about the edit before it was written. `text` is
 * what the file holds now (null: there is none); the numbers count hunks.
 */
export type HermesWriteResult = {
  readonly review: { readonly text: string | null; readonly kept: number; readonly rejected: number };
};

/** JSON-RPC error code of a refused write; `message` says what changed. */
export const WRITE_CONFLICT = -32010;

/** `_meta.hermes` of `terminal/create`: the client writes every byte of output to this file. */
export type HermesTerminalMeta = { readonly outputFile: string };

/** `_meta.hermes` of `session/request_permission`. */
export type HermesPermissionMeta = {
  /** Why it asks, one sentence each. */
  readonly reasons: readonly string[];
  /** The command in full, when it is one. */
  readonly command?: string;
  /** What a lasting answer would cover, in plain words. */
  readonly grant?: string;
};

/** `_meta.hermes` of a `tool_call_update` that ends a call. */
export type HermesToolMeta = { readonly durationMs?: number };
