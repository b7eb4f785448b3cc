/** Life of one session as a pure reducer: each event gives the next state and the effects to run. */
import type { SessionUpdate, StopReason } from "@zed-industries/agent-client-protocol";
import * as vscode from "vscode";
import { attachmentOf } from "../../agent-core/protocol/attachments.ts";
import type { PanelEvent } from "../../agent-core/protocol/panel-events.ts";
import type { PanelMessage } from "../../agent-core/protocol/panel-messages.ts";
import { updateMeta } from "../../agent-core/protocol/update-meta.ts";
import * as queue from "./prompt-queue.ts";

/** A message that chooses a model, like the picker does. */
const CHOOSES_MODEL = /^\s*\/model\s+\S/;

export type SessionState = {
  readonly phase: "closed" | "opening" | "open";
  /** Number of the latest attempt to open the session; results of earlier attempts are ignored. */
  readonly attempt: number;
  readonly turn: Turn;
  readonly queue: queue.PromptQueue;
  /** The last turn ended by itself or was stopped for the next message: the queue continues. */
  readonly canContinue: boolean;
  /** The last message chose a model. */
  readonly choosesModel: boolean;
  /** The panel shows another session. This one closes when its turn and its queue have ended. */
  readonly isInBackground: boolean;
  /** Use of a message that comes while a turn runs. */
  readonly busyInputMode: BusyInputMode;
};

export type BusyInputMode = "queue" | "steer" | "interrupt";

/** `isShown`: the panel has the message already. */
type Starting = Readonly<{ kind: "starting"; id: string; isShown?: boolean; isStopped?: true }> & queue.PromptContent;

export type Turn =
  | { readonly kind: "idle" }
  /** The message waits for the session to open. */
  | Starting
  /** The agent removes messages before the turn starts. */
  | { readonly kind: "rewinding" }
  /** `sendsNext`: the turn was stopped to send the next message of the queue. */
  | { readonly kind: "running"; readonly sendsNext: boolean };

/** `fault`, `keyFor`: as in `HermesFaultData`. */
export type Failure = {
  readonly message: string;
  readonly fault?: string | undefined;
  readonly keyFor?: string | undefined;
};

export type SessionEvent =
  /** The user stops the turn, or changes the queue. */
  | Extract<PanelMessage, { type: "cancel" | `queue-${string}` }>
  | { readonly type: "open" }
  | {
      readonly type: "opened";
      readonly attempt: number;
      readonly loadError?: string | undefined;
      readonly busyInputMode?: BusyInputMode | undefined;
    }
  | ({ readonly type: "open-failed"; readonly attempt: number } & Failure)
  /** `now`: into the running turn. `id` is new. */
  | ({ readonly type: "prompt"; readonly id: string; readonly now?: boolean } & queue.PromptContent)
  | { readonly type: "turn-ended"; readonly stopReason: StopReason }
  | ({ readonly type: "turn-failed" } & Failure)
  /** `now`: the start of the turn takes long. Otherwise the log starts again. */
  | { readonly type: "show-start"; readonly now: boolean }
  | ({ readonly type: "resend" } & Resend)
  | ({ readonly type: "rewound"; readonly id: string } & Resend)
  | ({ readonly type: "rewind-failed"; readonly message: string } & Resend)
  | { readonly type: "queue-release" }
  | { readonly type: "steer-failed"; readonly id: string; readonly message: string }
  | { readonly type: "update"; readonly update: SessionUpdate }
  | { readonly type: "agent-restarted" }
  /** The agent has ended. A running turn fails by its own request. */
  | { readonly type: "agent-ended" }
  /** The panel shows another session. A running turn and its queue continue. */
  | { readonly type: "leave" }
  /** The panel shows the session again. */
  | { readonly type: "return" };

type Restored = Extract<PanelEvent, { kind: "restored" }>;

/** A message that replaces the one at `position` and all after it. `restored`: the files were restored for it. */
type Resend = queue.PromptContent & { readonly position: number; readonly restored?: Restored };

export type SessionEffect =
  | { readonly type: "open"; readonly attempt: number }
  | { readonly type: "emit"; readonly event: PanelEvent }
  | ({ readonly type: "send-prompt" } & queue.PromptContent)
  | ({ readonly type: "steer"; readonly id: string } & queue.PromptContent)
  | ({ readonly type: "rewind" } & Resend)
  | { readonly type: "cancel" }
  /** Puts a message that was not sent, or was removed, into the composer, before the draft. */
  | ({ readonly type: "compose" } & queue.PromptContent)
  | { readonly type: "remember-model" }
  | { readonly type: "close" };

export const closedSession: SessionState = {
  phase: "closed",
  attempt: 0,
  turn: { kind: "idle" },
  queue: [],
  canContinue: false,
  choosesModel: false,
  busyInputMode: "queue",
  isInBackground: false,
};

type Step = readonly [state: SessionState, effects: readonly SessionEffect[]];

/** The state after `event` and the effects to run, in order. A changed queue is emitted to the panel first. */
export function reduceSession(state: SessionState, event: SessionEvent): Step {
  // The type checks the table entry by entry; TypeScript cannot relate the type of the event to its handler here.
  const handle = handlers[event.type] as (state: SessionState, event: SessionEvent) => Step;
  const [next, effects] = handle(state, event);
  if (next.queue === state.queue) return [next, effects];
  return [next, [{ type: "emit", event: { kind: "queue", prompts: next.queue } }, ...effects]];
}

type EventOf<Type extends SessionEvent["type"]> = Extract<SessionEvent, { type: Type }>;
type Handlers = { readonly [T in SessionEvent["type"]]: (state: SessionState, event: EventOf<T>) => Step };

const handlers: Handlers = {
  open: (state) => (state.phase === "closed" ? open(state) : [state, []]),
  opened: (state, event) => (event.attempt === state.attempt ? opened(state, event) : [state, []]),
  "open-failed": (state, event) => (event.attempt === state.attempt ? openFailed(state, event) : [state, []]),
  "agent-restarted": (state) => {
    if (state.isInBackground && isIdle(state)) return [{ ...state, phase: "closed" }, [{ type: "close" }]];
    // The session continues from its journal.
    return open({ ...state, queue: queue.unsteer(state.queue) });
  },
  "agent-ended": (state) => [state.phase === "open" ? { ...state, phase: "closed" } : state, []],
  "show-start": (state, { now }) => showStart(state, now),
  prompt,
  "turn-ended": (state, { stopReason }) => {
    const end: SessionEffect = { type: "emit", event: { kind: "turn-end", stopReason } };
    return endTurn(state, stopReason !== "cancelled", end);
  },
  "turn-failed": (state, failure) => endTurn(state, false, turnError(failure)),
  cancel,
  resend,
  rewound: (state, event) => {
    const { id, position, restored } = event;
    const [next, effects] = start({ ...state, turn: { kind: "idle" } }, id, event);
    return [next, [{ type: "emit", event: { kind: "rewind", position } }, ...shown(restored), ...effects]];
  },
  "rewind-failed": (state, event) => {
    const failed = error(vscode.l10n.t("The message cannot be sent again. {0}", event.message));
    return [{ ...state, turn: { kind: "idle" } }, [...shown(event.restored), failed, compose(event)]];
  },
  "queue-hold": (state, { id }) => [{ ...state, queue: queue.hold(state.queue, id) }, []],
  "queue-release": (state) => [{ ...state, queue: queue.releaseAll(state.queue) }, []],
  "queue-move": (state, { id, to }) => [{ ...state, queue: queue.move(state.queue, id, to) }, []],
  "queue-remove": (state, { id }) => continueQueue({ ...state, queue: queue.remove(state.queue, id) }),
  "queue-edit": (state, event) => continueQueue({ ...state, queue: queue.edit(state.queue, event.id, event) }),
  "queue-send": (state, { id }) => sendQueued(state, id),
  "queue-interrupt": (state, { id }) => interruptFor(state, id),
  "steer-failed": (state, { id, message }) => {
    const back: SessionState = { ...state, queue: queue.unsteer(state.queue, id) };
    // The turn ended before it took the message.
    if (back.turn.kind === "idle" && back.canContinue) return sendNext(back);
    const text = vscode.l10n.t("The message could not be sent into the running turn and waits in the queue.");
    return [back, [notice("warning", `${text} ${message}`)]];
  },
  update: (state, { update }) => showUpdate(state, update),
  leave,
  return: (state) => [{ ...state, isInBackground: false }, []],
};

function opened(before: SessionState, { loadError, busyInputMode }: EventOf<"opened">): Step {
  const state: SessionState = { ...before, busyInputMode: busyInputMode ?? before.busyInputMode };
  const notices = loadError === undefined ? [] : [error(vscode.l10n.t("The session cannot be opened: {0}", loadError))];
  const { turn } = state;
  const next: SessionState = { ...state, phase: "open" };
  if (turn.kind !== "starting") {
    return [next, state.isInBackground && isIdle(next) ? [...notices, { type: "close" }] : notices];
  }
  const idle: SessionState = { ...next, turn: { kind: "idle" }, canContinue: false };
  if (turn.isStopped) return [idle, [...notices, promptEvent(turn.id, turn), STOPPED]];
  const [running, effects] = start(idle, turn.id, turn);
  return [running, [...notices, ...effects]];
}

function openFailed(state: SessionState, failure: Failure): Step {
  const { turn } = state;
  const closed: SessionState = { ...state, phase: "closed", turn: { kind: "idle" }, canContinue: false };
  if (state.isInBackground && isIdle(state)) return [closed, [{ type: "close" }]];
  if (turn.kind !== "starting") return [closed, [turnError(failure)]];
  const prompt = turn.isShown ? [] : [promptEvent(turn.id, turn)];
  return [closed, [...prompt, turn.isStopped ? STOPPED : turnError(failure)]];
}

function showStart({ turn, ...state }: SessionState, isShown: boolean): Step {
  if (turn.kind !== "starting" || turn.isShown === isShown) return [{ ...state, turn }, []];
  return [{ ...state, turn: { ...turn, isShown } }, isShown ? [promptEvent(turn.id, turn)] : []];
}

function open(state: SessionState): Step {
  const attempt = state.attempt + 1;
  return [{ ...state, phase: "opening", attempt }, [{ type: "open", attempt }]];
}

const STOPPED: SessionEffect = { type: "emit", event: { kind: "turn-end", stopReason: "cancelled" } };

/** Prompts in the queue stay there for the user to send or remove. */
function cancel(state: SessionState): Step {
  if (state.turn.kind === "running") return [state, [{ type: "cancel" }]];
  if (state.turn.kind !== "starting") return [state, []];
  return [{ ...state, turn: { ...state.turn, isStopped: true } }, [{ type: "cancel" }]];
}

/** Commands that act on the running turn; without one the agent answers them. */
const TURN_COMMAND = /^\s*\/(stop|steer|queue)(?:\s+(\S[\s\S]*))?$/;

function prompt(state: SessionState, event: EventOf<"prompt">): Step {
  const { id, now } = event;
  const content = queue.contentOf(event);
  if (state.turn.kind === "idle") return start(state, id, content);
  const [, command, message] = TURN_COMMAND.exec(content.text) ?? [];
  if (command === "stop") return cancel(state);
  const text = message ?? content.text;
  const queued: SessionState = { ...state, queue: queue.add(state.queue, id, { ...content, text }) };
  const isPlain = command === undefined;
  if (isPlain && now !== true && state.busyInputMode === "interrupt") return interruptFor(queued, id);
  const isSteered = (command === "steer" && message !== undefined) || (isPlain && state.busyInputMode === "steer");
  return now || isSteered ? sendQueued(queued, id) : [queued, []];
}

/** Starts a turn, as soon as the session is open. */
function start(state: SessionState, id: string, prompt: queue.PromptContent): Step {
  const content = queue.contentOf(prompt);
  const choosing: SessionState = { ...state, choosesModel: CHOOSES_MODEL.test(content.text) };
  if (state.phase === "open") {
    const running: SessionState = { ...choosing, turn: { kind: "running", sendsNext: false } };
    return [running, [promptEvent(id, content), { type: "send-prompt", ...content }]];
  }
  const starting: SessionState = { ...choosing, turn: { kind: "starting", id, ...content } };
  return state.phase === "closed" ? open(starting) : [starting, []];
}

function endTurn(state: SessionState, endedByItself: boolean, end: SessionEffect): Step {
  const sendsNext = state.turn.kind === "running" && state.turn.sendsNext;
  const idle: SessionState = { ...state, turn: { kind: "idle" }, canContinue: endedByItself || sendsNext };
  const [next, effects] = continueQueue(idle);
  return [next, [end, ...effects]];
}

/** Sends the next message of the queue when nothing prevents that. */
function continueQueue(state: SessionState): Step {
  if (state.turn.kind !== "idle" || !state.canContinue) return [state, []];
  return sendNext(state);
}

function sendNext(state: SessionState): Step {
  const next = queue.next(state.queue);
  if (next === undefined) return [state, []];
  return start({ ...state, queue: queue.remove(state.queue, next.id) }, next.id, next);
}

function resend(state: SessionState, event: EventOf<"resend">): Step {
  const { position, restored } = event;
  if (state.phase !== "open" || state.turn.kind !== "idle") {
    const text =
      state.phase === "open"
        ? vscode.l10n.t("Stop the running turn before you edit an earlier message.")
        : vscode.l10n.t("The session is not open.");
    return [state, [...shown(restored), notice("warning", text), compose(event)]];
  }
  const rewind: SessionEffect = { type: "rewind", position, ...queue.contentOf(event), ...(restored && { restored }) };
  return [{ ...state, turn: { kind: "rewinding" } }, [rewind]];
}

function shown(restored: Restored | undefined): readonly SessionEffect[] {
  return restored === undefined ? [] : [{ type: "emit", event: restored }];
}

/** Stops the running turn for a queued message. */
function interruptFor(state: SessionState, id: string): Step {
  const first: SessionState = { ...state, queue: queue.move(state.queue, id, 0) };
  if (state.turn.kind !== "running") return sendQueued(first, id);
  // The turn that a stop would end may be the one of this message.
  if (queue.waiting(state.queue, id) === undefined) return [state, []];
  return [{ ...first, turn: { kind: "running", sendsNext: true } }, [{ type: "cancel" }]];
}

/** Sends a queued message into the running turn; without a turn it starts one. */
function sendQueued(state: SessionState, id: string): Step {
  if (state.turn.kind === "running") {
    const prompt = queue.waiting(state.queue, id);
    if (prompt === undefined) return [state, []];
    return [{ ...state, queue: queue.steer(state.queue, id) }, [{ type: "steer", id, ...queue.contentOf(prompt) }]];
  }
  const first: SessionState = { ...state, queue: queue.move(state.queue, id, 0) };
  return state.turn.kind === "idle" ? sendNext(first) : [first, []];
}

function showUpdate(state: SessionState, update: SessionUpdate): Step {
  const took = state.turn.kind === "running" && update.sessionUpdate === "user_message_chunk";
  const next: SessionState = took ? { ...state, queue: queue.arrived(state.queue) } : state;
  const isChoice = update.sessionUpdate === "config_option_update" && state.choosesModel;
  const shown: SessionEffect = { type: "emit", event: { kind: "update", update } };
  return [next, [...(isChoice ? [REMEMBER_MODEL] : []), shown, ...offerRemoved(update)]];
}

const REMEMBER_MODEL: SessionEffect = { type: "remember-model" };

/** Puts the user's message that the agent removed first into the composer. */
function offerRemoved(update: SessionUpdate): readonly SessionEffect[] {
  const { prompt, attachments = [] } = updateMeta(update._meta).rewound ?? {};
  if (prompt == null && attachments.length === 0) return [];
  return [compose({ text: prompt ?? "", attachments: attachments.flatMap((block) => attachmentOf(block) ?? []) })];
}

function compose(content: queue.PromptContent): SessionEffect {
  return { type: "compose", ...queue.contentOf(content) };
}

function leave(state: SessionState): Step {
  const left: SessionState = { ...state, isInBackground: true };
  const canClose = state.phase !== "opening" && isIdle(state);
  return [left, canClose ? [{ type: "close" }] : []];
}

function isIdle({ turn, queue: prompts }: SessionState): boolean {
  return turn.kind === "idle" && prompts.length === 0;
}

function promptEvent(id: string, content: queue.PromptContent): SessionEffect {
  return { type: "emit", event: { kind: "prompt", id, ...queue.contentOf(content) } };
}

function turnError({ message, fault, keyFor }: Failure): SessionEffect {
  const known = { ...(fault !== undefined && { fault }), ...(keyFor !== undefined && { keyFor }) };
  return { type: "emit", event: { kind: "turn-end", error: message, ...known } };
}

function error(text: string): SessionEffect {
  return notice("error", text);
}

function notice(severity: "warning" | "error", text: string): SessionEffect {
  return { type: "emit", event: { kind: "notice", severity, text } };
}
