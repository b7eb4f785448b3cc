/** What client and agent say of themselves at initialize. */

/** `clientCapabilities._meta.hermes` at initialize. */
export type HermesClientCapabilities = {
  /** `fs/write_text_file` honours `_meta.hermes.expected`. */
  readonly expectedText?: boolean;
  /** `_hermes/fs/*` is there. */
  readonly fileMoves?: boolean;
  /** `terminal/create` honours `_meta.hermes`, and `_hermes/terminal/input` is there. */
  readonly terminals?: boolean;
  /** What a compression leaves out is shown by `HermesCompressionMeta`; others get a notice. */
  readonly compressions?: boolean;
  /** `_hermes/lm/*` is there. */
  readonly languageModels?: boolean;
  /** `_hermes/fs/put_back` is there. */
  readonly putBack?: boolean;
  /** `_hermes/editor/problems/*` is there. */
  readonly problems?: boolean;
  /** `_hermes/sessions/building`, `importing` and `changed` are listened to. */
  readonly sessionIndex?: boolean;
  /** `_hermes/process/changed` is there. */
  readonly processes?: boolean;
};

/** `agentCapabilities._meta.hermes` at initialize. */
export type HermesAgentCapabilities = {
  /** `_hermes/session/steer` is there. */
  readonly steer: boolean;
  /** `_hermes/session/restore_preview`, `restore` and `undo_restore` are there. */
  readonly restore: boolean;
  /** `_hermes/process/*` is there. */
  readonly processes: boolean;
  /** `_meta.hermes.tail` of `session/load` is honoured, and `_hermes/session/earlier` is there. */
  readonly tail: boolean;
};
