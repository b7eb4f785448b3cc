/** Sends the agent's callbacks as `session/update`. */
import { randomUUID } from "node:crypto";
import type { SessionUpdate, ToolCallContent } from "@zed-industries/agent-client-protocol";
import type { AgentCallbacks, StatusEvent, ToolProgressEvent } from "../agent/callbacks.ts";
import type { HermesMessageMeta, HermesToolMeta, HermesUsageMeta } from "../protocol/conversation.ts";
import {
  diffContent,
  planUpdate,
  resultContent,
  terminalContent,
  textContent,
  userUpdates,
} from "./conversation-updates.ts";

/** Least time between two updates with live output, for a client without terminals. */
const OUTPUT_INTERVAL_MS = 250;
/** Text of a call that never ran because its answer ended early. */
const DROPPED = "Not run: the answer was cut off.";
/** Length of the shown end of live output. Characters. */
const OUTPUT_TAIL_CHARS = 4_000;

export type UpdateSink = {
  send(update: SessionUpdate): void;
  /** The client shows notices; other clients get thoughts. */
  readonly showsNotices: boolean;
  /** Cost of the session so far, in US dollars; undefined when unknown. */
  costUsd(): number | undefined;
};

type UpdateCallbacks = Required<
  Pick<
    AgentCallbacks,
    | "toolProgress"
    | "reasoning"
    | "streamDelta"
    | "toolGen"
    | "prompted"
    | "steered"
    | "title"
    | "plan"
    | "status"
    | "contextPressure"
  >
>;

type Live = { output: string; timer: NodeJS.Timeout | undefined };

export type Updates = {
  readonly callbacks: UpdateCallbacks;
  /** Closes the announced calls that never ran. */
  endTurn(): void;
};

export function updateCallbacks(sink: UpdateSink): Updates {
  const announced = new Set<string>();
  const live = new Map<string, Live>();
  return {
    callbacks: {
      streamDelta: ({ text, messageId }) =>
        sink.send({ sessionUpdate: "agent_message_chunk", messageId, content: { type: "text", text } }),
      reasoning: ({ text, messageId }) =>
        sink.send({ sessionUpdate: "agent_thought_chunk", messageId, content: { type: "text", text } }),
      toolGen: ({ callId, name }) => {
        announced.add(callId);
        sink.send({ sessionUpdate: "tool_call", toolCallId: callId, name, title: name, status: "pending" });
      },
      toolProgress: (event) => {
        if (event.type === "activity" && event.activity.type === "output") {
          showOutput(sink, live, event.callId, event.activity.text);
          return;
        }
        if (event.type === "finished") stopLive(live, event.callId);
        sink.send(progressUpdate(event, announced));
      },
      prompted: ({ position }) => {
        const hermes: HermesMessageMeta = { position };
        sink.send({ sessionUpdate: "session_info_update", _meta: { hermes } });
      },
      steered: ({ message, position }) => {
        // The id tells it from an echo of the prompt.
        const messageId = randomUUID();
        for (const update of userUpdates(message, position)) sink.send({ ...update, messageId });
      },
      title: ({ title }) => sink.send({ sessionUpdate: "session_info_update", title }),
      plan: (items) => sink.send(planUpdate(items)),
      status: (event) => sink.send(statusUpdate(event, sink.showsNotices)),
      contextPressure: ({ used, window: size, level }) => {
        const amount = sink.costUsd();
        const cost = amount === undefined ? undefined : { amount, currency: "USD" };
        const hermes: HermesUsageMeta = { contextPressure: level };
        sink.send({ sessionUpdate: "usage_update", used, size, ...(cost && { cost }), _meta: { hermes } });
      },
    },
    endTurn: () => {
      for (const toolCallId of announced)
        sink.send({ sessionUpdate: "tool_call_update", toolCallId, status: "failed" });
      announced.clear();
      for (const callId of live.keys()) stopLive(live, callId);
    },
  };
}

function progressUpdate(event: ToolProgressEvent, announced: Set<string>): SessionUpdate {
  const toolCallId = event.callId;
  switch (event.type) {
    case "started": {
      const { name, title, kind, input } = event;
      const locations = event.locations.map((location) => ({ ...location }));
      const call = { toolCallId, name, title, kind, status: "pending", locations, rawInput: input } as const;
      return announced.delete(toolCallId)
        ? { sessionUpdate: "tool_call_update", ...call }
        : { sessionUpdate: "tool_call", ...call };
    }
    case "running":
      return {
        sessionUpdate: "tool_call_update",
        toolCallId,
        status: "in_progress",
        ...(event.diffs.length > 0 && { content: diffContent(event.diffs) }),
      };
    case "dropped":
      announced.delete(toolCallId);
      return { sessionUpdate: "tool_call_update", toolCallId, status: "failed", content: textContent(DROPPED) };
    case "activity":
      return { sessionUpdate: "tool_call_update", toolCallId, content: activityContent(event.activity) };
    case "finished": {
      const hermes: HermesToolMeta = { durationMs: Math.round(event.durationMs) };
      return {
        sessionUpdate: "tool_call_update",
        toolCallId,
        status: event.result.ok ? "completed" : "failed",
        content: resultContent(event.result),
        _meta: { hermes },
      };
    }
  }
}

function activityContent(activity: Extract<ToolProgressEvent, { type: "activity" }>["activity"]): ToolCallContent[] {
  return activity.type === "terminal" ? terminalContent(activity.terminalId) : textContent(activity.text);
}

function showOutput(sink: UpdateSink, live: Map<string, Live>, toolCallId: string, text: string): void {
  const shown = live.get(toolCallId) ?? { output: "", timer: undefined };
  live.set(toolCallId, shown);
  shown.output = (shown.output + text).slice(-OUTPUT_TAIL_CHARS);
  shown.timer ??= setTimeout(() => {
    shown.timer = undefined;
    sink.send({ sessionUpdate: "tool_call_update", toolCallId, content: textContent(shown.output) });
  }, OUTPUT_INTERVAL_MS);
}

function stopLive(live: Map<string, Live>, callId: string): void {
  clearTimeout(live.get(callId)?.timer);
  live.delete(callId);
}

function statusUpdate({ severity, message }: StatusEvent, showsNotices: boolean): SessionUpdate {
  if (showsNotices) return { sessionUpdate: "notice", severity, title: message };
  return { sessionUpdate: "agent_thought_chunk", content: { type: "text", text: `${message}\n` } };
}
