/**
 * Extensions: abilities beyond the built-in ones, such as MCP servers, plugins, skills and hooks. A session has its own objects,
 * at most one of each kind. A kind without configuration only offers its slash command; the rest of its code is not loaded.
 */
import type { ContextEngine } from "../context/context-engine.ts";
import type { Hook } from "../hooks/hook.ts";
import type { UserMessage } from "../messages/message.ts";
import { abortable } from "../platform/deadline.ts";
import { messageOf } from "../platform/errors.ts";
import type { HermesExtensionAct, HermesExtensionAction, HermesExtensionItem } from "../protocol/extensions.ts";
import type { Tool, ToolContext } from "../tools/tool.ts";
import type { Asker } from "./approvals.ts";
import type { Auxiliary } from "./auxiliary-models.ts";
import type { StatusEvent } from "./callbacks.ts";

/** Text for the user in Markdown, a prompt for the model, or the reason why the command failed. */
export type CommandAnswer = string | { readonly ask: UserMessage["content"] } | { readonly failed: string };

export type ExtensionCommand = {
  /** Without the slash: `[a-z][a-z0-9_:.-]*`. A built-in command with the same name comes first. */
  readonly name: string;
  readonly description: string;
  /** Syntax of the argument; undefined when the command takes none. */
  readonly hint?: string;
  /** Undefined: the message is an ordinary prompt. Throws a UsageError for a wrong argument. */
  run(argument: string, signal: AbortSignal): CommandAnswer | undefined | Promise<CommandAnswer | undefined>;
};

export type ExtensionSession = {
  readonly sessionId: string;
  /** Working folder, absolute. */
  readonly cwd: string;
  /** Shows one line to the user. */
  readonly status: (event: StatusEvent) => void;
  readonly ask: ToolContext["ask"];
  /** Undefined when no user can be asked for permission. */
  readonly approve: Asker | undefined;
  readonly auxiliary: Auxiliary;
  /** True when the model gets this text already, in the system prompt or in a message. */
  readonly isKnown: (text: string) => boolean;
};

export type Extension = {
  /** `mcp`, `plugins`, `skills` or `hooks`. */
  readonly name: string;
  /** Settles when the tools are known. The first turn waits for it, at most `READY_MS`. */
  readonly ready?: Promise<unknown>;
  /** Called once, when the session's agent exists. */
  begin?(session: ExtensionSession): void;
  /** Loads the code that a first prompt needs, while the user types. Never throws. */
  warmUp?(): void;
  /** The user trusts the workspace from now on. */
  trust?(): void;
  /** The same array as long as nothing changed. Read at the start of a turn. */
  tools?(): readonly Tool[];
  commands?(): readonly ExtensionCommand[];
  /** The same array as long as nothing changed. Read at each event. */
  hooks?(): readonly Hook[];
  /** Engine in place of the built-in one, which is its fallback. Undefined: none. */
  contextEngine?(builtIn: ContextEngine): ContextEngine | undefined;
  /** Folders of the extension's skills, absolute. */
  skillFolders?(): readonly string[];
  /** Part of the system prompt of a new session. */
  promptText?(): Promise<string | undefined>;
  /** True when the prompt of sub-agents has the same part. */
  readonly inheritsPrompt?: boolean;
  /** Data for the model about a message of the user. The data follows the message, and the user does not see it. */
  attach?(message: string): Promise<string | undefined>;
  /** The extension's parts, for the list that the user sees. */
  items?(): readonly HermesExtensionItem[];
  /** Runs one of an item's `actions`. Resolves to one line for the user; rejects with an Error in one line. */
  act?(id: string, action: HermesExtensionAction, argument?: string): Promise<string>;
  /** Calls `listener` after each change of the tools, commands or items. */
  onChange?(listener: () => void): void;
  dispose?(): Promise<void>;
};

/** Order of the kinds in lists. */
const KINDS: readonly HermesExtensionItem["kind"][] = ["mcp", "plugin", "hook", "skill", "agent"];

/** True when the item offers the action. A single tool of a server can be enabled and disabled, too. */
function isOffered(item: HermesExtensionItem, action: HermesExtensionAction, argument: string | undefined): boolean {
  if (argument === undefined || action === "sign-in") return item.actions.includes(action);
  return (action === "enable" || action === "disable") && item.tools?.some(({ name }) => name === argument) === true;
}

/** Longest wait of a first turn for extensions. Most servers start within a second, and later turns have the others. */
const READY_MS = 1_500;

/** All extensions of one session. A defect of one extension does not affect the others. */
export class Extensions {
  readonly #all: readonly Extension[];
  readonly #onDefect: (message: string) => void;
  readonly #readyMs: number;
  #isReady: boolean;

  /** `readyMs`: longest wait of the first turn for them. Milliseconds; default: 1,500. */
  constructor(all: readonly Extension[], onDefect: (message: string) => void, readyMs = READY_MS) {
    this.#all = all;
    this.#onDefect = onDefect;
    this.#readyMs = readyMs;
    this.#isReady = all.every(({ ready }) => ready === undefined);
  }

  begin(session: ExtensionSession): void {
    for (const extension of this.#all) extension.begin?.(session);
  }

  /** Waits once, for at most `readyMs` or until the signal is aborted. Never rejects. */
  async ready(signal: AbortSignal): Promise<void> {
    if (this.#isReady) return;
    this.#isReady = true;
    const over = AbortSignal.any([signal, AbortSignal.timeout(this.#readyMs)]);
    const all = Promise.allSettled(this.#all.map(({ ready }) => ready));
    await abortable(all, over).catch(() => undefined); // the turn has what is ready
  }

  warmUp(): void {
    for (const extension of this.#all) extension.warmUp?.();
  }

  trust(): void {
    for (const extension of this.#all) extension.trust?.();
  }

  tools(): readonly Tool[] {
    return this.#all.flatMap((extension) => extension.tools?.() ?? []);
  }

  commands(): readonly ExtensionCommand[] {
    return this.#all.flatMap((extension) => extension.commands?.() ?? []);
  }

  /** The engine of the first extension that has one, else the built-in one. */
  contextEngine(builtIn: ContextEngine): ContextEngine {
    for (const extension of this.#all) {
      const engine = extension.contextEngine?.(builtIn);
      if (engine !== undefined) return engine;
    }
    return builtIn;
  }

  /** Parts of all extensions, by kind. */
  items(): readonly HermesExtensionItem[] {
    const items = this.#all.flatMap((extension) => extension.items?.() ?? []);
    return items.toSorted((one, other) => KINDS.indexOf(one.kind) - KINDS.indexOf(other.kind));
  }

  /** Undefined when there is no such item, or when the item does not offer the action. Rejects as `Extension.act`. */
  act({ id, action, argument }: Omit<HermesExtensionAct, "sessionId">): Promise<string> | undefined {
    const offers = (extension: Extension): boolean =>
      extension.items?.().some((item) => item.id === id && isOffered(item, action, argument)) === true;
    return this.#all.find(offers)?.act?.(id, action, argument);
  }

  hooks(): readonly Hook[] {
    return this.#all.flatMap((extension) => extension.hooks?.() ?? []);
  }

  /** Parts of the system prompt, in the order of the extensions. */
  promptTexts(): Promise<readonly string[]> {
    return this.#texts((extension) => extension.promptText?.());
  }

  /** Parts of the system prompt that sub-agents share. */
  async inheritedText(): Promise<string | undefined> {
    const texts = await this.#texts((extension) => {
      return extension.inheritsPrompt === true ? extension.promptText?.() : undefined;
    });
    return texts.length === 0 ? undefined : texts.join("\n\n");
  }

  /** Data about a message of the user. */
  attachments(message: string): Promise<readonly string[]> {
    return this.#texts((extension) => extension.attach?.(message));
  }

  onChange(listener: () => void): void {
    for (const extension of this.#all) extension.onChange?.(listener);
  }

  async dispose(): Promise<void> {
    await Promise.all(this.#all.map((extension) => this.#guarded(extension, () => extension.dispose?.())));
  }

  async #texts(textOf: (extension: Extension) => Promise<string | undefined> | undefined): Promise<readonly string[]> {
    const texts = await Promise.all(this.#all.map((extension) => this.#guarded(extension, () => textOf(extension))));
    return texts.filter((text) => text !== undefined);
  }

  async #guarded<Value>({ name }: Extension, work: () => Promise<Value> | undefined): Promise<Value | undefined> {
    try {
      return await work();
    } catch (error) {
      this.#onDefect(`The extension ${name} failed: ${messageOf(error)}`);
      return undefined;
    }
  }
}
