/** Follows the turns of every session: lines in the log, and a notice at the end of a turn that the user does not see. */
import type { SessionUpdate, ToolCallUpdate } from "@zed-industries/agent-client-protocol";
import * as vscode from "vscode";
import type { ChatSession } from "./chat-session.ts";
import type { SessionEvent } from "./session-state.ts";

/** Shortest turn with a notice of its end: the user still waits for a shorter one. Milliseconds. */
const LONG_TURN_MS = 5_000;
/** Length of the end of a session's id that identifies it in the log. Characters. */
const ID_CHARS = 8;

export type TurnWatchPorts = {
  readonly log: Record<"info" | "warn" | "error", (line: string) => void>;
  /** Milliseconds of a monotonic clock. */
  readonly now: () => number;
  /** The setting `hermes.notify`. */
  readonly notify: () => string;
  /** True while the user sees the session. */
  readonly isInSight: (sessionId: string) => boolean;
  /** Shows a notice that leads to the session. */
  readonly show: (sessionId: string, text: string) => void;
};

type Turn = {
  readonly startedAt: number;
  /** Start of the running request to the model. */
  requestedAt: number;
  calls: number;
  /** Running tool calls, by id. */
  readonly openCalls: Map<string, { readonly tool: string; readonly startedAt: number }>;
};

type WatchedSession = Pick<ChatSession, "sessionId" | "targetId" | "title" | "isRunning" | "option">;

/** The lines contain neither prompts nor arguments of tools. */
export class TurnWatch {
  readonly #ports: TurnWatchPorts;
  readonly #turns = new WeakMap<WatchedSession, Turn>();

  constructor(ports: TurnWatchPorts) {
    this.#ports = ports;
  }

  /** Takes each event of a session, after the session has handled it. */
  observe(session: WatchedSession, event: SessionEvent): void {
    switch (event.type) {
      case "opened":
        this.#log(
          "info",
          session,
          `opened${model(session)}, mode ${session.option("mode")?.currentValue ?? "unknown"}`,
        );
        break;
      case "open-failed":
        this.#log("error", session, `could not be opened: ${event.message}`);
        break;
      case "update":
        this.#observeUpdate(session, event.update);
        break;
      case "turn-ended":
        this.#end(session, event.stopReason, undefined);
        break;
      case "turn-failed":
        this.#end(session, event.fault ?? "error", event.message);
        break;
      default:
    }
    if (session.isRunning && !this.#turns.has(session)) this.#begin(session);
  }

  #begin(session: WatchedSession): void {
    const now = this.#ports.now();
    this.#turns.set(session, { startedAt: now, requestedAt: now, calls: 0, openCalls: new Map() });
    this.#log("info", session, `turn started${model(session)}`);
  }

  #end(session: WatchedSession, reason: string, error: string | undefined): void {
    const turn = this.#turns.get(session);
    this.#turns.delete(session);
    const ms = turn === undefined ? 0 : this.#ports.now() - turn.startedAt;
    const calls = turn?.calls === 1 ? "1 tool call" : `${turn?.calls ?? 0} tool calls`;
    if (error === undefined) this.#log("info", session, `turn ended (${reason}) after ${seconds(ms)}, ${calls}`);
    else this.#log("error", session, `turn failed (${reason}) after ${seconds(ms)}, ${calls}: ${error}`);
    if (ms >= LONG_TURN_MS && reason !== "cancelled" && !session.isRunning) this.#notify(session, error);
  }

  #notify(session: WatchedSession, error: string | undefined): void {
    const { sessionId, title } = session;
    const setting = this.#ports.notify();
    if (sessionId === undefined || setting === "never") return;
    if (setting === "hidden" && this.#ports.isInSight(sessionId)) return;
    const subject = title === undefined ? "Hermes" : `Hermes: “${title}”`;
    const text =
      error === undefined
        ? vscode.l10n.t("{0} has finished.", subject)
        : vscode.l10n.t("{0} has stopped. {1}", subject, error);
    this.#ports.show(sessionId, text);
  }

  #observeUpdate(session: WatchedSession, update: SessionUpdate): void {
    const turn = this.#turns.get(session);
    // A replay of earlier messages is not logged.
    if (turn === undefined) return;
    switch (update.sessionUpdate) {
      case "tool_call":
        turn.openCalls.set(update.toolCallId, { tool: update.kind ?? "tool", startedAt: this.#ports.now() });
        turn.calls += 1;
        break;
      case "tool_call_update":
        this.#callChanged(session, turn, update);
        break;
      case "usage_update": {
        const ms = this.#ports.now() - turn.requestedAt;
        const tokens = `${update.used.toLocaleString("en")} of ${update.size.toLocaleString("en")} tokens`;
        this.#log("info", session, `request${model(session)}: context ${tokens}, ${seconds(ms)}`);
        turn.requestedAt = this.#ports.now();
        break;
      }
      case "notice":
        if (update.severity === "error") this.#log("error", session, update.title);
        else if (update.severity === "warning") this.#log("warn", session, update.title);
        break;
      default:
    }
  }

  #callChanged(session: WatchedSession, turn: Turn, update: ToolCallUpdate): void {
    const call = turn.openCalls.get(update.toolCallId);
    if (call === undefined || (update.status !== "completed" && update.status !== "failed")) return;
    turn.openCalls.delete(update.toolCallId);
    const now = this.#ports.now();
    turn.requestedAt = now;
    const level = update.status === "failed" ? "warn" : "info";
    this.#log(level, session, `tool call (${call.tool}) ${update.status} after ${seconds(now - call.startedAt)}`);
  }

  #log(level: "info" | "warn" | "error", { targetId = "new" }: WatchedSession, text: string): void {
    this.#ports.log[level](`session …${targetId.slice(-ID_CHARS)}: ${text}`);
  }
}

function model(session: WatchedSession): string {
  const name = session.option("model")?.currentValue;
  return name === undefined ? "" : `, model ${name}`;
}

function seconds(ms: number): string {
  return `${(ms / 1_000).toFixed(1)} s`;
}
