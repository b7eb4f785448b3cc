/** The plugins of a session: starts the ones that config.yaml enables, and lets the user switch them on and off. */
import { existsSync } from "node:fs";
import type { Extension, ExtensionCommand, ExtensionSession } from "../agent/extensions.ts";
import { type Environment, extensionPlaces } from "../config/home.ts";
import { setPluginEnabled } from "../config/home-file.ts";
import type { Config } from "../config/sections.ts";
import type { ContextEngine } from "../context/context-engine.ts";
import { type Hook, IN_HOOK_VARIABLE } from "../hooks/hook.ts";
import type { CommandVariables } from "../host/terminals/backend.ts";
import { counted } from "../platform/counted.ts";
import { messageOf } from "../platform/errors.ts";
import { nearName } from "../platform/names.ts";
import type { HermesExtensionAction, HermesExtensionItem } from "../protocol/extensions.ts";
import { table as builtInTools } from "../tools/table.gen.ts";
import type { Tool } from "../tools/tool.ts";
import type { InstalledPlugin } from "./find-plugins.ts";
import type { PluginTimeouts } from "./plugin-connection.ts";
import { type EngineCalls, pluginEngine } from "./plugin-engine.ts";
import type { PluginParts, RunningPlugin } from "./running-plugin.ts";

export type PluginsOptions = {
  /** Hermes' home folder. */
  readonly home: string;
  readonly config: Config["plugins"];
  /** Name of a plugin's engine in config.yaml; undefined for a built-in one. */
  readonly engineName: string | undefined;
  /** Names that no command of a plugin may have. */
  readonly reservedNames: readonly string[];
  /** Environment of the agent. An agent that a hook or a plugin has started runs no hooks of plugins. */
  readonly environment: Environment;
  /** Changes to the environment of commands; plugins get the same. */
  readonly variables: CommandVariables;
  readonly log: (line: string) => void;
  readonly timeouts?: Partial<PluginTimeouts>;
};

type PluginState = {
  readonly plugin: InstalledPlugin;
  readonly state: HermesExtensionItem["state"];
  /** Reason of the state `failed`. */
  readonly error?: string;
  readonly running?: RunningPlugin;
  readonly parts?: PluginParts;
};

/** Engines that need no plugin. */
const BUILT_IN_ENGINES = ["default", "compressor", "none"];

const ID = "plugin:";

export class Plugins implements Extension {
  readonly name = "plugins";
  readonly ready?: Promise<unknown>;
  readonly #options: PluginsOptions;
  readonly #begun = Promise.withResolvers<ExtensionSession>();
  readonly #states = new Map<string, PluginState>();
  readonly #listeners: (() => void)[] = [];
  #tools: readonly Tool[] = [];
  #commands: readonly ExtensionCommand[] = [];
  #hooks: readonly Hook[] = [];
  #isClosed: boolean = false;

  constructor(options: PluginsOptions) {
    this.#options = options;
    const { config, engineName, home } = options;
    const isAsked = config.enabled.length > 0 || engineName !== undefined;
    if (isAsked || existsSync(extensionPlaces(home).plugins)) {
      const failed = (error: unknown): void => options.log(`The plugins could not be started: ${messageOf(error)}`);
      this.ready = this.#begun.promise.then((session) => this.#startAll(session)).catch(failed);
    }
  }

  begin(session: ExtensionSession): void {
    this.#begun.resolve(session);
  }

  tools(): readonly Tool[] {
    return this.#tools;
  }

  commands(): readonly ExtensionCommand[] {
    return [this.#command, ...this.#commands];
  }

  hooks(): readonly Hook[] {
    return this.#hooks;
  }

  contextEngine(builtIn: ContextEngine): ContextEngine | undefined {
    const { engineName } = this.#options;
    return engineName === undefined
      ? undefined
      : pluginEngine(engineName, builtIn, {
          find: () => this.#engine(engineName),
          warn: (message) => void this.#begun.promise.then((session) => this.#warn(session, message)),
        });
  }

  #engine(name: string): EngineCalls | undefined {
    return this.#parts().flatMap(({ engines }) => engines.get(name) ?? [])[0];
  }

  /** Folders of skills that running plugins have, absolute. */
  skillFolders(): readonly string[] {
    return this.#parts().flatMap(({ skillFolders }) => skillFolders);
  }

  items(): readonly HermesExtensionItem[] {
    return [...this.#states.values()].map(itemOf);
  }

  async act(id: string, action: HermesExtensionAction): Promise<string> {
    const found = this.#states.get(id.slice(ID.length));
    if (found === undefined) throw new Error(`There is no plugin ${JSON.stringify(id.slice(ID.length))}.`);
    const { name, problem } = found.plugin;
    switch (action) {
      case "enable":
        if (problem !== undefined) throw new Error(`The plugin ${name} cannot run: ${problem}.`);
        await setPluginEnabled(this.#options.home, name, true);
        return this.#restart(found.plugin);
      case "restart":
        return this.#restart(found.plugin);
      case "disable":
        await setPluginEnabled(this.#options.home, name, false);
        await found.running?.end();
        this.#set({ plugin: found.plugin, state: "off" });
        return `The plugin ${name} is off.`;
      default:
        throw new Error(`Plugins have no action "${action}".`);
    }
  }

  onChange(listener: () => void): void {
    this.#listeners.push(listener);
  }

  async dispose(): Promise<void> {
    this.#isClosed = true;
    await Promise.all([...this.#states.values()].map(({ running }) => running?.end()));
  }

  readonly #command: ExtensionCommand = {
    name: "plugins",
    description: "List the plugins, or switch one on or off",
    hint: "[enable | disable | restart NAME]",
    run: async (argument) => {
      await this.ready;
      const { unknownPlugin } = await this.#find();
      const [verb, name = ""] = argument.trim().split(/\s+/, 2);
      if (!verb) return this.#list();
      const action = (["enable", "disable", "restart"] as const).find((known) => known === verb);
      if (action === undefined)
        return `\`/plugins ${verb}\` is unknown. Use \`enable NAME\`, \`disable NAME\` or \`restart NAME\`.`;
      if (!this.#states.has(name)) return unknownPlugin(name, [...this.#states.keys()]);
      return this.act(`${ID}${name}`, action).catch(messageOf);
    },
  };

  #list(): string {
    const folder = extensionPlaces(this.#options.home).plugins;
    if (this.#states.size === 0) {
      return `There are no plugins. A plugin adds tools, slash commands, hooks and skills.\n\nAdd one as a folder in ${folder}.`;
    }
    const lines = this.items().map(({ name, state, detail, error }) => `- \`${name}\` (${state}): ${error ?? detail}`);
    return [...lines, "", "Type `/plugins enable|disable|restart NAME`."].join("\n");
  }

  /** Reads the folder of the plugins again. Running plugins do not change. */
  async #find() {
    const found = await import("./find-plugins.ts");
    for (const plugin of await found.findPlugins(extensionPlaces(this.#options.home).plugins)) {
      const known = this.#states.get(plugin.name);
      if (known?.running === undefined) this.#states.set(plugin.name, { state: "off", ...known, plugin });
    }
    return found;
  }

  async #startAll(session: ExtensionSession): Promise<void> {
    const { config } = this.#options;
    const { unknownPlugin } = await this.#find();
    const installed = [...this.#states.values()].map(({ plugin }) => plugin);
    const names = config.enabled.filter((name) => !config.disabled.includes(name));
    const unknown = names.filter((name) => !this.#states.has(name));
    for (const name of unknown) {
      this.#warn(session, `config.yaml: ${unknownPlugin(name, [...this.#states.keys()])}`);
    }
    await Promise.all(installed.filter(({ name }) => names.includes(name)).map((plugin) => this.#start(plugin, false)));
    this.#changed();
    this.#checkEngine(session);
  }

  #checkEngine(session: ExtensionSession): void {
    const { engineName } = this.#options;
    if (engineName === undefined || this.#engine(engineName) !== undefined) return;
    const engines = this.#parts().flatMap((parts) => [...parts.engines.keys()]);
    const near = nearName(engineName, [...engines, ...BUILT_IN_ENGINES]);
    const hint = near === undefined ? "" : ` Did you mean ${near}?`;
    this.#warn(
      session,
      `config.yaml: context.engine: no running plugin has an engine "${engineName}", so the built-in one is used.${hint}`,
    );
  }

  async #restart(plugin: InstalledPlugin): Promise<string> {
    await this.#states.get(plugin.name)?.running?.end();
    await this.#start(plugin, true);
    const { state, error } = this.#states.get(plugin.name) ?? { state: "off" };
    return state === "failed" ? `The plugin ${plugin.name} is off: ${error}.` : `The plugin ${plugin.name} is on.`;
  }

  /** Settles when the plugin is registered or off. */
  async #start(plugin: InstalledPlugin, isFresh: boolean): Promise<void> {
    const session = await this.#begun.promise;
    const { config, variables, log, timeouts } = this.#options;
    const { hookCallbackTimeout: hook } = config;
    const fail = (reason: string): void => {
      if (this.#isClosed) return;
      this.#set({ plugin, state: "failed", error: reason });
      this.#warn(session, `The plugin ${plugin.name} is off for this session: ${reason.replace(/\.$/, "")}.`);
    };
    if (plugin.problem !== undefined) return fail(plugin.problem);
    const { RunningPlugin } = await import("./running-plugin.ts");
    if (this.#isClosed) return;
    let running: RunningPlugin;
    try {
      running = new RunningPlugin({
        plugin,
        session,
        variables,
        log,
        isFresh,
        timeouts: { ...(hook !== undefined && { hook: hook * 1_000 }), ...timeouts },
        config: config.entries[plugin.name] ?? {},
        onStopped: fail,
      });
    } catch (error) {
      return fail(`its process could not be started (${messageOf(error)})`);
    }
    this.#set({ plugin, state: "starting", running });
    const parts = await running.parts.catch(() => undefined); // reported by `fail`
    const isCurrent = this.#states.get(plugin.name)?.running === running;
    if (parts !== undefined && isCurrent)
      this.#set({ plugin, state: "on", running, parts: this.#usable(parts, plugin, session) });
  }

  /** Leaves out tools and commands whose names are taken. */
  #usable(parts: PluginParts, { name: plugin }: InstalledPlugin, session: ExtensionSession): PluginParts {
    const free = <Part extends { readonly name: string }>(
      all: readonly Part[],
      names: readonly string[],
      noun: string,
    ) => {
      const taken = new Set(names);
      return all.filter(({ name }) => {
        const isFree = !taken.has(name) && !name.startsWith("mcp__");
        if (!isFree) {
          const shown = noun === "command" ? `/${name}` : name;
          this.#warn(
            session,
            `The plugin ${plugin} has a ${noun} ${shown}, which is left out: another ${noun} has this name.`,
          );
        }
        taken.add(name);
        return isFree;
      });
    };
    const namesOf = (all: readonly { readonly name: string }[]): string[] => all.map(({ name }) => name);
    const commandNames = [...this.#options.reservedNames, ...namesOf(this.#commands)];
    return {
      ...parts,
      tools: free(parts.tools, namesOf([...builtInTools, ...this.#tools]), "tool"),
      commands: free(parts.commands, commandNames, "command"),
    };
  }

  #set(state: PluginState): void {
    if (this.#isClosed) return;
    this.#states.set(state.plugin.name, state);
    const parts = this.#parts();
    this.#tools = parts.flatMap(({ tools }) => tools);
    this.#commands = parts.flatMap(({ commands }) => commands);
    this.#hooks = this.#options.environment[IN_HOOK_VARIABLE] ? [] : parts.flatMap(({ hooks }) => hooks);
    this.#changed();
  }

  #changed(): void {
    for (const listener of this.#listeners) listener();
  }

  #parts(): readonly PluginParts[] {
    return [...this.#states.values()].flatMap(({ parts }) => parts ?? []);
  }

  #warn(session: ExtensionSession, message: string): void {
    session.status({ severity: "warning", message });
  }
}

const actions: Readonly<Record<HermesExtensionItem["state"], readonly HermesExtensionAction[]>> = {
  on: ["disable", "restart"],
  starting: ["disable"],
  off: ["enable"],
  failed: ["restart", "disable"],
  "needs-consent": [],
  "needs-sign-in": [],
};

function itemOf({ plugin, state, error, parts }: PluginState): HermesExtensionItem {
  const { name, version, description, folder, problem } = plugin;
  const failure = error ?? problem;
  return {
    id: `${ID}${name}`,
    kind: "plugin",
    name,
    source: "plugins",
    state,
    detail: [version ?? "", description ?? "", partsText(parts)].filter((text) => text !== "").join(" · ") || folder,
    path: folder,
    ...(failure !== undefined && { error: failure }),
    actions: problem === undefined ? actions[state] : actions[state].filter((action) => action === "disable"),
  };
}

/** `2 tools, 1 command`. */
function partsText(parts: PluginParts | undefined): string {
  if (parts === undefined) return "";
  const { tools, commands, hooks, engines, skillFolders } = parts;
  const counts = [
    [tools.length, "tool"],
    [commands.length, "command"],
    [hooks.length, "hook"],
    [engines.size, "context engine"],
    [skillFolders.length, "skill folder"],
  ] as const;
  return counts
    .filter(([count]) => count > 0)
    .map(([count, noun]) => counted(count, noun))
    .join(", ");
}
