/** The agents of the window: Hermes, those of the setting `hermes.agents`, and known programs that are installed. */
import * as vscode from "vscode";
import * as z from "zod";
import { findProgram } from "../../agent-core/platform/find-program.ts";
import type { ClientServices } from "../client/client-services.ts";
import { type AgentConnection, agentOf } from "./agent-connection.ts";
import { AgentProcess, type AgentProgram } from "./agent-process.ts";
import type { TokenStore } from "./agent-transport.ts";

/** Agents with a program of their own, or an adapter's. */
const PRESETS: readonly AgentProgram[] = [
  { title: "Claude Code", command: "claude-agent-acp", npm: "@agentclientprotocol/claude-agent-acp", name: "claude" },
  { title: "Codex", command: "codex-acp", npm: "@agentclientprotocol/codex-acp", name: "codex" },
  { title: "Gemini CLI", command: "gemini", args: ["--acp"], npm: "@google/gemini-cli", name: "gemini" },
  { title: "OpenCode", command: "opencode", args: ["acp"], npm: "opencode-ai", name: "opencode" },
].map(({ npm, args = [], ...program }) => ({ ...program, args, env: {}, install: `npm install -g ${npm}` }));

/** Name of an agent. A colon would end it in the ids of its sessions. */
export const AGENT_NAME = /^[^:]+$/;

/** Without a terminal. Three minutes without an answer end the connection. */
const SSH = ["-T", "-o", "ServerAliveInterval=60"];
/** Starts the agent in a login shell, whose PATH has the user's own programs. */
const REMOTE_AGENT = "exec $SHELL -lc 'exec hermes-acp'";

const Configured = z.record(
  z.string().regex(AGENT_NAME, vscode.l10n.t("an agent's name has no colon")),
  z.union([
    z.object({
      command: z.string().min(1),
      args: z.array(z.string()).default([]),
      env: z.record(z.string(), z.string()).default({}),
    }),
    z
      .object({ url: z.string().min(1), cwd: z.string().startsWith("/").exactOptional() })
      .transform(({ url, cwd }) => ({ command: url, args: [], env: {}, remote: { url, cwd } })),
    z
      .object({ ssh: z.string().regex(/^[^-]/), cwd: z.string().startsWith("/") })
      .transform(({ ssh, cwd }) => ({ command: "ssh", args: [...SSH, ssh, REMOTE_AGENT], env: {}, remote: { cwd } })),
  ]),
);

export type AgentChoice = { readonly program: AgentProgram; readonly isInstalled: boolean };

export type AgentsOptions = {
  readonly hermes: AgentConnection;
  readonly services: ClientServices;
  readonly log: vscode.LogOutputChannel;
  /** Tokens of agents on other machines. */
  readonly secrets: TokenStore;
  /** Name of the agent that new sessions get; undefined: Hermes. */
  readonly chosen: { get(): string | undefined; set(name: string | undefined): void };
};

export class Agents implements vscode.Disposable {
  readonly #options: AgentsOptions;
  readonly #processes = new Map<string, AgentProcess>();
  readonly #ended = new vscode.EventEmitter<string>();

  readonly #reported = new vscode.EventEmitter<{ readonly name: string; readonly text: string }>();

  /** An agent other than Hermes has ended by itself; its name. */
  readonly onDidEnd = this.#ended.event;
  /** The connection to an agent of another machine was lost, or is back: a line for its sessions. */
  readonly onDidReport = this.#reported.event;

  constructor(options: AgentsOptions) {
    this.#options = options;
  }

  /** Agent of a stored session; without one, the agent of new sessions. */
  of(sessionId: string | undefined): AgentConnection {
    const name = sessionId === undefined ? this.#options.chosen.get() : agentOf(sessionId);
    return name === undefined ? this.#options.hermes : this.#process(name);
  }

  /** New sessions get this agent; undefined: Hermes. */
  choose(name: string | undefined): void {
    this.#options.chosen.set(name);
  }

  /** Agents other than Hermes that run, and list and load their sessions. */
  get listing(): readonly AgentConnection[] {
    return [...this.#processes.values()].filter(({ isReady, offers }) => isReady && offers.list && offers.load);
  }

  /** Takes the programs of the changed setting `hermes.agents`. Throws an Error in one line when it is invalid. */
  settingChanged(): void {
    const programs = new Map(this.choices().map(({ program }) => [program.name, program]));
    for (const [name, process] of this.#processes) process.replace(programs.get(name) ?? unknownProgram(name));
  }

  /** All but Hermes. Throws an Error in one line when the setting is invalid. */
  choices(): readonly AgentChoice[] {
    const own = configured();
    const known = PRESETS.filter(({ name }) => own.every((program) => program.name !== name));
    return [
      ...own.map((program) => ({ program, isInstalled: true })),
      ...known.map((program) => ({ program, isInstalled: findProgram(program.command) !== undefined })),
    ];
  }

  /** Starts a program once; resolves to true when it was cancelled. Rejects with the reason why it is no agent. */
  async test(program: AgentProgram, signal: AbortSignal): Promise<boolean> {
    const { services, log, secrets } = this.#options;
    const process = new AgentProcess(program, services, log, secrets);
    const cancelled = Promise.withResolvers<boolean>();
    signal.addEventListener("abort", () => cancelled.resolve(true), { once: true });
    try {
      return await Promise.race([process.agent().then(() => false), cancelled.promise]);
    } catch (error) {
      throw new Error(await process.explain(error));
    } finally {
      process.dispose();
    }
  }

  dispose(): void {
    for (const process of this.#processes.values()) process.dispose();
    this.#ended.dispose();
    this.#reported.dispose();
  }

  #process(name: string): AgentConnection {
    const running = this.#processes.get(name);
    if (running !== undefined) return running;
    const program = this.choices().find((choice) => choice.program.name === name)?.program ?? unknownProgram(name);
    const { services, log, secrets } = this.#options;
    const process = new AgentProcess(program, services, log, secrets);
    process.onDidEnd(() => this.#ended.fire(name));
    process.onDidReport((text) => this.#reported.fire({ name, text }));
    this.#processes.set(name, process);
    return process;
  }
}

/** Agent of a session that the settings no longer have: its start fails, and names it. */
function unknownProgram(name: string): AgentProgram {
  return { name, title: name, command: name, args: [], env: {} };
}

/** The setting has the scope of the machine, so that no workspace can name a program. */
function configured(): readonly AgentProgram[] {
  const setting = Configured.safeParse(vscode.workspace.getConfiguration("hermes").get("agents", {}));
  if (!setting.success) {
    const [issue] = setting.error.issues;
    const problem = `${issue?.path.join(".") ?? ""}: ${issue?.message ?? ""}`;
    throw new Error(vscode.l10n.t("The setting hermes.agents is invalid: {0}", problem));
  }
  return Object.entries(setting.data).map(([name, program]) => ({ name, title: name, ...program }));
}
