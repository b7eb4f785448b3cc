/** Applies the agent's updates: the table has a handler for each kind of ACP session update. */
import type { ContentChunk, SessionUpdate } from "@zed-industries/agent-client-protocol";
import type { PanelEvent } from "../../agent-core/protocol/panel-events.ts";
import { t } from "../texts.ts";
import { ourMeta, type RetryUpdate } from "./agent-meta.ts";
import { attachmentIn } from "./attachments.ts";
import { modelName, withMode } from "./config.ts";
import { contentText } from "./content-text.ts";
import { earlierOf } from "./earlier.ts";
import { joinNested } from "./nested-calls.ts";
import { rewindTo } from "./rewind.ts";
import { announce, emptyState, type NoticeEntry, type PanelState, type TextEntry } from "./state.ts";
import { addSummary, placeCutSummary } from "./summaries.ts";
import { upsertToolCall } from "./tool-calls.ts";
import { addEntry, growText, placeLastPrompt, sealOpen, withChanged } from "./transcript.ts";
import { addFailedTurn } from "./turns.ts";

type UpdateKind = SessionUpdate["sessionUpdate"];
type Handlers = {
  readonly [K in UpdateKind]: (
    state: PanelState,
    update: Extract<SessionUpdate, { sessionUpdate: K }>,
    at: number,
  ) => PanelState;
};

const handlers: Handlers = {
  user_message_chunk: (state, update, at) => (isEcho(state, update) ? state : chunk(state, "user", update, at)),
  agent_message_chunk: (state, update, at) => chunk(state, "answer", update, at),
  agent_thought_chunk: (state, update, at) => chunk(state, "thought", update, at),
  tool_call: (state, update, at) => upsertToolCall(state, update, at),
  tool_call_update: (state, update, at) => upsertToolCall(state, update, at),
  plan: (state, update) => ({ ...state, plan: update.entries }),
  available_commands_update: (state, update) => ({ ...state, commands: update.availableCommands }),
  current_mode_update: (state, update) => ({
    ...state,
    configOptions: withMode(state.configOptions, update.currentModeId),
  }),
  config_option_update: (state, update) => withOptions(state, update.configOptions),
  session_info_update: (before, { title, _meta }, at) => {
    const state = title == null ? before : { ...before, title };
    const { activity, position, compression, rewound, earlier, goal, undoneCalls } = ourMeta(_meta);
    if (activity === "thinking" || activity === "tools") return { ...state, activity };
    if (goal !== undefined) return { ...state, paused: goal === "paused" ? "goal" : undefined };
    if (undoneCalls !== undefined) return { ...state, undoneMemory: [...state.undoneMemory, ...undoneCalls] };
    const begun: PanelState = earlier === undefined ? state : { ...state, earlier: { type: "available", ...earlier } };
    const remaining = rewound === undefined ? begun : { ...rewindTo(begun, rewound.position, at), restore: undefined };
    const placed = position === undefined ? remaining : placeLastPrompt(remaining, position);
    return compression === undefined ? placed : addSummary(placed, compression, at);
  },
  usage_update: (state, { used, size, cost, _meta }) => ({
    ...state,
    usage: { used, size, cost: cost ?? undefined, pressure: ourMeta(_meta).contextPressure ?? "low" },
  }),
  notice: (state, update, at) => {
    const text = update.description ? `${update.title}: ${update.description}` : update.title;
    const { retry, memoryCall, failedTurn } = ourMeta(update._meta);
    if (failedTurn !== undefined) return addFailedTurn(state, { ...failedTurn, text }, at);
    const entry: Omit<NoticeEntry, "key" | "retry"> = {
      type: "notice",
      severity: update.severity === "warning" || update.severity === "error" ? update.severity : "info",
      text,
      ...(memoryCall !== undefined && { memoryCall }),
    };
    return retry === undefined ? addEntry(state, entry, at) : showRetry(state, { ...entry, retry }, at);
  },
  compaction_update: (state, update, at) => {
    if (update.status === "completed") {
      const text = t("Earlier messages were summarised to make room");
      return addEntry(state, { type: "notice", severity: "info", text }, at);
    }
    if (update.status !== "failed") return state;
    const text = update.error
      ? t("Summarising earlier messages failed: {0}", update.error)
      : t("Summarising earlier messages failed");
    return addEntry(state, { type: "notice", severity: "warning", text }, at);
  },
  compaction_summary_chunk: (state) => state,
};

/** The state after `update`. Unknown kinds change nothing. `at`: clock, milliseconds. */
export function applyUpdate(state: PanelState, update: SessionUpdate, at: number): PanelState {
  // The type checks the table entry by entry; TypeScript cannot relate the key to its handler here.
  const handle = Object.hasOwn(handlers, update.sessionUpdate)
    ? (handlers[update.sessionUpdate] as (state: PanelState, update: SessionUpdate, at: number) => PanelState)
    : undefined;
  return handle ? handle(state, update, at) : state;
}

type RetryNotice = Omit<NoticeEntry, "key" | "retry"> & { readonly retry: RetryUpdate };

/** Adds the line of a wait, or updates it when it is the last one. */
function showRetry(state: PanelState, { retry, ...notice }: RetryNotice, at: number): PanelState {
  const entry = { ...notice, retry: { ...retry, until: at + retry.delayMs } };
  const last = state.entries.at(-1);
  if (state.open !== undefined || last?.type !== "notice" || last.retry?.id !== retry.id)
    return addEntry(state, entry, at);
  return { ...state, entries: withChanged(state.entries, state.entries.length - 1, { ...entry, key: last.key }) };
}

/** Announces another model. */
function withOptions(state: PanelState, configOptions: PanelState["configOptions"]): PanelState {
  const [before, now] = [modelName(state.configOptions), modelName(configOptions)];
  const next = { ...state, configOptions };
  return before === undefined || now === undefined || before === now ? next : announce(next, t("Model: {0}", now));
}

function chunk(state: PanelState, type: TextEntry["type"], update: ContentChunk, at: number): PanelState {
  const origin = { type, messageId: update.messageId ?? undefined, position: ourMeta(update._meta).position };
  const attachment = type === "user" ? attachmentIn(update.content) : undefined;
  const content =
    attachment === undefined ? { text: contentText(update.content) } : { text: "", attachments: [attachment] };
  return growText(state, { ...origin, ...content }, at);
}

/** Some agents send the prompt back, which the panel shows already. */
function isEcho(state: PanelState, { messageId }: ContentChunk): boolean {
  return !messageId && state.running && !state.open && state.entries.at(-1)?.type === "user";
}

/** Inserts a page of earlier messages. A page is dropped when its messages were removed after the request. */
export function addEarlierPage(
  state: PanelState,
  { before, updates, earlier }: Extract<PanelEvent, { kind: "earlier-page" }>,
  at: number,
): PanelState {
  if (earlierOf(state.earlier)?.before !== before) return state;
  const start: PanelState = { ...emptyState, nextKey: state.nextKey };
  const page = sealOpen(
    updates.reduce((shown, update) => applyUpdate(shown, update, at), start),
    at,
  );
  const next: PanelState = {
    ...state,
    nextKey: page.nextKey,
    entries: [...page.entries, ...state.entries],
    nestedCalls: joinNested(page.nestedCalls, state.nestedCalls),
    earlier: earlier === null ? { type: "none-left" } : { type: "available", ...earlier },
  };
  return announce(placeCutSummary(next), t("Earlier messages are shown"));
}
