/** Another agent than Hermes: a program that speaks ACP over its standard streams, or a server of another machine. */
import { isDeepStrictEqual } from "node:util";
import {
  type ClientConnection,
  type ClientContext,
  type InitializeResponse,
  methods,
  PROTOCOL_VERSION,
  RequestError,
} from "@zed-industries/agent-client-protocol";
import * as vscode from "vscode";
import { Deadline } from "../../agent-core/platform/deadline.ts";
import { hasCode, messageOf } from "../../agent-core/platform/errors.ts";
import { readMeta } from "../../agent-core/protocol/method.ts";
import { HermesServerMeta } from "../../agent-core/protocol/remote.ts";
import type { ClientServices } from "../client/client-services.ts";
import { type AgentConnection, type AgentOffers, namedSessions, offersOf } from "./agent-connection.ts";
import { type AgentTransport, openProgram, openServer, type TokenStore } from "./agent-transport.ts";
import { connectForeign } from "./connect-agent.ts";

/** Timeout of a start: `npx` may have to download the program first. Milliseconds. */
const START_MS = 90_000;
/** Time for the exit code after the streams have closed. Milliseconds. */
const EXIT_MS = 500;
/** End of stderr for the error of an agent that ended. */
const STDERR_CHARS = 2_000;
const STDERR_LINES = 3;

/** Command line of an agent. */
export type AgentProgram = {
  /** Without a colon. */
  readonly name: string;
  readonly title: string;
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  /** Command that installs the program. */
  readonly install?: string;
  /** The agent works on another machine. `url`: of a server, in place of a program. `cwd`: default: the server's first root. */
  readonly remote?: { readonly url?: string; readonly cwd?: string | undefined };
};

type Running = {
  readonly process: AgentTransport;
  readonly connection: ClientConnection;
  readonly facts: InitializeResponse;
};

export class AgentProcess implements AgentConnection, vscode.Disposable {
  #program: AgentProgram;
  readonly #services: ClientServices;
  readonly #log: vscode.LogOutputChannel;
  readonly #tokens: TokenStore;
  readonly #ended = new vscode.EventEmitter<void>();
  readonly #reported = new vscode.EventEmitter<string>();
  #starting: Promise<Running> | undefined;
  #offers = offersOf({});
  #stderr = "";
  /** Reason of the last end; undefined since the next start. */
  #lastEnd: string | undefined;
  /** The process that answers. */
  #ready: AgentTransport | undefined;
  /** Name of the server's machine. */
  #machine: string | undefined;
  #isDisposed: boolean = false;

  /** The process ended by itself. */
  readonly onDidEnd = this.#ended.event;
  /** The connection to another machine was lost, or is back: a line for the sessions. */
  readonly onDidReport = this.#reported.event;

  constructor(program: AgentProgram, services: ClientServices, log: vscode.LogOutputChannel, tokens: TokenStore) {
    this.#program = program;
    this.#services = services;
    this.#log = log;
    this.#tokens = tokens;
  }

  get name(): string {
    return this.#program.name;
  }

  get title(): string {
    const { title } = this.#program;
    return this.#machine === undefined ? title : `${title} (${this.#machine})`;
  }

  get offers(): AgentOffers {
    return this.#offers;
  }

  async agent(): Promise<ClientContext> {
    return (await this.#running()).connection.agent;
  }

  async explain(error: unknown): Promise<string> {
    // The streams of a process close before its exit is known.
    if (!(error instanceof RequestError)) {
      const running = await this.#starting?.catch(() => undefined);
      const end = running && (await this.#endOf(running.process));
      return end ?? this.#lastEnd ?? messageOf(error);
    }
    const { data } = error;
    const details = typeof data === "object" && data !== null && "details" in data ? data.details : data;
    return typeof details === "string" ? `${error.message}: ${details}` : error.message;
  }

  async signIn(): Promise<boolean> {
    const { facts, connection } = await this.#running();
    const methodsOffered = facts.authMethods ?? [];
    const picked = await vscode.window.showQuickPick(
      methodsOffered.map((method) => ({ label: method.name, detail: method.description ?? "", method })),
      {
        title: vscode.l10n.t("Sign In to {0}", this.title),
        placeHolder: vscode.l10n.t("{0} needs a sign-in", this.title),
        ignoreFocusOut: true,
      },
    );
    if (picked === undefined) return false;
    const { method } = picked;
    if ("type" in method && method.type === "terminal") return this.#signInWithTerminal(method);
    await connection.agent.request(methods.agent.authenticate, { methodId: method.id });
    return true;
  }

  /** True while the program runs and answers. */
  get isReady(): boolean {
    return this.#ready !== undefined;
  }

  /** Takes the program of the settings. A running one that differs ends, and the next message starts the new one. */
  replace(program: AgentProgram): void {
    if (isDeepStrictEqual(program, this.#program)) return;
    this.#program = program;
    const replaced = this.#starting;
    if (replaced === undefined) return;
    this.#forget(vscode.l10n.t("The setting of {0} has changed. Your next message starts it again.", this.title));
    void replaced.then(({ process }) => process.end()).catch(() => undefined); // it never started
  }

  dispose(): void {
    this.#isDisposed = true;
    this.#ended.dispose();
    this.#reported.dispose();
    void this.#starting?.then(({ process }) => process.end()).catch(() => undefined); // it never started
  }

  #running(): Promise<Running> {
    if (this.#starting !== undefined) return this.#starting;
    const starting = this.#start().catch((error: unknown) => {
      if (this.#starting === starting) this.#starting = undefined;
      throw error;
    });
    this.#starting = starting;
    return starting;
  }

  async #start(): Promise<Running> {
    this.#lastEnd = undefined;
    if (!vscode.workspace.isTrusted) throw new Error(vscode.l10n.t("Trust this workspace to use {0}.", this.title));
    const program = this.#program;
    this.#stderr = "";
    const cwd = vscode.workspace.workspaceFolders?.[0]?.uri.fsPath;
    if (cwd === undefined) throw new Error(vscode.l10n.t("Open a folder to start: the agent works in a folder."));
    const process = await this.#open(program, cwd);
    try {
      const running = await this.#connect(process);
      // The settings may have another program now.
      if (program === this.#program) this.#ready = process;
      void process.ended.then((how) => this.#hasEnded(process, how));
      return running;
    } catch (error) {
      await process.end();
      throw error;
    }
  }

  #open({ command, args, env, remote }: AgentProgram, cwd: string): Promise<AgentTransport> {
    if (remote?.url !== undefined) {
      const report = (text: string): void => {
        this.#log.warn(`${this.name}: ${text}`);
        this.#reported.fire(text);
      };
      return openServer({ title: this.title, url: remote.url, tokens: this.#tokens, report });
    }
    const onStderr = (text: string): void => {
      this.#stderr = (this.#stderr + text).slice(-STDERR_CHARS);
      this.#log.info(`${this.name}: ${text.trimEnd()}`);
    };
    return openProgram({ command, args, cwd, env: environment(env) }, onStderr).catch((error: unknown) => {
      throw new Error(this.#startReason(error));
    });
  }

  async #connect(process: AgentTransport): Promise<Running> {
    const { remote } = this.#program;
    const connecting = connectForeign(namedSessions(process.stream, this.name), this.#services, remote !== undefined);
    if (!(await new Deadline(START_MS).waitFor(connecting))) {
      const limit = `${START_MS / 1000} s`;
      throw new Error(
        vscode.l10n.t(
          "{0} did not answer within {1}. Is `{2}` an ACP agent?",
          this.title,
          limit,
          this.#program.command,
        ),
      );
    }
    const { connection, facts } = await connecting.catch(async (error: unknown) => {
      throw new Error((await this.#endOf(process)) ?? messageOf(error));
    });
    if (facts.protocolVersion !== PROTOCOL_VERSION) {
      throw new Error(
        vscode.l10n.t(
          "{0} speaks version {1} of the Agent Client Protocol, and Hermes version {2}. Update {0}.",
          this.title,
          facts.protocolVersion,
          PROTOCOL_VERSION,
        ),
      );
    }
    const server = readMeta(HermesServerMeta, facts.agentCapabilities?._meta)?.serve;
    const cwd = remote?.cwd ?? server?.roots[0];
    if (remote !== undefined && cwd === undefined)
      throw new Error(
        vscode.l10n.t("Set the folder of {0} on its machine: `cwd` in the setting hermes.agents.", this.title),
      );
    this.#machine = server?.machine;
    this.#offers = { ...offersOf(facts), ...(remote !== undefined && cwd !== undefined && { remoteCwd: cwd }) };
    return { process, connection, facts };
  }

  #hasEnded(process: AgentTransport, how: string): void {
    if (this.#isDisposed || process !== this.#ready) return;
    const reason = this.#endReason(how);
    this.#log.error(reason);
    this.#forget(reason);
  }

  /** The next message starts the program again. */
  #forget(reason: string): void {
    this.#starting = undefined;
    this.#ready = undefined;
    this.#lastEnd = reason;
    this.#ended.fire();
  }

  #startReason(error: unknown): string {
    const { command, install } = this.#program;
    if (!hasCode(error, "ENOENT")) return vscode.l10n.t("{0} did not start: {1}", this.title, messageOf(error));
    const step =
      install === undefined
        ? vscode.l10n.t("Correct the setting hermes.agents.")
        : vscode.l10n.t("Install it with `{0}`.", install);
    return vscode.l10n.t("{0} did not start: there is no program {1}. {2}", this.title, command, step);
  }

  /** Undefined for a process that runs. */
  async #endOf({ ended }: AgentTransport): Promise<string | undefined> {
    return (await new Deadline(EXIT_MS).waitFor(ended)) ? this.#endReason(await ended) : undefined;
  }

  #endReason(how: string): string {
    const lines = this.#stderr.split("\n").map((line) => line.trim());
    const lastLines = lines.filter((line) => line !== "").slice(-STDERR_LINES);
    const reason = [how, lastLines.join(" | ")].filter((part) => part !== "").join(": ");
    return vscode.l10n.t("{0} ended with {1}. Your next message starts it again.", this.title, reason);
  }

  /** Runs the agent's own sign-in in a terminal; true when it ended well. */
  #signInWithTerminal(method: { readonly args?: string[]; readonly env?: Record<string, string> }): Promise<boolean> {
    const { command, args, env } = this.#program;
    const terminal = vscode.window.createTerminal({
      name: vscode.l10n.t("Sign In to {0}", this.title),
      shellPath: command,
      shellArgs: [...args, ...(method.args ?? [])],
      env: { ...env, ...method.env },
    });
    terminal.show();
    return new Promise((resolve) => {
      const subscription = vscode.window.onDidCloseTerminal((closed) => {
        if (closed !== terminal) return;
        subscription.dispose();
        resolve(closed.exitStatus?.code === 0);
      });
    });
  }
}

/** Variables of VS Code itself would change how Node programs start. */
function environment(own: Readonly<Record<string, string>>): Record<string, string> {
  const inherited = Object.entries(process.env).filter(
    (entry): entry is [string, string] => entry[1] !== undefined && !/^(?:VSCODE|ELECTRON)_/.test(entry[0]),
  );
  return { ...Object.fromEntries(inherited), ...own };
}
