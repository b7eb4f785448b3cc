/** The client of a connection: its declared capabilities, its own models, its lists of sessions. */
import type { AgentContext, ClientCapabilities } from "@zed-industries/agent-client-protocol";
import { setUpCommand } from "../platform/own-command.ts";
import { CHAT_GATEWAY, HermesClientCapabilities } from "../protocol/capabilities.ts";
import { type CronRun, cronMethods } from "../protocol/cron.ts";
import { learningMethods } from "../protocol/learning.ts";
import { notify, readMeta } from "../protocol/method.ts";
import { type HermesBuilding, sessionMethods } from "../protocol/sessions.ts";
import { ClientModels } from "./client-models.ts";

/** Name of the command line (cli/). */
export const COMMAND_LINE = "hermes-cli";

/** Minimum time between two notifications about an import. */
const IMPORT_INTERVAL_MS = 250;

export class ConnectedClient {
  readonly capabilities: ClientCapabilities;
  /** Name for people: `Zed`, `Visual Studio Code`. */
  readonly title: string | undefined;
  /** Sentence about another method to set a key; undefined for a client that has a button for it. */
  readonly keyHint: string | undefined;
  /** The client's own models, if it offers any. */
  readonly models: ClientModels | undefined;
  /** Undefined for a client that does not keep lists of sessions. */
  readonly #listener: AgentContext | undefined;
  #importNotifiedAt = 0;

  /** Extensions that it declares; empty for a client that is not ours. */
  readonly ours: HermesClientCapabilities;

  /** Key of `platform_toolsets` in config.yaml. */
  readonly platform: "acp" | "cli";

  /** Rows of the client's own list of what is allowed; undefined for a client without one. */
  allowed: readonly string[] | undefined;

  /** The client is the gateway to chats. */
  readonly isChat: boolean;

  /** `context`: undefined before `initialize`. `models`: default: those of the client. */
  constructor(
    capabilities: ClientCapabilities,
    info: { readonly name: string; readonly title?: string | null } | undefined,
    context: AgentContext | undefined,
    models?: ClientModels,
  ) {
    const title = info?.title ?? info?.name;
    this.platform = info?.name === COMMAND_LINE ? "cli" : "acp";
    this.isChat = info?.name === CHAT_GATEWAY;
    this.capabilities = capabilities;
    this.title = title;
    const ours = readMeta(HermesClientCapabilities, capabilities._meta) ?? {};
    this.ours = ours;
    const own = context !== undefined && ours.languageModels === true ? new ClientModels(context) : undefined;
    this.models = models ?? own;
    this.allowed = ours.allowList;
    const setUp = ours.palette === true ? undefined : setUpCommand();
    this.keyHint = setUp && `Or run \`${setUp}\` in a terminal.`;
    this.#listener = ours.sessionIndex === true ? context : undefined;
  }

  /** Notifies the client of the index's progress. */
  notifyBuilding(building: HermesBuilding): void {
    if (this.#listener) notify(this.#listener, sessionMethods.building, building);
  }

  /** Notifies the client of an import's progress, a few times per second. */
  notifyImporting(progress: HermesBuilding): void {
    const now = Date.now();
    if (now - this.#importNotifiedAt < IMPORT_INTERVAL_MS && progress.done < progress.total) return;
    this.#importNotifiedAt = now;
    if (this.#listener) notify(this.#listener, sessionMethods.importing, progress);
  }

  /** Notifies the client of something that was learnt or used; `items`: ids for an undo. Returns false for another editor. */
  notifyLearnt(message: string | undefined, items: readonly string[], isUse = false): boolean {
    const params = { ...(message && { message }), ...(isUse && { isUse }), items };
    if (this.#listener) notify(this.#listener, learningMethods.changed, params);
    return this.#listener !== undefined;
  }

  /** Notifies the client that planned jobs or their runs have changed. */
  notifyCronChanged(): void {
    if (this.#listener) notify(this.#listener, cronMethods.changed, {});
  }

  /** Notifies the client of a job's end; `message`: one line for the user. */
  notifyCronFinished(run: CronRun, message: string | undefined): void {
    if (this.#listener) notify(this.#listener, cronMethods.finished, { run, ...(message && { message }) });
  }

  /** Notifies the client that a session is new, deleted or renamed. */
  notifySessionsChanged(): void {
    if (this.#listener) notify(this.#listener, sessionMethods.changed, {});
  }
}
