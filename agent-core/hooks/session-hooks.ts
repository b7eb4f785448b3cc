/** The command hooks of one session: those of the home and of the workspace, with consents, list and switches. */
import { type Consents, contentHash } from "../approval/consents.ts";
import { configFile } from "../config/home.ts";
import { Switches } from "../config/switches.ts";
import { messageOf, UsageError } from "../platform/errors.ts";
import type { HermesExtensionAction, HermesExtensionItem } from "../protocol/extensions.ts";
import { type CommandHook, type CommandPlace, homeHook } from "./command-hook.ts";
import { type ForeignHook, foreignHashes, foreignHook, readForeignHooks } from "./foreign-hooks.ts";
import { HookAllowlist, readHomeHooks } from "./home-hooks.ts";
import type { Hook } from "./hook.ts";

export type SessionHooksOptions = CommandPlace & {
  /** The section `hooks` of config.yaml. */
  readonly section: Readonly<Record<string, unknown>>;
  /** Hooks of config.yaml run without the user's consent. */
  readonly autoAccept: boolean;
  readonly consents: Pick<Consents, "isAllowed" | "allow">;
  /** Shows one line to the user. */
  readonly show: (message: string) => void;
};

/** One hook of the session. */
type Entry = {
  /** Stays the same while the definition does. */
  readonly id: string;
  readonly definition: CommandHook;
  /** File for display. */
  readonly source: string;
  /** Absolute. */
  readonly path: string;
  readonly hook: Hook;
  /** The user has allowed exactly this hook. */
  isAllowed(): boolean;
  /** The user has allowed its entry. With changed scripts the hook fails at each run, and a fail-closed hook blocks. */
  wasAllowed(): boolean;
  allow(): Promise<void>;
  /** Reason of its last failure, in one line. */
  error: string | undefined;
};

export class SessionHooks {
  readonly #options: SessionHooksOptions;
  readonly #allowlist: HookAllowlist;
  readonly #onChange: () => void;
  readonly #shown = new Set<string>();
  readonly #home: readonly Entry[];
  #workspace: readonly Entry[] = [];
  #active: readonly Hook[] = [];
  /** Undefined before the first `refresh`. */
  #switches: Switches | undefined;

  constructor(options: SessionHooksOptions, onChange: () => void) {
    this.#options = options;
    this.#onChange = onChange;
    this.#allowlist = new HookAllowlist(options.home);
    const { hooks, problems } = readHomeHooks(options.section);
    for (const problem of problems) this.#showOnce(problem);
    this.#home = hooks.map((definition) => this.#homeEntry(definition));
    this.#update();
  }

  /** The hooks that run: switched on, and with the user's consent. */
  get active(): readonly Hook[] {
    return this.#active;
  }

  /** Reads the workspace's files again, and shows once that hooks need a consent. */
  async refresh(): Promise<void> {
    const { cwd, home, trusted } = this.#options;
    this.#switches = await Switches.of(home); // another session may have switched one
    if (trusted()) {
      const { hooks, problems, ignored } = await readForeignHooks(cwd);
      for (const line of [...ignored, ...problems]) this.#showOnce(line);
      this.#workspace = hooks.map((definition) => this.#foreignEntry(definition));
    }
    this.#update();
    const waiting = this.#entries.filter((entry) => this.#isOn(entry) && !entry.isAllowed());
    if (waiting.length === 0) return;
    const needs =
      waiting.length === 1
        ? "1 hook needs your consent before it runs"
        : `${waiting.length} hooks need your consent before they run`;
    const keys = waiting.map(({ id }) => id).join();
    this.#showOnce(`${needs}. /hooks shows the commands.`, keys);
  }

  items(): readonly HermesExtensionItem[] {
    return this.#entries.map((entry) => {
      const { id, definition, source, path, error } = entry;
      const { event, matcher, command } = definition;
      const [state, ...actions] = this.#isOn(entry) ? stateOf(entry) : (["off", "enable"] as const);
      const shown = { name: matcher === undefined ? event : `${event} ${matcher}`, source, path, detail: command };
      return { id, kind: "hook", state, ...shown, ...(error !== undefined && { error }), actions };
    });
  }

  /** Answers in one line for the user. */
  async act(id: string, action: string): Promise<string> {
    const entry = this.#entries.find((candidate) => candidate.id === id);
    if (entry === undefined) throw new Error("There is no such hook. /hooks lists them.");
    const { command } = entry.definition;
    if (action === "allow") await entry.allow();
    else {
      this.#switches ??= await Switches.of(this.#options.home);
      await this.#switches.set(id, () => ({ isOn: action === "enable" }));
    }
    this.#update();
    this.#onChange();
    if (action === "allow") return `Allowed: \`${command}\`.`;
    return action === "enable" ? `On: \`${command}\`.` : `Off, in all sessions: \`${command}\`.`;
  }

  /** `/hooks`, `/hooks allow 2 3`, `/hooks allow all`: of all hooks those for which the action is offered. */
  async command(argument: string): Promise<string> {
    const asked = argument.trim();
    if (asked === "" || asked === "list") return this.#list();
    const [, action, which = ""] = /^(allow|enable|disable) (all|\d+(?:[ ,]+\d+)*)$/.exec(asked) ?? [];
    if (action === undefined) throw this.#misused(problemOf(asked));
    const items = this.items();
    const unknown = numbersIn(which).find((number) => items[number - 1] === undefined);
    if (unknown !== undefined) throw this.#misused(`There is no hook ${unknown}.`);
    const chosen = items.filter(({ actions }, index) =>
      which === "all" ? actions.some((offered) => offered === action) : numbersIn(which).includes(index + 1),
    );
    if (chosen.length === 0) return `There is no hook to ${action}.\n\n${this.#list()}`;
    const lines: string[] = [];
    for (const { id } of chosen) lines.push(await this.act(id, action));
    return lines.join("\n\n");
  }

  #misused(problem: string): UsageError {
    return new UsageError(`${problem}\n\n${this.#list()}`);
  }

  #list(): string {
    const items = this.items();
    if (items.length === 0) return NO_HOOKS;
    const lines = items.map(({ name, source, state, detail, error }, index) => {
      const note = error === undefined ? "" : `\n   Last failure: ${error}`;
      return `${index + 1}. ${stateWords[state]} · ${name} · ${source}\n   \`${detail}\`${note}`;
    });
    return `${lines.join("\n")}\n\n\`/hooks allow N\`, \`/hooks disable N\`, \`/hooks enable N\`; N is one number, several, or \`all\``;
  }

  get #entries(): readonly Entry[] {
    return [...this.#home, ...this.#workspace];
  }

  #update(): void {
    this.#active = this.#entries.filter((entry) => this.#isOn(entry) && entry.wasAllowed()).map(({ hook }) => hook);
  }

  #isOn({ id }: Entry): boolean {
    return this.#switches?.get(id).isOn ?? true;
  }

  #homeEntry(definition: CommandHook): Entry {
    const { home, autoAccept } = this.#options;
    const isAllowed = (): boolean => autoAccept || this.#allowlist.allows(definition);
    return this.#entry(homeHook(definition, this.#options), {
      definition,
      source: "config.yaml",
      path: configFile(home),
      isAllowed,
      wasAllowed: isAllowed,
      id: `hook:${contentHash({ ...definition, matcher: definition.matcher ?? null }).slice(0, 16)}`,
      allow: () => this.#allowlist.allow(definition),
    });
  }

  #foreignEntry(definition: ForeignHook): Entry {
    const { consents, cwd } = this.#options;
    const hashes = foreignHashes(definition, cwd);
    const isAllowed = (hash: string): boolean => consents.isAllowed("hook", hash);
    return this.#entry(foreignHook(definition, { place: this.#options, isAllowed }), {
      definition,
      source: definition.source,
      path: definition.file,
      id: `hook:${hashes.definition.slice(0, 16)}`,
      isAllowed: () => isAllowed(hashes.content),
      wasAllowed: () => isAllowed(hashes.definition),
      async allow() {
        const description = `${definition.source}: ${definition.command}`;
        for (const hash of [hashes.definition, hashes.content]) consents.allow("hook", hash, description);
      },
    });
  }

  /** The entry's hook remembers its last failure. */
  #entry(hook: Hook, facts: Omit<Entry, "hook" | "error">): Entry {
    const entry: Entry = {
      ...facts,
      error: undefined,
      hook: {
        ...hook,
        run: (payload, signal) =>
          hook.run(payload, signal).catch((error: unknown) => {
            entry.error = messageOf(error);
            throw error;
          }),
      },
    };
    return entry;
  }

  #showOnce(message: string, key = message): void {
    if (this.#shown.has(key)) return;
    this.#shown.add(key);
    this.#options.show(message);
  }
}

function problemOf(asked: string): string {
  const [, action] = /^(allow|enable|disable)\b/.exec(asked) ?? [];
  return action === undefined
    ? `There is no \`/hooks ${asked}\`.`
    : `Type \`/hooks ${action} N\`: N is a number in the list.`;
}

function numbersIn(text: string): readonly number[] {
  return (text.match(/\d+/g) ?? []).map(Number);
}

const NO_HOOKS =
  "There are no hooks. A hook is a command of yours that checks tool calls and turns.\n\nAdd them to the section `hooks` of config.yaml, to `.claude/settings.json`, `.cursor/hooks.json` or `.github/hooks/*.json` in the workspace.";

/** State of an entry that is switched on, and the actions that it offers. */
function stateOf(entry: Entry): readonly [HermesExtensionItem["state"], ...HermesExtensionAction[]] {
  if (!entry.isAllowed())
    return entry.wasAllowed() ? ["needs-consent", "allow", "disable"] : ["needs-consent", "allow"];
  return ["on", "disable"];
}

const stateWords: Readonly<Partial<Record<HermesExtensionItem["state"], string>>> = {
  on: "On",
  off: "Off",
  "needs-consent": "**Needs your consent**",
};
