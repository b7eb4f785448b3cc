/**
 * Messages of the chat panel to the extension: intents, never command ids or shell text. A path that the panel sends came
 * to it in an event, or is looked up in the workspace.
 */
import * as z from "zod";
import { Attachments, AttachmentUri, PictureData, PictureType } from "./attachments.ts";
import { HermesExtensionAction } from "./extensions.ts";
import { HermesShelf } from "./sessions.ts";

/** Limit for a prompt. Characters. */
const MAX_TEXT_CHARS = 10_000_000;

const text = z.string().max(MAX_TEXT_CHARS);
const id = z.string().max(200);
/** Id of a choice; it contains the name of a model. */
const choice = z.string().max(300);
const path = z.string().max(4_096);
/** Position of a user message in its session, as HermesMessageMeta. */
const position = z.int().min(0);
const flag = z.literal(true).exactOptional();
/** Content of a user's message. The text may be empty beside attachments. */
const prompt = { text, attachments: Attachments.exactOptional() };
/** A message that failed, or one that continues its turn. With a position it replaces the message there. */
const again = z.object({ position: position.exactOptional(), ...prompt });

const connection = [
  /** The panel runs; `next` is the number of the event that it expects in `epoch`, or 0. */
  z.object({ type: z.literal("ready"), epoch: id, next: z.int().min(0) }),
  /** The panel shows every event below `next`. */
  z.object({ type: z.literal("ack"), epoch: id, next: z.int().min(0) }),
  /** The panel has run a command. */
  z.object({ type: z.literal("command-done"), id }),
  /** The page got the keyboard focus. */
  z.object({ type: z.literal("focus") }),
  /** Answer to `ask-focus`: the page has the keyboard focus now. */
  z.object({ type: z.literal("has-focus"), value: z.boolean() }),
] as const;

const conversation = [
  /**
   * `now`: into the running turn, not after it. `inPlace`: it is about the files of the window, and starts no worktree.
   * `inMain`: in the folders of the window, because the session's own is gone. `plan`: the one that the command carries out.
   */
  z.object({
    type: z.literal("prompt"),
    ...prompt,
    now: flag,
    inPlace: flag,
    inMain: flag,
    plan: text.exactOptional(),
  }),
  /** Answer to `give-draft`. */
  z.object({ type: z.literal("draft"), ...prompt }),
  z.object({ type: z.literal("cancel") }),
  /** Removes the user message at this position and all after it, then sends this one. `files`: restores the files first. */
  z.object({ type: z.literal("resend"), position, ...prompt, files: flag }),
  /** Forks the session before this message, whose content goes into the composer. */
  z.object({ type: z.literal("fork-here"), position, ...prompt }),
  /** Requests the messages before this position: a page of them, or all. */
  z.object({ type: z.literal("earlier"), before: position, all: flag }),
  z.object({ type: z.literal("set-config"), configId: id, value: choice }),
  z.object({ type: z.literal("permission"), requestId: id, optionId: id, reason: text.exactOptional() }),
  /** Undoes the changes that a call made in the memory. */
  z.object({ type: z.literal("memory-undo"), callId: id }),
  /** Answers a question; null: no answer. */
  z.object({ type: z.literal("answer"), requestId: id, text: text.nullable() }),
] as const;

const queue = [
  z.object({ type: z.literal("queue-remove"), id }),
  /** The user edits the message; it is not sent before `queue-edit`. */
  z.object({ type: z.literal("queue-hold"), id }),
  z.object({ type: z.literal("queue-edit"), id, ...prompt }),
  /** `to`: index in the queue, from 0. */
  z.object({ type: z.literal("queue-move"), id, to: z.int().min(0) }),
  /** Sends the message into the running turn, after the current step. */
  z.object({ type: z.literal("queue-send"), id }),
  /** Stops the running turn and starts one with the message. */
  z.object({ type: z.literal("queue-interrupt"), id }),
] as const;

const restores = [
  /** `forResend`: the preview belongs to the message's editor. */
  z.object({ type: z.literal("restore-preview"), position, forResend: flag }),
  z.object({ type: z.literal("restore-close") }),
  /** Shows the changes of the files in the editor. */
  z.object({ type: z.literal("restore-changes"), position }),
  z.object({ type: z.literal("restore"), position, files: z.boolean(), conversation: z.boolean() }),
  z.object({ type: z.literal("restore-undo"), restoreId: id }),
] as const;

const sessions = [
  z.object({ type: z.literal("new-session") }),
  /** Requests the list of stored sessions; an empty query means all, last used first. */
  z.object({
    type: z.literal("history-search"),
    query: z.string().max(1_000),
    everywhere: z.boolean(),
    isArchive: z.boolean(),
  }),
  z.object({ type: z.literal("history-more") }),
  /** The panel no longer shows the list, which needs no updates. */
  z.object({ type: z.literal("history-close") }),
  z.object({ type: z.literal("session-open"), sessionId: id }),
  /** Shows the session in a tab of the editor. */
  z.object({ type: z.literal("session-open-tab"), sessionId: id }),
  z.object({ type: z.literal("session-rename"), sessionId: id, title: z.string().max(300) }),
  z.object({ type: z.literal("session-shelve"), sessionId: id, shelf: HermesShelf.nullable() }),
  /** The user has confirmed it. */
  z.object({ type: z.literal("session-delete"), sessionId: id }),
  z.object({ type: z.literal("session-export"), sessionId: id }),
  z.object({ type: z.literal("session-fork"), sessionId: id }),
] as const;

/** Task of a delegation: `callId` is the call of `delegate_task`. */
const task = { callId: id, taskId: id };

const tasks = [
  z.object({ type: z.literal("task-stop"), ...task }),
  z.object({ type: z.literal("task-steer"), ...task, text }),
  /** Requests the end of a sub-agent's conversation. `child`: its session. */
  z.object({ type: z.literal("task-open"), child: id }),
  /** Requests all that the panel does not have of the conversation. */
  z.object({ type: z.literal("task-refresh"), child: id }),
  z.object({ type: z.literal("task-earlier"), child: id, before: position }),
] as const;

const context = [
  /** Requests the contents of the model's window. */
  z.object({ type: z.literal("context-show") }),
  /** Requests the matches of the text after `@`. `id`: number of the search; matches of an older one are dropped. */
  z.object({ type: z.literal("mention-search"), id: z.int().min(0), query: z.string().max(1_000) }),
  /** The user dropped these resources on the panel. */
  z.object({ type: z.literal("attach-dropped"), uris: z.array(AttachmentUri).max(1_000) }),
  /** Shows the editor's dialog for files. */
  z.object({ type: z.literal("attach-pick") }),
  /** Switches the suggestion of the active file on or off for this workspace. */
  z.object({ type: z.literal("attach-suggested"), on: z.boolean() }),
] as const;

const workspace = [
  /** `before`: text before the edit, of a file on another machine; the window knows it of its own files. */
  z.object({ type: z.literal("open-review"), path, before: z.string().exactOptional() }),
  z.object({ type: z.literal("keep-file"), path }),
  z.object({ type: z.literal("undo-file"), path }),
  z.object({ type: z.literal("keep-all") }),
  z.object({ type: z.literal("undo-all") }),
  /** Redoes the last undo of whole files. */
  z.object({ type: z.literal("redo-undone") }),
  /** `line`: from 1. */
  z.object({ type: z.literal("open-location"), path, line: z.int().min(1).exactOptional() }),
  /** Asks which of these links, found in answers, lead to files. */
  z.object({ type: z.literal("check-paths"), paths: z.array(path).max(200).readonly() }),
  z.object({ type: z.literal("open-link"), href: z.string().max(4_096) }),
  /** Opens a picture of a card in a tab of the editor. `data`: base64. */
  z.object({ type: z.literal("open-picture"), mimeType: PictureType, data: PictureData }),
  z.object({ type: z.literal("insert-text"), text }),
  /** The user starts the commands. */
  z.object({ type: z.literal("insert-into-terminal"), text }),
  /** Mermaid, which VS Code draws. */
  z.object({ type: z.literal("show-diagram"), text }),
  z.object({ type: z.literal("add-server") }),
  /** Opens a plan as a document, which the user edits and then carries out. */
  z.object({ type: z.literal("open-plan"), text }),
  /** Applies a code block to a file. `paths`: those that the answer names with it, the likeliest first. */
  z.object({ type: z.literal("apply-code"), text, language: id, paths: z.array(path).max(10).readonly() }),
  z.object({ type: z.literal("show-terminal"), terminalId: id }),
  /** `text` includes its line break. */
  z.object({ type: z.literal("process-input"), id, text }),
  z.object({ type: z.literal("process-stop"), id }),
  /** Opens the page of the editor where the user trusts the workspace. */
  z.object({ type: z.literal("manage-trust") }),
  z.object({ type: z.literal("open-settings"), about: z.enum(["hermes", "network"]) }),
  z.object({ type: z.literal("open-log") }),
  /** Lets the user open a folder in this window. `recent`: from VS Code's list. */
  z.object({ type: z.literal("open-folder"), recent: z.boolean() }),
  z.object({ type: z.literal("new-worktree") }),
  /** Shows and ends the worktree of the panel's session. */
  z.object({ type: z.literal("manage-worktree") }),
] as const;

/** A place for extensions: a file that is opened, or a folder that is shown. */
export const ExtensionPlace = z.enum(["config", "workspaceServers", "skills", "plugins"]);
export type ExtensionPlace = z.infer<typeof ExtensionPlace>;

const extensions = [
  /** The panel shows the page of extensions. */
  z.object({ type: z.literal("extensions-list") }),
  /** `argument`: name of a tool, to enable or disable it alone. */
  z.object({
    type: z.literal("extension-act"),
    id: path,
    action: HermesExtensionAction,
    argument: choice.exactOptional(),
  }),
  /** Opens the file that defines the item. */
  z.object({ type: z.literal("extension-open"), id: path }),
  z.object({ type: z.literal("extension-place"), place: ExtensionPlace }),
] as const;

/** The line about what was learnt. */
const learnt = [
  z.object({ type: z.literal("learnt-open") }),
  z.object({ type: z.literal("learnt-undo") }),
  z.object({ type: z.literal("learnt-dismiss") }),
] as const;

const models = [
  /** A model of the setup page. */
  z.object({ type: z.literal("use-model"), choice }),
  /** Shows all models in a list of the editor. `again`: a message to send to the chosen one. */
  z.object({ type: z.literal("choose-model"), again: again.exactOptional() }),
  /**
   * Asks for a key in an input box of the editor; without a provider it asks for that first. `keyOnly`: the provider is set
   * up, and lacks only its key. `again`: a message to send with the key.
   */
  z.object({ type: z.literal("set-key"), provider: id.exactOptional(), keyOnly: flag, again: again.exactOptional() }),
  z.object({ type: z.literal("open-setup") }),
] as const;

export const PanelMessage = z.discriminatedUnion("type", [
  ...connection,
  ...conversation,
  ...queue,
  ...context,
  ...restores,
  ...sessions,
  ...tasks,
  ...workspace,
  ...extensions,
  ...learnt,
  ...models,
]);
export type PanelMessage = z.infer<typeof PanelMessage>;
