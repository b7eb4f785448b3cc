/**
 * Events and requests of an agent to its caller. All callbacks are optional. Notifications are wrapped, so that a
 * callback that throws never ends a turn.
 */
import type { Answer, Question } from "../host/host.ts";
import type { AskPassword } from "../host/terminals/terminals.ts";
import type { Message, UserMessage } from "../messages/message.ts";
import type { RetryWait } from "../providers/call/model-route.ts";
import type { TokenTrace, Usage } from "../providers/wire/wire.ts";
import type { RecordedHook } from "../sessions/outcome-entries.ts";
import type { Todo } from "../tools/todo-list.ts";
import type { FileDiff, ToolActivity, ToolKind, ToolLocation, ToolResult } from "../tools/tool.ts";

type CallFacts = {
  readonly callId: string;
  readonly name: string;
  readonly title: string;
  readonly kind: ToolKind;
  readonly locations: readonly ToolLocation[];
  readonly input: unknown;
};

/**
 * Life of a tool call: `started` when its arguments are complete, `running` after the approval, and `finished` unless the
 * call was dropped or its turn ended before it ran.
 */
export type ToolProgressEvent =
  | (CallFacts & {
      readonly type: "started";
      /** Call that this call is a part of. `callId` begins with its id. */
      readonly parentCallId?: string;
      /** Task of the delegation `parentCallId` that the call belongs to. */
      readonly taskId?: string;
    })
  | { readonly type: "running"; readonly callId: string; readonly diffs: readonly FileDiff[] }
  /** A call that `toolGen` announced does not run, because its answer broke off. */
  | { readonly type: "dropped"; readonly callId: string }
  | { readonly type: "hook"; readonly callId: string; readonly run: RecordedHook }
  | { readonly type: "activity"; readonly callId: string; readonly activity: ToolActivity }
  | {
      readonly type: "finished";
      readonly callId: string;
      readonly name: string;
      readonly result: ToolResult;
      /** Elapsed time since the start of the run, in milliseconds. */
      readonly durationMs: number;
    };

export type ApprovalRequest = CallFacts & {
  /** The whole edit; empty for other calls. */
  readonly diffs: readonly FileDiff[];
  /** The whole command; undefined for other calls. */
  readonly command?: string;
  /** Reasons why the policy asks, one sentence each. */
  readonly reasons: readonly string[];
  /** Scope of a grant "for this session" or "always", in a phrase; undefined when no grant is offered. */
  readonly grant?: string;
  /** Goal of the task whose sub-agent asks, in one line. */
  readonly task?: string;
};

export type ApprovalAnswer =
  | { readonly kind: "once" }
  | { readonly kind: "session" }
  | { readonly kind: "always" }
  | { readonly kind: "rejected"; readonly reason?: string }
  /** No user can be asked, or the request was withdrawn. */
  | { readonly kind: "unavailable" };

export type StepEvent = {
  /** Counted from 1 within the turn. */
  readonly iteration: number;
  readonly maxIterations: number;
  readonly usage: Usage | undefined;
  /** Messages that the iteration added to the history. */
  readonly added: readonly Message[];
  readonly tokens?: TokenTrace;
};

export type StatusEvent = {
  readonly severity: "info" | "warning" | "error";
  readonly message: string;
  /** The wait before a retry. A later status with the same id replaces this one. */
  readonly wait?: RetryWait;
  /** Id of the call whose changes of the memory and of skills the message is about. The user can undo them. */
  readonly memoryCall?: string;
};

/** Usage of the model's context window. */
export type ContextPressureEvent = {
  /** Tokens of the next request, as far as they are known. */
  readonly used: number;
  /** Tokens of the model's context. */
  readonly window: number;
  /** `high`: older messages will soon be summarised. `full`: nothing more can be dropped, and long results are withheld. */
  readonly level: "low" | "high" | "full";
};

/** A summary replaced older messages. Tokens are those of the whole request, as far as they are known. */
export type CompressedEvent = {
  /** Messages that the model no longer gets. */
  readonly messages: number;
  readonly tokensBefore: number;
  readonly tokensAfter: number;
};

/**
 * State of an agent: `thinking` from a request to the end of its answer, `executing` while tool calls run, `waiting` while
 * the user is asked, and `idle` between turns.
 */
export type AgentState = "thinking" | "executing" | "waiting" | "idle";

export type AgentCallbacks = {
  state?(event: { readonly state: AgentState }): void;
  /** A tool call changed its state. */
  toolProgress?(event: ToolProgressEvent): void;
  /** The agent starts or stops waiting for the model. */
  thinking?(event: { readonly active: boolean }): void;
  /** Delta of the model's reasoning. */
  reasoning?(event: { readonly text: string; readonly messageId: string }): void;
  clarify?(question: Question, signal: AbortSignal): Promise<Answer>;
  approval?(request: ApprovalRequest, signal: AbortSignal): Promise<ApprovalAnswer>;
  /** A command waits for a password. */
  password?: AskPassword;
  /** An iteration ended. */
  step?(event: StepEvent): void;
  /** Delta of the answer's text. */
  streamDelta?(event: { readonly text: string; readonly messageId: string }): void;
  /** The stream began a tool call. */
  toolGen?(event: { readonly callId: string; readonly name: string; readonly kind: ToolKind }): void;
  /** The turn's user message was added to the history. `position` counts all messages of the session from 0. */
  prompted?(event: { readonly position: number }): void;
  /** A message that the user sent during the turn was added to the history. */
  steered?(event: { readonly message: UserMessage; readonly position: number }): void;
  compressed?(event: CompressedEvent): void;
  /** The usage of the window changed, after an answer or a compression. */
  contextPressure?(event: ContextPressureEvent): void;
  /** The session got a title or a new one. */
  title?(event: { readonly title: string }): void;
  /** The plan changed; `items` is the whole plan. */
  plan?(items: readonly Todo[]): void;
  status?(event: StatusEvent): void;
};
