/** Sends the agent's callbacks as `session/update`, with one `tool_call` for each call and an update for each change of it. */
import type { SessionUpdate, ToolCallStatus, ToolCallUpdate } from "@zed-industries/agent-client-protocol";
import type { AgentCallbacks, StatusEvent, ToolProgressEvent } from "../agent/callbacks.ts";
import { defined } from "../platform/defined.ts";
import { newId } from "../platform/new-id.ts";
import { visibleText } from "../platform/visible-text.ts";
import type { HermesHookRun } from "../protocol/conversation.ts";
import type { HermesUpdateMeta } from "../protocol/update-meta.ts";
import type { FileDiff, ToolResult } from "../tools/tool.ts";
import {
  diffContent,
  hookContent,
  infoUpdate,
  noticeUpdate,
  ours,
  planUpdate,
  rawOutput,
  resultContent,
  tasksContent,
  terminalContent,
  textContent,
  userUpdates,
} from "./conversation-updates.ts";

type UpdateSink = {
  send(update: SessionUpdate): void;
  /** Cost of the session so far, in US dollars; undefined when unknown. */
  costUsd(): number | undefined;
};

export type Updates = ReturnType<typeof updateCallbacks>;

export function updateCallbacks(sink: UpdateSink) {
  const calls = new ToolCallUpdates((update) => sink.send(update));
  let shown: HermesUpdateMeta["activity"];
  const show = (activity: HermesUpdateMeta["activity"]): void => {
    if (activity === shown) return;
    shown = activity;
    sink.send(infoUpdate({ activity }));
  };
  return {
    callbacks: {
      streamDelta: ({ text, messageId }) =>
        sink.send({ sessionUpdate: "agent_message_chunk", messageId, content: { type: "text", text } }),
      reasoning: ({ text, messageId }) =>
        sink.send({ sessionUpdate: "agent_thought_chunk", messageId, content: { type: "text", text } }),
      state: ({ state }) => (state === "waiting" || state === "idle") && show(state),
      toolGen: (event) => calls.announce(event),
      thinking: ({ active }) => active && show("thinking"),
      toolProgress: (event) => {
        if (event.type === "running" && calls.isOpen(event.callId)) show("tools");
        calls.progress(event);
      },
      prompted: ({ position }) => {
        calls.beginTurn();
        sink.send(infoUpdate({ position }));
      },
      steered: ({ message, position }) => {
        // The id distinguishes it from an echo of the prompt.
        const messageId = newId();
        for (const update of userUpdates(message, position)) sink.send({ ...update, messageId });
      },
      title: ({ title }) => sink.send({ sessionUpdate: "session_info_update", title }),
      plan: (items) => sink.send(planUpdate(items)),
      status: (event) => sink.send(statusUpdate(event)),
      contextPressure: ({ used, window: size, level }) => {
        const amount = sink.costUsd();
        const cost = amount === undefined ? undefined : { amount, currency: "USD" };
        const meta = ours({ contextPressure: level });
        sink.send({ sessionUpdate: "usage_update", used, size, ...(cost && { cost }), ...meta });
      },
    } satisfies AgentCallbacks,
    /** Closes the announced calls that never ran. */
    endTurn: () => {
      shown = undefined;
      calls.endTurn();
    },
  };
}

/** The waits of one call share an id, so that a client can update one line. */
function statusUpdate({ severity, message, wait, memoryCall }: StatusEvent): SessionUpdate {
  const memory = memoryCall === undefined ? undefined : { memoryCall };
  return noticeUpdate(severity, message, wait ? { retry: wait } : memory);
}

/** A call whose arguments take longer is shown without them first. Milliseconds. */
const ANNOUNCE_AFTER_MS = 150;
/** Minimum time between two updates with live output, for a client without terminals. */
const OUTPUT_INTERVAL_MS = 250;
/** Length of the shown end of live output. Characters. */
const OUTPUT_TAIL_CHARS = 4_000;
/** An edit is sent without longer arguments, because its diff shows them. Characters of JSON. */
const MAX_EDIT_INPUT_CHARS = 20_000;
/** Text of a call that never ran because its answer ended early. */
const DROPPED = "Not run: the answer was cut off.";

/** A call that has not ended. */
type OpenCall = {
  status: ToolCallStatus;
  /** The client knows the call. */
  isSent: boolean;
  /** Sends the call without its arguments. */
  announcing: NodeJS.Timeout | undefined;
  /** Diffs that the client has. */
  diffs: readonly FileDiff[];
  hooks: readonly HermesHookRun[];
  output: string;
  /** Sends the output. */
  outputting: NodeJS.Timeout | undefined;
};

type Progress<Type extends ToolProgressEvent["type"]> = Extract<ToolProgressEvent, { type: Type }>;

export class ToolCallUpdates {
  readonly #send: (update: SessionUpdate) => void;
  readonly #open = new Map<string, OpenCall>();
  /** Calls that the client saw end. */
  readonly #ended = new Set<string>();
  #isTurnRunning: boolean = true;

  constructor(send: (update: SessionUpdate) => void) {
    this.#send = send;
  }

  /** The stream began a call; its arguments follow. */
  announce({ callId, name, kind }: Parameters<NonNullable<AgentCallbacks["toolGen"]>>[0]): void {
    if (!this.#isTurnRunning) return;
    const call = this.#callOf(callId);
    call.announcing = setTimeout(() => {
      call.isSent = true;
      const title = titleOf(name);
      this.#send({ sessionUpdate: "tool_call", toolCallId: callId, name, title, kind, status: "pending" });
    }, ANNOUNCE_AFTER_MS);
  }

  progress(event: ToolProgressEvent): void {
    switch (event.type) {
      case "started":
        this.#start(event);
        break;
      case "running":
        this.#run(event);
        break;
      case "hook":
        this.#showHook(event);
        break;
      case "activity":
        this.#showActivity(event);
        break;
      case "dropped":
        this.#end(event.callId, "failed", { content: textContent(DROPPED) });
        break;
      case "finished":
        this.#finish(event);
        break;
    }
  }

  isOpen(callId: string): boolean {
    return this.#open.has(callId);
  }

  beginTurn(): void {
    this.#isTurnRunning = true;
  }

  /** Closes the calls that never ran. A cancelled tool may work on, but opens no call. */
  endTurn(): void {
    this.#isTurnRunning = false;
    for (const callId of this.#open.keys()) this.#end(callId, "failed", {});
  }

  #start({ callId, name, title, kind, locations, input, parentCallId, taskId }: Progress<"started">): void {
    if (parentCallId === undefined ? !this.#isTurnRunning : !this.#open.has(parentCallId)) return;
    const call = this.#callOf(callId);
    clearTimeout(call.announcing);
    const places = locations.map((location) => ({ ...location }));
    const isShownByDiff = kind === "edit" && JSON.stringify(input).length > MAX_EDIT_INPUT_CHARS;
    const facts = {
      ...(parentCallId !== undefined && ours(defined({ parentToolCallId: parentCallId, taskId }))),
      toolCallId: callId,
      name,
      title: visibleText(title),
      kind,
      status: call.status,
      locations: places,
      ...(!isShownByDiff && { rawInput: input }),
    };
    this.#send(
      call.isSent ? { sessionUpdate: "tool_call_update", ...facts } : { sessionUpdate: "tool_call", ...facts },
    );
    call.isSent = true;
  }

  #run({ callId, diffs }: Progress<"running">): void {
    const call = this.#open.get(callId);
    if (call === undefined) return;
    call.status = "in_progress";
    call.diffs = diffs;
    this.#change(callId, { status: call.status, ...(diffs.length > 0 && { content: diffContent(diffs) }) });
  }

  #showActivity({ callId, activity }: Progress<"activity">): void {
    const call = this.#open.get(callId);
    if (call === undefined) return;
    const { status } = call;
    if (activity.type === "terminal") {
      this.#change(callId, { status, content: terminalContent(activity.terminalId) });
      return;
    }
    if (activity.type === "delegation") {
      const { tasks } = activity;
      this.#change(callId, { status, content: tasksContent(tasks), ...ours({ tasks }) });
      return;
    }
    call.output = (call.output + activity.text).slice(-OUTPUT_TAIL_CHARS);
    call.outputting ??= setTimeout(() => {
      call.outputting = undefined;
      this.#change(callId, { status: call.status, content: textContent(call.output) });
    }, OUTPUT_INTERVAL_MS);
  }

  /** The text for other clients comes with the result, whose content would replace it. */
  #showHook({ callId, run: { callId: _, ...run } }: Progress<"hook">): void {
    const call = this.#open.get(callId);
    if (call === undefined) return; // a hook that nobody waited for
    call.hooks = [...call.hooks, run];
    this.#change(callId, ours({ hooks: call.hooks }));
  }

  #finish({ callId, result, durationMs }: Progress<"finished">): void {
    const { rejected, tasks } = result;
    const meta = ours({ durationMs: Math.round(durationMs), ...defined({ rejected, tasks }) });
    const status = result.ok ? "completed" : "failed";
    const call = this.#open.get(callId);
    if (call === undefined) {
      // The call has ended before, and its problems came late.
      if (this.#ended.has(callId)) this.#change(callId, { status, content: resultContent(result), ...meta });
      return;
    }
    const { diffs, hooks } = call;
    const hookText = hookContent(hooks);
    const isShown = result.ok && isSame(diffs, result) && hookText.length === 0;
    this.#end(callId, status, {
      ...(!isShown && { content: [...resultContent(result), ...hookText] }),
      ...rawOutput(result),
      ...meta,
    });
  }

  #change(toolCallId: string, facts: Omit<ToolCallUpdate, "toolCallId">): void {
    this.#send({ sessionUpdate: "tool_call_update", toolCallId, ...facts });
  }

  #end(toolCallId: string, status: ToolCallStatus, facts: Omit<ToolCallUpdate, "toolCallId" | "status">): void {
    const call = this.#open.get(toolCallId);
    this.#open.delete(toolCallId);
    clearTimeout(call?.announcing);
    clearTimeout(call?.outputting);
    if (call?.isSent !== true) return;
    this.#ended.add(toolCallId);
    this.#change(toolCallId, { status, ...facts });
  }

  #callOf(callId: string): OpenCall {
    const known = this.#open.get(callId);
    if (known !== undefined) return known;
    const call: OpenCall = {
      status: "pending",
      isSent: false,
      announcing: undefined,
      diffs: [],
      hooks: [],
      output: "",
      outputting: undefined,
    };
    this.#open.set(callId, call);
    return call;
  }
}

/** `read_file` as `Read file`. */
export function titleOf(name: string): string {
  return name.charAt(0).toUpperCase() + name.slice(1).replaceAll("_", " ");
}

/** True when the client has exactly the diffs of the result, and the result has nothing else to show. */
function isSame(sent: readonly FileDiff[], { diffs = [], problems = [] }: ToolResult): boolean {
  if (sent.length === 0 || sent.length !== diffs.length || problems.length > 0) return false;
  return diffs.every(({ path, oldText, newText }, index) => {
    const other = sent[index];
    return other?.path === path && other.oldText === oldText && other.newText === newText;
  });
}
