/** Lets the model save notes to memory before a summary replaces older messages. */
import type { Effect } from "../approval/decision.ts";
import type { Hooks } from "../hooks/hook.ts";
import type { Message, ToolCall } from "../messages/message.ts";
import { repairMessages } from "../messages/repair.ts";
import { newId } from "../platform/new-id.ts";
import type { TranscriptEntry } from "../sessions/conversation.ts";
import { parseArguments } from "../tools/call-arguments.ts";
import { tool as memoryTool } from "../tools/memory.ts";
import type { Tool, ToolContext } from "../tools/tool.ts";
import type { Auxiliary } from "./auxiliary.ts";
import { afterCall, beforeCall } from "./call-hooks.ts";
import type { StatusEvent } from "./callbacks.ts";

/** User messages below which a flush is not worth a request: the summary contains such a short conversation. */
const MIN_MESSAGES = 6;

const REQUEST = `\
[A summary is about to replace the older part of this conversation. Save now with the memory tool what will matter in \
later sessions and is not in your memory yet: decisions, conventions, corrections, preferences. If there is nothing, \
answer only: nothing. Call no other tool.]`;

export type FlushPorts = {
  readonly auxiliary: Auxiliary;
  /** All tools of the agent. The same tools keep the conversation's cached prefix valid. */
  readonly tools: () => readonly Tool[];
  readonly systemPrompt: () => string;
  readonly contextFor: (callId: string, signal: AbortSignal) => ToolContext;
  readonly hooks: () => Hooks;
  readonly notify: (event: StatusEvent) => void;
  /** True when the memory may change without a question: the user sees none of these calls. */
  readonly mayRemember: () => Promise<boolean>;
};

export class MemoryFlush {
  readonly #ports: FlushPorts;
  /** Position of the first message that was not flushed yet. */
  #from = 0;

  constructor(ports: FlushPorts) {
    this.#ports = ports;
  }

  /**
   * Asks about the current messages. After a fault only the notes are missing, because the messages stay in the
   * journal. Throws the signal's reason when it is aborted.
   */
  async run(transcript: readonly TranscriptEntry[], messages: readonly Message[], signal: AbortSignal): Promise<void> {
    const { auxiliary, systemPrompt } = this.#ports;
    const tools = this.#ports.tools();
    const fresh = transcript.filter(({ position, message }) => position >= this.#from && message.role === "user");
    if (!tools.includes(memoryTool) || fresh.length < MIN_MESSAGES || !(await this.#ports.mayRemember())) return;
    this.#from = (transcript.at(-1)?.position ?? 0) + 1;
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
    for (const call of answer.calls) {
      const callId = unseenCallId();
      const context = { ...this.#ports.contextFor(callId, signal), memoryWriter: "flush" as const };
      const done = await runUnseen(call, [memoryTool], context, { hooks: this.#ports.hooks() });
      if (done.ok) this.#ports.notify({ severity: "info", message: `${done.title}.`, memoryCall: callId });
    }
  }
}

/** Id of a call that the user does not see, short enough to type. Ids of the servers repeat. */
export function unseenCallId(): string {
  return newId().slice(0, 8);
}

/** `text`: result for the model. */
export type UnseenResult =
  | { readonly ok: true; readonly title: string; readonly text: string }
  | { readonly ok: false; readonly text: string };

export type UnseenOptions = {
  readonly hooks: Hooks;
  /** Default: every effect. */
  readonly allows?: (effect: Effect) => Promise<boolean>;
};

/** Runs a call of one of these tools that the user does not see. A call about which a hook asks does not run. */
export async function runUnseen(
  call: ToolCall,
  tools: readonly Tool[],
  context: ToolContext,
  { hooks, allows = () => Promise.resolve(true) }: UnseenOptions,
): Promise<UnseenResult> {
  const { callId, signal, cwd } = context;
  const tool = tools.find(({ name }) => name === call.function.name);
  if (tool === undefined) return { ok: false, text: `There is no tool ${call.function.name}.` };
  const parsed = parseArguments(call.function.arguments);
  if (!parsed.ok) return parsed;
  const verdict = await beforeCall({ callId, tool: tool.name, input: parsed.value }, hooks, signal);
  if (verdict.kind === "refuse") return { ok: false, text: verdict.text };
  if (verdict.asks.length > 0) return { ok: false, text: `The user would have to be asked: ${verdict.asks.join(" ")}` };
  const input = verdict.input ?? parsed.value;
  const preparation = tool.prepare(input, cwd);
  if (!preparation.ok) return preparation;
  const { title, effect, stage } = preparation.call;
  if (!(await allows(effect))) return { ok: false, text: "The user has not allowed this." };
  const start = performance.now();
  const staged = await stage(context);
  const result = staged.ok ? await staged.run() : staged;
  const durationMs = performance.now() - start;
  const { ok, text } = await afterCall({ callId, tool: tool.name, input }, result, { hooks, durationMs }, signal);
  return { ok, title, text };
}
