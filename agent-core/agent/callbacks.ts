/**
 * What an agent tells the world and asks of it: the one seam between the loop and whoever shows it.
 * All are optional. Those that return nothing are wrapped by their caller: a callback that throws never ends a turn.
 */
import type { Message, UserMessage } from "../messages/message.ts";
import type { Usage } from "../providers/wire/wire.ts";
import type { Todo } from "../tools/todo-list.ts";
import type { Answer, FileDiff, Question, ToolActivity, ToolKind, ToolLocation, ToolResult } from "../tools/tool.ts";

/** Life of one tool call. `started` comes before approval, `running` after it, `finished` always comes. */
export type ToolProgressEvent =
  | {
      readonly type: "started";
      readonly callId: string;
      readonly name: string;
      readonly title: string;
      readonly kind: ToolKind;
      readonly locations: readonly ToolLocation[];
      readonly input: unknown;
    }
  | { readonly type: "running"; readonly callId: string; readonly diffs: readonly FileDiff[] }
  /** Announced by `toolGen`, and never to be: its answer was broken off. */
  | { readonly type: "dropped"; readonly callId: string }
  | { readonly type: "activity"; readonly callId: string; readonly activity: ToolActivity }
  | {
      readonly type: "finished";
      readonly callId: string;
      readonly name: string;
      readonly result: ToolResult;
      /** Wall time from the start of the run, in milliseconds. */
      readonly durationMs: number;
    };

export type ApprovalRequest = {
  readonly callId: string;
  readonly name: string;
  readonly title: string;
  readonly kind: ToolKind;
  readonly locations: readonly ToolLocation[];
  readonly input: unknown;
  /** The edit in full, when it is one. */
  readonly diffs: readonly FileDiff[];
  /** The command in full, when it is one. */
  readonly command?: string;
  /** Why it asks, one sentence each. */
  readonly reasons: readonly string[];
  /** What "for this session" and "always" would cover, in plain words; undefined when that cannot be offered. */
  readonly grant?: string;
};

export type ApprovalAnswer =
  | { readonly kind: "once" }
  | { readonly kind: "session" }
  | { readonly kind: "always" }
  | { readonly kind: "rejected"; readonly reason?: string }
  /** Nobody can be asked, or the question went away. */
  | { readonly kind: "unavailable" };

export type StepEvent = {
  /** 1-based, within the turn. */
  readonly iteration: number;
  readonly maxIterations: number;
  readonly usage: Usage | undefined;
  /** What the iteration added to the history. */
  readonly added: readonly Message[];
};

export type StatusEvent = {
  readonly severity: "info" | "warning" | "error";
  readonly message: string;
  /** Nothing happens for so long, in milliseconds. */
  readonly waitMs?: number;
};

/** How full the model's window is. */
export type ContextPressureEvent = {
  /** Tokens that the next request will have, as far as that is known. */
  readonly used: number;
  /** Tokens that the model can see. */
  readonly window: number;
  /** `high`: older messages will soon give way to a summary; `full`: nothing more can, and long results are withheld. */
  readonly level: "low" | "high" | "full";
};

/** Older messages gave way to a summary. Tokens of the whole request, as far as they are known. */
export type CompressedEvent = {
  /** That the model no longer gets. */
  readonly messages: number;
  readonly tokensBefore: number;
  readonly tokensAfter: number;
};

export type AgentCallbacks = {
  /** Before, during and after each tool call. */
  toolProgress?(event: ToolProgressEvent): void;
  /** The model starts or stops being waited for. */
  thinking?(event: { readonly active: boolean }): void;
  /** A piece of the model's reasoning. */
  reasoning?(event: { readonly text: string; readonly messageId: string }): void;
  clarify?(question: Question, signal: AbortSignal): Promise<Answer>;
  approval?(request: ApprovalRequest, signal: AbortSignal): Promise<ApprovalAnswer>;
  /** After each iteration. */
  step?(event: StepEvent): void;
  /** A piece of the answer. */
  streamDelta?(event: { readonly text: string; readonly messageId: string }): void;
  /** A tool call begins to appear in the stream. */
  toolGen?(event: { readonly callId: string; readonly name: string }): void;
  /** The turn's user message has reached the conversation; `position` counts all that were said in the session, from 0. */
  prompted?(event: { readonly position: number }): void;
  /** What the user said during the turn has reached the conversation. */
  steered?(event: { readonly message: UserMessage; readonly position: number }): void;
  compressed?(event: CompressedEvent): void;
  /** After each answer and each compression. */
  contextPressure?(event: ContextPressureEvent): void;
  /** The session has a title, or another one. */
  title?(event: { readonly title: string }): void;
  /** The whole plan, after each change. */
  plan?(items: readonly Todo[]): void;
  status?(event: StatusEvent): void;
};
