/** Sends the agent's callbacks as `session/update`. */
import { randomUUID } from "node:crypto";
import type { SessionUpdate } from "@zed-industries/agent-client-protocol";
import type { AgentCallbacks, StatusEvent } from "../agent/callbacks.ts";
import type {
  HermesActivityMeta,
  HermesMessageMeta,
  HermesRetryMeta,
  HermesUsageMeta,
} from "../protocol/conversation.ts";
import type { HermesMemoryMeta } from "../protocol/memory.ts";
import { planUpdate, userUpdates } from "./conversation-updates.ts";
import { ToolCallUpdates } from "./tool-call-updates.ts";

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
      shown = undefined;
      calls.endTurn();
    },
  };
}

/** The waits of one call share an id, so that a client can update one line. */
function statusUpdate({ severity, message, wait, memoryCall }: StatusEvent, showsNotices: boolean): SessionUpdate {
  if (!showsNotices) {
    const hint = memoryCall === undefined ? "" : " To undo it, type /memory undo.";
    const content = { type: "text", text: `${message}${hint}\n` } as const;
    return { sessionUpdate: "agent_thought_chunk", content, ...(wait && { messageId: wait.id }) };
  }
  const memory: HermesMemoryMeta | undefined = memoryCall === undefined ? undefined : { memoryCall };
  const hermes: HermesRetryMeta | HermesMemoryMeta | undefined = wait ? { retry: wait } : memory;
  return { sessionUpdate: "notice", severity, title: message, ...(hermes && { _meta: { hermes } }) };
}
