/** Ties the keeper of the context window to its agent. */
import { repairMessages } from "../messages/repair.ts";
import { modelInfo } from "../providers/model-info.ts";
import type { Conversation } from "../sessions/conversation.ts";
import type { NewEntry } from "../sessions/journal.ts";
import type { Tool, ToolContext } from "../tools/tool.ts";
import type { AgentSetup } from "./agent-setup.ts";
import type { StatusEvent } from "./callbacks.ts";
import { ContextKeeper } from "./context-keeper.ts";
import { MemoryFlush } from "./memory-flush.ts";
import type { Notifier } from "./notifier.ts";

export type ContextPorts = {
  readonly conversation: Conversation;
  /** Tokens that the model can see. */
  readonly window: () => number;
  readonly systemPrompt: () => string;
  readonly journal: (entry: NewEntry) => void;
  /** The ports of a call that nobody sees. */
  readonly contextFor: (callId: string, signal: AbortSignal) => ToolContext;
  readonly notify: Notifier;
};

/** From now on a request that the provider refuses as too long gives way to a compressed one. */
export function keepContext(setup: AgentSetup, ports: ContextPorts): ContextKeeper {
  const { conversation, window, systemPrompt, journal, notify, contextFor } = ports;
  const { auxiliary, tools } = setup;
  const tell = (event: StatusEvent): void => notify.status(event);
  const keeper = new ContextKeeper({
    engine: setup.engine,
    conversation,
    auxiliary,
    // The built-in interpreter is no language model.
    canSummarize: () =>
      setup.models.current.mode !== "offline" || setup.auxiliary.ownModel("compression") !== undefined,
    summaryWindow: () => {
      const model = setup.auxiliary.ownModel("compression");
      return model === undefined ? undefined : modelInfo(model.model, setup.modelFacts(model)).contextWindow;
    },
    window,
    overhead: () => systemPrompt() + setup.toolText,
    flush: new MemoryFlush({ auxiliary, tools, systemPrompt, contextFor, tell }),
    journal,
    tell,
    compressed: (event) => {
      notify.compressed(event);
      notify.contextPressure(keeper.pressure);
    },
  });
  setup.shorten = async (messages, signal) => {
    const [system] = messages;
    if (!(await keeper.afterOverflow(signal))) return undefined;
    return repairMessages([...(system?.role === "system" ? [system] : []), ...conversation.messages]);
  };
  return keeper;
}

/** Why a tool cannot be had at the moment; undefined when it can. */
export function withheldFrom({ largeOutput }: Tool, { isFull }: Pick<ContextKeeper, "isFull">): string | undefined {
  if (!largeOutput || !isFull) return undefined;
  return "withheld, because the context window is full. Finish with what you know, and tell the user what is left to do.";
}
