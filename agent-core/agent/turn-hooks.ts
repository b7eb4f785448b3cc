/** The hooks of a session and of its turns: before the first request of a turn, before its end, and after it. */
import { Hooks } from "../hooks/hook.ts";
import type { Message } from "../messages/message.ts";
import type { AgentParts } from "./agent-setup.ts";

/** Times that hooks may continue one turn, as in the original Hermes Agent. */
const MAX_CONTINUATIONS = 3;

/** The hooks of a session. Each run is journalled and shown on the card of its call; each kind of failure is shown once. */
export function sessionHooks(
  { sessionId, setup, session, notify }: Pick<AgentParts, "sessionId" | "setup" | "session" | "notify">,
  taskId: () => string,
): Hooks {
  const { hooks, home, cwd, clock } = setup;
  const shown = new Set<string>();
  return new Hooks({
    hooks,
    home,
    cwd,
    sessionId,
    taskId,
    monotonicNow: () => clock.monotonicNow(),
    report: (run) => {
      session.journal({ type: "hook", ...run });
      const { name, callId, outcome } = run;
      if (callId !== undefined) notify.toolProgress({ type: "hook", callId, run });
      const message = `The hook "${name}" failed: ${run.message ?? ""}`;
      if (outcome !== "failed" || shown.has(message)) return;
      shown.add(message);
      notify.status({ severity: "warning", message });
    },
  });
}

export type TurnHooksOptions = {
  readonly hooks: Hooks;
  readonly model: string;
  /** Name of the user's editor or program. */
  readonly platform: string | undefined;
  /** First turn since the session was opened. */
  readonly isFirst: boolean;
  readonly changedPaths: ReadonlySet<string>;
  /** Lines for the model, added to the user's message. */
  readonly notes: readonly string[];
};

export class TurnHooks {
  readonly #options: TurnHooksOptions;
  #context: readonly string[] = [];
  #prompt: Message | undefined;
  #attempt = 0;

  constructor(options: TurnHooksOptions) {
    this.#options = options;
  }

  /** Called before the first request. Returns the reason why a hook ends the turn; undefined when none does. */
  async begin(history: readonly Message[], signal: AbortSignal): Promise<string | undefined> {
    const { hooks, isFirst, notes } = this.#options;
    this.#prompt = history.findLast((message) => message.role === "user" && message.synthetic !== true);
    const isNew = !history.some((message) => message.role === "assistant");
    const context: string[] = [...notes];
    if (isFirst && hooks.has("on_session_start")) {
      const extra = { ...this.#facts, source: isNew ? "startup" : "resume" };
      context.push(...(await hooks.run("on_session_start", { extra }, signal)).context);
    }
    if (hooks.has("pre_llm_call")) {
      const extra = { ...this.#promptFacts, conversation_history: history, is_first_turn: isNew };
      const merged = await hooks.run("pre_llm_call", { extra }, signal);
      if (merged.decision === "block") return merged.reasons.join(" ");
      context.push(...merged.context);
    }
    this.#context = context;
    return undefined;
  }

  /** The messages of a request, with the notes and the hooks' text in the user's message. The text is never stored. */
  withContext(messages: readonly Message[]): readonly Message[] {
    if (this.#context.length === 0) return messages;
    return messages.map((message) =>
      message === this.#prompt ? (withNote([message], this.#context)[0] ?? message) : message,
    );
  }

  /** Called before a turn ends with this text. Returns the reason why a hook continues the turn; undefined when none does. */
  async continueFor(text: string, signal: AbortSignal): Promise<string | undefined> {
    const { hooks, changedPaths } = this.#options;
    if (this.#attempt >= MAX_CONTINUATIONS) return undefined;
    const facts = { ...this.#facts, attempt: this.#attempt, final_response: text };
    const reasons: string[] = [];
    if (hooks.has("on_stop")) reasons.push(...blocking(await hooks.run("on_stop", { extra: facts }, signal)));
    if (hooks.has("pre_verify") && changedPaths.size > 0) {
      const extra = { ...facts, coding: true, changed_paths: [...changedPaths] };
      reasons.push(...blocking(await hooks.run("pre_verify", { extra }, signal)));
    }
    if (reasons.length === 0) return undefined;
    this.#attempt += 1;
    return reasons.join("\n");
  }

  /** Called when the turn has ended. */
  end({ stopReason, text }: { readonly stopReason: string; readonly text: string }, history: readonly Message[]): void {
    const { hooks } = this.#options;
    const completed = stopReason === "end_turn";
    if (completed) {
      const extra = { ...this.#promptFacts, assistant_response: text, conversation_history: history };
      hooks.observe("post_llm_call", { extra });
    }
    const interrupted = stopReason === "cancelled";
    const failed = !completed && !interrupted;
    const extra = { ...this.#facts, completed, failed, interrupted, turn_exit_reason: stopReason };
    hooks.observe("on_session_end", { extra });
  }

  get #facts() {
    const { model, platform } = this.#options;
    return { model, platform: platform ?? "" };
  }

  get #promptFacts() {
    const prompt = this.#prompt;
    return { ...this.#facts, user_message: prompt?.role === "user" ? prompt.content : "" };
  }
}

function blocking({ decision, reasons }: Awaited<ReturnType<Hooks["run"]>>): readonly string[] {
  return decision === "block" ? reasons : [];
}

/** Appends a note to the last message if it is a tool result or the user's. The note is never stored. */
export function withNote(messages: readonly Message[], lines: readonly string[]): readonly Message[] {
  const last = messages.at(-1);
  if (lines.length === 0 || last === undefined) return messages;
  const earlier = messages.slice(0, -1);
  const note = lines.join("\n");
  if (last.role === "tool") return [...earlier, { ...last, content: `${last.content}\n\n${note}` }];
  if (last.role !== "user") return messages;
  const content =
    typeof last.content === "string"
      ? `${last.content}\n\n${note}`
      : [...last.content, { type: "text" as const, text: note }];
  return [...earlier, { ...last, content }];
}
