/** Extensions that each side declares at `initialize`. */
import * as z from "zod";

/** Client name of the gateway: people in chats, away from the machine. Their sessions get stricter settings. */
export const CHAT_GATEWAY = "hermes-gateway";

const flag = z.boolean().exactOptional();

/** `clientCapabilities._meta.hermes`. */
export const HermesClientCapabilities = z.object({
  /** `fs/write_text_file` honours `_meta.hermes.expected`. */
  expectedText: flag,
  /** `fs/read_text_file` honours `_meta.hermes.unsavedOnly`. */
  unsavedText: flag,
  /** The client handles `_hermes/fs/remove` and `_hermes/fs/rename`. */
  fileMoves: flag,
  /** `terminal/create` honours `_meta.hermes`, and the client handles `_hermes/terminal/input`. */
  terminals: flag,
  /** The client handles `_hermes/terminal/password`, and shows no typed character. */
  passwords: flag,
  /** The client shows `HermesCompressionMeta`. Other clients get a notice. */
  compressions: flag,
  /** The client shows the names of permission options, and `HermesPermissionMeta`. Others get one option per kind. */
  grants: flag,
  /** Rows that the client's settings allow: it handles `_hermes/allow_list/change`, and "always" writes there. */
  allowList: z.array(z.string()).readonly().exactOptional(),
  /** The client handles `_hermes/lm/*`. */
  languageModels: flag,
  /** The client handles `_hermes/fs/revert`. */
  revert: flag,
  /** The client handles `_hermes/editor/problems/*`. */
  problems: flag,
  /** The client handles `_hermes/sessions/building`, `importing` and `changed`. */
  sessionIndex: flag,
  /** The client shows the sandbox of a session's response (`HermesOpenedMeta`). */
  sandbox: flag,
  /** The client has a command "Hermes: Set API Key". */
  palette: flag,
  /** The client handles `_hermes/process/changed`. */
  processes: flag,
  /** The client handles `_hermes/extensions/changed`. */
  extensions: flag,
  /** The client handles `_hermes/editor/files`. */
  openFiles: flag,
  /** The client handles `_hermes/editor/open_url`. */
  openUrl: flag,
  /** The client handles the `editorMethods`. */
  semanticTools: flag,
});
export type HermesClientCapabilities = z.infer<typeof HermesClientCapabilities>;

/** `agentCapabilities._meta.hermes`. */
export type HermesAgentCapabilities = {
  /** The agent handles `_hermes/session/steer`. */
  readonly steer: boolean;
  /** The agent handles `_hermes/session/restore_preview`, `restore` and `undo_restore`. */
  readonly restore: boolean;
  /** The agent handles `_hermes/process/*`. */
  readonly processes: boolean;
  /** The agent handles `_hermes/extensions/*`. */
  readonly extensions: boolean;
  /** `session/load` honours `_meta.hermes.tail`, and the agent handles `_hermes/session/earlier`. */
  readonly tail: boolean;
  /** The agent handles `_hermes/delegation/*`, and tool calls have `tasks`. */
  readonly delegation: boolean;
};
