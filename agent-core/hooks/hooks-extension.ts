/** Command hooks as an extension of a session. Their code is loaded when a hook is configured, or for `/hooks`. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { Consents } from "../approval/consents.ts";
import type { Environment } from "../config/home.ts";
import { messageOf } from "../platform/errors.ts";
import type { HermesExtensionItem } from "../protocol/extensions.ts";
import { CLAUDE_FILES, COPILOT_FOLDER, type Hook, IN_HOOK_VARIABLE, OTHER_FILES } from "./hook.ts";
import type { SessionHooks, SessionHooksOptions } from "./session-hooks.ts";

/** The part of a session that hooks need. */
type Session = { readonly status: (event: { readonly severity: "warning"; readonly message: string }) => void };

export type HooksExtensionOptions = Omit<SessionHooksOptions, "show" | "consents"> & {
  readonly environment: Environment;
  readonly onDefect: (message: string) => void;
};

/** Undefined for an agent that a hook has started. */
export function hooksExtension(options: HooksExtensionOptions): HooksExtension | undefined {
  return options.environment[IN_HOOK_VARIABLE] ? undefined : new HooksExtension(options);
}

/** True for an environment in which hooks of config.yaml run without a consent, as in the original Hermes Agent. */
export function acceptsHooks(environment: Environment): boolean {
  return environment["HERMES_ACCEPT_HOOKS"] === "1";
}

const places = [...CLAUDE_FILES, ...OTHER_FILES, COPILOT_FOLDER];

class HooksExtension {
  readonly name = "hooks";
  readonly #options: HooksExtensionOptions;
  readonly #listeners = new Set<() => void>();
  readonly #begun = Promise.withResolvers<Session>();
  /** Undefined until a hook is configured, or the user asks for the list. */
  #loading: Promise<SessionHooks> | undefined;
  #hooks: SessionHooks | undefined;
  /** Reason why the hooks of the current turn are not known. */
  #failure: string | undefined;

  constructor(options: HooksExtensionOptions) {
    this.#options = options;
    if (this.#isConfigured()) this.#loaded().catch(() => undefined); // the first turn reports it
  }

  begin(session: Session): void {
    this.#begun.resolve(session);
  }

  hooks(): readonly Hook[] {
    if (this.#failure !== undefined) return [blockingHook(this.#failure)];
    return this.#hooks?.active ?? [];
  }

  /** Each turn waits for it without a timeout: no call runs before its hooks are known, or without them. */
  async attach(): Promise<undefined> {
    if (this.#loading === undefined && !this.#isConfigured()) return;
    try {
      await (await this.#loaded()).refresh();
      this.#failure = undefined;
    } catch (error) {
      this.#failure = messageOf(error);
      this.#loading = undefined; // the next turn tries again
      throw error;
    }
  }

  commands() {
    const run = async (argument: string): Promise<string> => {
      const hooks = await this.#loaded();
      await hooks.refresh();
      return hooks.command(argument);
    };
    return [{ name: "hooks", description: "List, allow and switch hooks", hint: "allow|disable|enable N", run }];
  }

  items(): readonly HermesExtensionItem[] {
    return this.#hooks?.items() ?? [];
  }

  async act(id: string, action: string): Promise<string> {
    return (await this.#loaded()).act(id, action);
  }

  onChange(listener: () => void): void {
    this.#listeners.add(listener);
  }

  #isConfigured(): boolean {
    const { section, cwd } = this.#options;
    return Object.keys(section).length > 0 || places.some((place) => existsSync(join(cwd, place)));
  }

  #loaded(): Promise<SessionHooks> {
    this.#loading ??= this.#load();
    return this.#loading;
  }

  async #load(): Promise<SessionHooks> {
    const { status } = await this.#begun.promise;
    const { SessionHooks: Loaded } = await import("./session-hooks.ts");
    const show = (message: string): void => status({ severity: "warning", message });
    const changed = (): void => {
      for (const listener of this.#listeners) listener();
    };
    const { home, environment, onDefect } = this.#options;
    const autoAccept = this.#options.autoAccept || acceptsHooks(environment);
    const consents = new Consents(home, onDefect);
    const hooks = new Loaded({ ...this.#options, autoAccept, consents, show }, changed);
    await hooks.refresh();
    this.#hooks = hooks;
    changed();
    return hooks;
  }
}

/** Blocks every call while the hooks cannot be read, since one of them may guard it. */
function blockingHook(failure: string): Hook {
  const reason = `The hooks could not be read (${failure}), so no tool runs. Correct this, or remove the hooks.`;
  const run: Hook["run"] = async () => ({ decision: "block", reason });
  return { event: "pre_tool_call", label: "hooks", origin: "home", failClosed: true, timeoutMs: 1_000, run };
}
