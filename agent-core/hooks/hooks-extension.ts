/** Command hooks as an extension of a session. Their code is loaded only when a hook is configured. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { Consents } from "../approval/consents.ts";
import type { Environment } from "../config/home.ts";
import type { HermesExtensionItem } from "../protocol/extensions.ts";
import { type Hook, IN_HOOK_VARIABLE } from "./hook.ts";
import type { SessionHooks, SessionHooksOptions } from "./session-hooks.ts";
import { CLAUDE_FILES, COPILOT_FOLDER } from "./shared-calls.ts";

/** The part of a session that hooks need. */
type Session = { readonly status: (event: { readonly severity: "warning"; readonly message: string }) => void };

export type HooksExtensionOptions = Omit<SessionHooksOptions, "show" | "consents"> & {
  readonly environment: Environment;
  readonly onDefect: (message: string) => void;
};

/** Undefined when no hook is configured, and for an agent that a hook has started. */
export function hooksExtension(options: HooksExtensionOptions): HooksExtension | undefined {
  const { section, cwd, home, environment, onDefect } = options;
  if (environment[IN_HOOK_VARIABLE]) return undefined;
  const hasHooks = Object.keys(section).length > 0 || places.some((place) => existsSync(join(cwd, place)));
  if (!hasHooks) return undefined;
  const autoAccept = options.autoAccept || acceptsHooks(environment);
  return new HooksExtension({ ...options, autoAccept, consents: new Consents(home, onDefect) });
}

/** True for an environment in which hooks of config.yaml run without a consent, as in the original Hermes Agent. */
function acceptsHooks(environment: Environment): boolean {
  return environment["HERMES_ACCEPT_HOOKS"] === "1";
}

const places = [...CLAUDE_FILES, COPILOT_FOLDER];

class HooksExtension {
  readonly name = "hooks";
  readonly #options: Omit<SessionHooksOptions, "show">;
  readonly #listeners = new Set<() => void>();
  readonly #begun = Promise.withResolvers<Session>();
  readonly #loading: Promise<SessionHooks>;
  #hooks: SessionHooks | undefined;

  constructor(options: Omit<SessionHooksOptions, "show">) {
    this.#options = options;
    this.#loading = this.#load();
    this.#loading.catch(() => undefined); // the first turn reports it
  }

  begin(session: Session): void {
    this.#begun.resolve(session);
  }

  hooks(): readonly Hook[] {
    return this.#hooks?.active ?? [];
  }

  /** Called before each turn, which waits without limit: no call runs before its guards are known. */
  async attach(): Promise<undefined> {
    await (await this.#loading).refresh();
  }

  commands() {
    const run = async (argument: string): Promise<string> => {
      const hooks = await this.#loading;
      await hooks.refresh();
      return hooks.command(argument);
    };
    return [{ name: "hooks", description: "List, allow and switch hooks", hint: "allow|disable|enable N", run }];
  }

  items(): readonly HermesExtensionItem[] {
    return this.#hooks?.items() ?? [];
  }

  async act(id: string, action: string): Promise<string> {
    return (await this.#loading).act(id, action);
  }

  onChange(listener: () => void): void {
    this.#listeners.add(listener);
  }

  async #load(): Promise<SessionHooks> {
    const { status } = await this.#begun.promise;
    const { SessionHooks: Loaded } = await import("./session-hooks.ts");
    const show = (message: string): void => status({ severity: "warning", message });
    const changed = (): void => {
      for (const listener of this.#listeners) listener();
    };
    const hooks = new Loaded({ ...this.#options, show }, changed);
    this.#hooks = hooks;
    await hooks.refresh();
    changed();
    return hooks;
  }
}
