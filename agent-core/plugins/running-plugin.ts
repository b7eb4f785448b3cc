/** One plugin of a session: its process, and its registrations as tools, commands, hooks and engines. */
import type { ExtensionCommand, ExtensionSession } from "../agent/extensions.ts";
import { matcherOf } from "../hooks/command-hook.ts";
import { type Hook, type HookPayload, type HookVerdict, IN_HOOK_VARIABLE } from "../hooks/hook.ts";
import { readVerdict } from "../hooks/hook-answer.ts";
import type { CommandVariables } from "../host/terminals/backend.ts";
import { commandEnvironment } from "../host/terminals/command-environment.ts";
import { messageOf } from "../platform/errors.ts";
import { oneLine } from "../platform/one-line.ts";
import type { ArgumentCheck } from "../tools/argument-check.ts";
import { fitArguments } from "../tools/fit-arguments.ts";
import type { Tool, ToolContext, ToolResult } from "../tools/tool.ts";
import type { InstalledPlugin } from "./find-plugins.ts";
import {
  leasePlugin,
  PLUGIN_TIMEOUTS,
  type PluginCallRequest,
  type PluginConnection,
  type PluginConnectionOptions,
  type PluginLease,
  type PluginTimeouts,
} from "./plugin-connection.ts";
import type { EngineCalls } from "./plugin-engine.ts";
import type { Registration } from "./plugin-messages.ts";

/** Added to a hook's timeout, so that the connection's own timeout comes first: its error names the plugin. */
const HOOK_MARGIN_MS = 1_000;
/** Characters of an invalid answer in its error message. */
const SHOWN_CHARS = 80;

export type RunningPluginOptions = {
  readonly plugin: InstalledPlugin;
  /** Its part of config.yaml. */
  readonly config: unknown;
  readonly session: Pick<ExtensionSession, "sessionId" | "cwd">;
  readonly variables: CommandVariables;
  readonly timeouts?: Partial<PluginTimeouts>;
  /** True starts a new process, because the plugin's files may have changed. */
  readonly isFresh: boolean;
  readonly log: (line: string) => void;
  /** Called once when the plugin ended by itself or had to be ended. */
  readonly onStopped: (reason: string) => void;
};

export type PluginParts = {
  readonly tools: readonly Tool[];
  readonly commands: readonly ExtensionCommand[];
  readonly hooks: readonly Hook[];
  /** By name. */
  readonly engines: ReadonlyMap<string, EngineCalls>;
  /** Folders of skills, absolute. */
  readonly skillFolders: readonly string[];
};

export class RunningPlugin {
  /** Rejects when the plugin could not be started; `onStopped` has the reason. */
  readonly parts: Promise<PluginParts>;
  readonly #options: RunningPluginOptions;
  readonly #timeouts: PluginTimeouts;
  readonly #lease: PluginLease;

  constructor(options: RunningPluginOptions) {
    const { plugin, config, variables, timeouts, log, onStopped } = options;
    this.#options = options;
    this.#timeouts = { ...PLUGIN_TIMEOUTS, ...timeouts };
    const connecting: PluginConnectionOptions = {
      entry: plugin.entry,
      config,
      environment: { ...commandEnvironment(variables, undefined), [IN_HOOK_VARIABLE]: "1" },
      timeouts: this.#timeouts,
      log: (line) => log(`Plugin ${plugin.name}: ${line}`),
      onStopped,
    };
    this.#lease = leasePlugin(connecting, options.isFresh);
    this.parts = this.#lease.connection.registrations.then((registrations) => this.#partsOf(registrations));
    this.parts.catch(() => undefined); // reported by `onStopped`
  }

  /** Ends the plugin's process if no other session uses it. */
  end(): Promise<void> {
    return this.#lease.leave();
  }

  #partsOf(registrations: readonly Registration[]): PluginParts {
    const { plugin } = this.#options;
    const ofKind = <Kind extends Registration["kind"]>(kind: Kind) =>
      registrations.filter((one): one is Extract<Registration, { kind: Kind }> => one.kind === kind);
    const ports = { plugin, connection: this.#lease.connection, timeoutMs: this.#timeouts.tool };
    return {
      tools: ofKind("tool").map((tool) => pluginTool(tool, ports)),
      commands: ofKind("command").map((command) => this.#command(command)),
      hooks: ofKind("hook").map((hook) => this.#hook(hook)),
      engines: new Map(ofKind("engine").map((engine) => [engine.name, this.#engine(engine)])),
      skillFolders: ofKind("skills").map(({ path }) => path),
    };
  }

  #command({ name, description, hint, handler }: Extract<Registration, { kind: "command" }>): ExtensionCommand {
    return {
      name,
      description,
      ...(hint !== undefined && { hint }),
      run: async (argument, signal) => {
        const subject = `its command /${name}`;
        const answer = await this.#call({ handler, input: argument, subject, signal }).catch(messageOf);
        if (typeof answer === "string") return answer;
        const { ask, text } = Object(answer);
        if (typeof ask === "string") return { ask };
        return typeof text === "string" ? text : "Done.";
      },
    };
  }

  #hook({ event, matcher, failClosed, handler }: Extract<Registration, { kind: "hook" }>): Hook {
    const { plugin } = this.#options;
    return {
      event,
      ...(matcher !== undefined && { matcher: matcherOf(matcher) }),
      label: `plugin ${plugin.name}`,
      origin: "plugin",
      failClosed,
      timeoutMs: this.#timeouts.hook + HOOK_MARGIN_MS,
      run: async (payload, signal) =>
        verdictOf(
          await this.#call({ handler, input: payload, subject: `its hook ${event}`, signal }, this.#timeouts.hook),
          payload,
        ),
    };
  }

  #engine({ name, handler, shouldCompress }: Extract<Registration, { kind: "engine" }>): EngineCalls {
    const subject = `its context engine ${name}`;
    return {
      plan: (input, signal) => this.#call({ handler, input, subject, signal }),
      shouldCompress:
        shouldCompress === undefined
          ? undefined
          : (input, signal) => this.#call({ handler: shouldCompress, input, subject, signal }),
    };
  }

  #call(request: Omit<PluginCallRequest, "facts" | "timeoutMs">, timeoutMs = this.#timeouts.other): Promise<unknown> {
    const { cwd, sessionId } = this.#options.session;
    return this.#lease.connection.call({ ...request, facts: { cwd, sessionId }, timeoutMs });
  }
}

/** Verdict of a hook's handler. Without an answer the event continues. Throws for an invalid answer. */
function verdictOf(answer: unknown, payload: HookPayload): HookVerdict {
  if (answer === null) return {};
  const verdict = readVerdict(answer, payload);
  if (verdict !== undefined) return verdict;
  throw new Error(`its answer is not a verdict: ${JSON.stringify(answer).slice(0, SHOWN_CHARS)}`);
}

type ToolRegistration = Extract<Registration, { kind: "tool" }>;

type ToolPorts = {
  readonly plugin: Pick<InstalledPlugin, "name" | "folder">;
  readonly connection: Pick<PluginConnection, "call">;
  /** Timeout without one of the tool's own. Milliseconds. */
  readonly timeoutMs: number;
};

type Schema = Readonly<Record<string, unknown>>;

/** Characters of a call's title. */
const TITLE_CHARS = 80;

export function pluginTool(
  registration: ToolRegistration,
  { plugin: { name: plugin, folder }, connection, timeoutMs }: ToolPorts,
): Tool {
  const { name, description, parameters, readOnly, handler, timeout } = registration;
  const check = lazyCheck(parameters);
  const call = async (input: unknown, { cwd, sessionId, signal, show }: ToolContext): Promise<ToolResult> => {
    const value = await connection.call({
      handler,
      input,
      facts: { cwd, sessionId },
      subject: `its tool ${name}`,
      timeoutMs: timeout === undefined ? timeoutMs : timeout * 1_000,
      signal,
      onShow: (text) => show({ type: "output", text }),
    });
    return resultOf(value);
  };
  return {
    name,
    toolset: `plugin-${plugin}`,
    kind: readOnly ? "read" : "other",
    readOnly,
    interactive: false,
    largeOutput: false,
    need: "foreign",
    schema: { name, description, parameters: { ...parameters } },
    prepare(raw) {
      const args = fitArguments(raw, parameters);
      return {
        ok: true,
        call: {
          title: titleOf(name, args),
          locations: [],
          effect: {
            kind: "foreign",
            origin: `plugin:${folder}`,
            originName: `the plugin ${plugin}`,
            tool: name,
            readOnly,
            args,
          },
          async stage(context) {
            const problem = await check(args);
            if (problem !== undefined)
              return { ok: false, text: `${name}: ${problem} Call it again with corrected arguments.` };
            return { ok: true, diffs: [], run: () => call(args, context) };
          },
        },
      };
    },
  };
}

/** Compiles the schema at the first call: few tools of a plugin are used in a session. */
function lazyCheck(schema: Schema): (input: unknown) => Promise<string | undefined> {
  let compiled: Promise<ArgumentCheck> | undefined;
  return async (input) => {
    compiled ??= import("../tools/argument-check.ts").then(({ argumentCheck }) => argumentCheck(schema));
    try {
      const problem = (await compiled)(input);
      return problem && `the arguments do not fit its schema: ${problem.replaceAll(/(^|, )data/g, "$1arguments")}.`;
    } catch (error) {
      return `its schema is not valid (${messageOf(error)}).`;
    }
  };
}

function titleOf(name: string, input: unknown): string {
  const values = Object.values(Object(input)).filter((value) => typeof value === "string" || typeof value === "number");
  return oneLine([name, ...values].join(" "), TITLE_CHARS);
}

/** A text, `{ text, ok? }`, or any other value as JSON. */
function resultOf(value: unknown): ToolResult {
  if (typeof value === "string") return { ok: true, text: value };
  const { text, ok } = Object(value);
  if (typeof text === "string") return { ok: ok !== false, text };
  return { ok: true, text: value === null ? "Done." : JSON.stringify(value, null, 1) };
}
