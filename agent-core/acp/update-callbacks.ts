/** Sends the agent's callbacks as `session/update`. */
import type { SessionUpdate } from "@zed-industries/agent-client-protocol";
import type { AgentCallbacks, StatusEvent } from "../agent/callbacks.ts";
import { newId } from "../platform/new-id.ts";
import type { HermesActivityMeta, HermesMessageMeta, HermesUsageMeta } from "../protocol/conversation.ts";
import { noticeUpdate, planUpdate, userUpdates } from "./conversation-updates.ts";
import { ToolCallUpdates } from "./tool-call-updates.ts";

export type UpdateSink = {
  send(update: SessionUpdate): void;
  /** Cost of the session so far, in US dollars; undefined when unknown. */
  costUsd(): number | undefined;
};

type UpdateCallbacks = Required<
  Pick<
    AgentCallbacks,
    | "thinking"
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

export type Updates = {
  readonly callbacks: UpdateCallbacks;
  /** Closes the announced calls that never ran. */
  endTurn(): void;
};

export function updateCallbacks(sink: UpdateSink): Updates {
  const calls = new ToolCallUpdates((update) => sink.send(update));
  let shown: HermesActivityMeta["activity"] | undefined;
  const show = (activity: HermesActivityMeta["activity"]): void => {
    if (activity === shown) return;
    shown = activity;
    const hermes: HermesActivityMeta = { activity };
    sink.send({ sessionUpdate: "session_info_update", _meta: { hermes } });
  };
  return {
    callbacks: {
      streamDelta: ({ text, messageId }) =>
        sink.send({ sessionUpdate: "agent_message_chunk", messageId, content: { type: "text", text } }),
      reasoning: ({ text, messageId }) =>
        sink.send({ sessionUpdate: "agent_thought_chunk", messageId, content: { type: "text", text } }),
      toolGen: (event) => calls.announce(event),
      thinking: ({ active }) => active && show("thinking"),
      toolProgress: (event) => {
        if (event.type === "running") show("tools");
        calls.progress(event);
      },
      prompted: ({ position }) => {
        const hermes: HermesMessageMeta = { position };
        sink.send({ sessionUpdate: "session_info_update", _meta: { hermes } });
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
        const hermes: HermesUsageMeta = { contextPressure: level };
        sink.send({ sessionUpdate: "usage_update", used, size, ...(cost && { cost }), _meta: { hermes } });
      },
    },
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
