/** Before older messages give way to a summary, the model may keep what will matter in later sessions. */
import type { Message, ToolCall } from "../messages/message.ts";
import { repairMessages } from "../messages/repair.ts";
import type { TranscriptEntry } from "../sessions/conversation.ts";
import { parseArguments } from "../tools/call-texts.ts";
import { tool as memoryTool } from "../tools/memory.ts";
import type { Tool, ToolContext } from "../tools/tool.ts";
import type { Auxiliary } from "./auxiliary.ts";
import type { StatusEvent } from "./callbacks.ts";

/** Less was hardly a conversation: what there is of it is in the summary. Messages of the user. */
const LEAST_MESSAGES = 6;

const REQUEST = `\
[The older part of this conversation is about to give way to a summary. What in it will matter in later sessions, and is \
not in your memory yet, keep now with the memory tool: decisions, conventions, corrections, preferences. If there is \
nothing, answer only: nothing. Call no other tool.]`;

export type FlushPorts = {
  readonly auxiliary: Auxiliary;
  /** All tools of the agent: with the same tools the request keeps the conversation's cached prefix. */
  readonly tools: readonly Tool[];
  readonly systemPrompt: () => string;
  readonly contextFor: (callId: string, signal: AbortSignal) => ToolContext;
  readonly tell: (event: StatusEvent) => void;
};

export class MemoryFlush {
  readonly #ports: FlushPorts;
  /** Position from which on nothing has been flushed. */
  #from = 0;

  constructor(ports: FlushPorts) {
    this.#ports = ports;
  }

  /**
   * Asks about the messages as the model has them now. A model that fails costs nothing but the notes: the messages stay in
   * the journal. Throws the signal's reason when it is aborted.
   */
  async run(said: readonly TranscriptEntry[], messages: readonly Message[], signal: AbortSignal): Promise<void> {
    const { auxiliary, tools, systemPrompt } = this.#ports;
    const fresh = said.filter(({ position, message }) => position >= this.#from && message.role === "user");
    if (!tools.includes(memoryTool) || fresh.length < LEAST_MESSAGES) return;
    this.#from = (said.at(-1)?.position ?? 0) + 1;
    const request = [
      { role: "system", content: systemPrompt() },
      ...messages,
      { role: "user", content: REQUEST },
    ] as const satisfies readonly Message[];
    const answer = await auxiliary.ask("flush_memories", {
      messages: repairMessages(request),
      tools: tools.map((tool) => tool.schema),
      signal,
    });
    if (!answer.ok) return;
    for (const call of answer.calls) await this.#keep(call, signal);
  }

  /** Whatever else it calls is not run: nobody sees it. */
  async #keep(call: ToolCall, signal: AbortSignal): Promise<void> {
    if (call.function.name !== memoryTool.name) return;
    const parsed = parseArguments(call.function.arguments);
    const preparation = parsed.ok ? memoryTool.prepare(parsed.value, "/") : parsed;
    if (!preparation.ok || !("call" in preparation)) return;
    const staged = await preparation.call.stage(this.#ports.contextFor(call.id, signal));
    const result = staged.ok ? await staged.run() : staged;
    if (result.ok) this.#ports.tell({ severity: "info", message: `${preparation.call.title}.` });
  }
}
