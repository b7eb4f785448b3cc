/** Messages between the agent and the process of a plugin. */
import type { HookEvent } from "../hooks/hook.ts";

/** Number of a function in the plugin's process. */
type Handler = number;

/** Registrations of a plugin, as `register(ctx)` made them. */
export type Registration =
  | {
      readonly kind: "tool";
      readonly handler: Handler;
      readonly name: string;
      readonly description: string;
      /** JSON schema of the arguments. */
      readonly parameters: Readonly<Record<string, unknown>>;
      readonly readOnly: boolean;
      /** Seconds; default: that of all tools. */
      readonly timeout?: number;
    }
  | {
      readonly kind: "command";
      readonly handler: Handler;
      readonly name: string;
      readonly description: string;
      readonly hint?: string;
    }
  | {
      readonly kind: "hook";
      readonly handler: Handler;
      readonly event: HookEvent;
      /** Regular expression for the whole name of a tool. */
      readonly matcher?: string;
      readonly failClosed: boolean;
    }
  | {
      readonly kind: "engine";
      readonly handler: Handler;
      readonly name: string;
      /** Undefined: the built-in engine's decision. */
      readonly shouldCompress?: Handler;
    }
  | { readonly kind: "skills"; readonly path: string };

export type CallFacts = { readonly cwd: string; readonly sessionId: string };

export type ToPlugin =
  /** The first message. `entry`: path of index.js; `config`: the plugin's part of config.yaml. */
  | { readonly type: "start"; readonly entry: string; readonly config: unknown }
  | {
      readonly type: "call";
      readonly id: number;
      readonly handler: Handler;
      readonly input: unknown;
      readonly facts: CallFacts;
    }
  | { readonly type: "cancel"; readonly id: number };

export type FromPlugin =
  | { readonly type: "registered"; readonly registrations: readonly Registration[] }
  /** `json`: the value that the handler returned, of limited length. */
  | { readonly type: "result"; readonly id: number; readonly json: string }
  | { readonly type: "failure"; readonly id: number; readonly message: string }
  /** Acknowledges a cancel: the plugin's thread is not stuck in a loop. */
  | { readonly type: "cancelled"; readonly id: number }
  | { readonly type: "show"; readonly id: number; readonly text: string }
  | { readonly type: "log"; readonly line: string }
  /** The last message. `reason` continues the sentence "The plugin is off: …". */
  | { readonly type: "stopped"; readonly reason: string };
