/** Runs the agent in a worker thread: starts it on first use, restarts it after a crash, ends it with the window. */
import { Worker } from "node:worker_threads";
import type { ClientConnection, ClientContext } from "@zed-industries/agent-client-protocol";
import * as vscode from "vscode";
import { messageOf } from "../../agent-core/platform/errors.ts";
import type { WorkspaceFacts } from "../../agent-core/protocol/panel-events.ts";
import { endStream, portStream } from "../../agent-core/protocol/port-stream.ts";
import type { ClientServices } from "../client/client-services.ts";
import { type AgentConnection, HERMES_OFFERS } from "./agent-connection.ts";
import { connect } from "./connect-agent.ts";
import { vscodeRipgrep } from "./vscode-ripgrep.ts";

/** Automatic restarts within a minute. */
const RESTARTS_PER_MINUTE = 3;
const MINUTE_MS = 60_000;
/** Time for the agent to end its commands before the thread is terminated. */
const SHUTDOWN_MS = 1_500;

/** Variables for a starting agent, in addition to VS Code's own. */
type StartVariables = () => Promise<Readonly<Record<string, string>>>;

type Running = { readonly worker: Worker; readonly connection: ClientConnection };

export class AgentWorker implements AgentConnection, vscode.Disposable {
  readonly name = undefined;
  readonly title = "Hermes";
  readonly offers = HERMES_OFFERS;
  readonly #script: string;
  readonly #services: ClientServices;
  readonly #environment: StartVariables;
  readonly #log: vscode.LogOutputChannel;
  readonly #changed = new vscode.EventEmitter<WorkspaceFacts["agent"]>();
  readonly #deaths: number[] = [];
  #starting: Promise<Running> | undefined;
  /** The worker whose exit is a crash: not one that is being stopped. */
  #current: Worker | undefined;
  /** The end of the last worker, after which there is no other. */
  #ending: Promise<void> | undefined;

  /** Fires on starts, crashes and restarts. */
  readonly onDidChange = this.#changed.event;

  constructor(script: string, services: ClientServices, environment: StartVariables, log: vscode.LogOutputChannel) {
    this.#script = script;
    this.#services = services;
    this.#environment = environment;
    this.#log = log;
  }

  /** True while an agent runs or starts. */
  get isStarted(): boolean {
    return this.#starting !== undefined;
  }

  /** The connection to the agent; starts the worker when there is none. */
  async agent(): Promise<ClientContext> {
    this.#starting ??= this.#start();
    return (await this.#starting).connection.agent;
  }

  explain(error: unknown): Promise<string> {
    return Promise.resolve(messageOf(error));
  }

  /** Hermes asks for a key in the panel. */
  signIn(): Promise<boolean> {
    return Promise.resolve(false);
  }

  /** Replaces the worker. A call of `agent` meanwhile waits for the new one. */
  async restart(): Promise<void> {
    this.#deaths.length = 0;
    this.#starting = this.#stop().then(() => this.#start());
    this.#changed.fire({ state: "restarting" });
    await this.#starting;
  }

  /** Ends the agent, and resolves when its sessions are stored, after SHUTDOWN_MS at the latest. */
  end(): Promise<void> {
    this.#ending ??= this.#stop();
    return this.#ending;
  }

  dispose(): void {
    this.end().catch((error: unknown) => this.#log.error(String(error)));
    this.#changed.dispose();
  }

  async #start(): Promise<Running> {
    this.#changed.fire({ state: "starting" });
    try {
      const ripgrep = vscodeRipgrep(vscode.env.appRoot);
      const worker = new Worker(this.#script, {
        workerData: { ...(ripgrep !== undefined && { ripgrep }) },
        env: { ...process.env, ...(await this.#environment()) },
        stdout: true,
        stderr: true,
      });
      this.#current = worker;
      for (const stream of [worker.stdout, worker.stderr]) {
        stream.setEncoding("utf8").on("data", (text: string) => this.#log.info(text.trimEnd()));
      }
      worker.once("error", (error) => this.#log.error(error));
      worker.once("exit", (code) => this.#ended(worker, code));
      const connection = await connect(portStream(worker), this.#services);
      this.#changed.fire({ state: "ready" });
      return { worker, connection };
    } catch (error) {
      this.#starting = undefined;
      const message = messageOf(error);
      this.#changed.fire({ state: "failed", message: vscode.l10n.t("The agent did not start: {0}", message) });
      throw error;
    }
  }

  #ended(worker: Worker, code: number): void {
    worker.removeAllListeners("message");
    if (this.#ending !== undefined || worker !== this.#current) return;
    this.#starting = undefined;
    this.#log.error(`The agent's worker ended with code ${code}.`);
    const now = Date.now();
    this.#deaths.push(now);
    const recent = this.#deaths.filter((at) => now - at < MINUTE_MS);
    if (recent.length > RESTARTS_PER_MINUTE) {
      this.#changed.fire({
        state: "failed",
        message: vscode.l10n.t("The agent crashed several times in a row. See the log, or restart the agent."),
      });
      return;
    }
    this.#changed.fire({
      state: "restarting",
      message: vscode.l10n.t("The agent crashed and was restarted. The session continues."),
    });
  }

  async #stop(): Promise<void> {
    const starting = this.#starting;
    this.#starting = undefined;
    this.#current = undefined;
    const running = await starting?.catch(() => undefined);
    if (running === undefined) return;
    const exited = new Promise<void>((resolve) => running.worker.once("exit", () => resolve()));
    running.connection.close();
    endStream(running.worker);
    const timer = setTimeout(() => void running.worker.terminate(), SHUTDOWN_MS);
    await exited;
    clearTimeout(timer);
  }
}
