/** The client's own language models, called through `_hermes/lm/*`. */
import type { AgentContext } from "@zed-industries/agent-client-protocol";
import { callsOf } from "../messages/message.ts";
import { newId } from "../platform/new-id.ts";
import {
  editorModelMethods,
  type HermesChat,
  type HermesChatDelta,
  type HermesChatOutcome,
} from "../protocol/editor-models.ts";
import { call, endingWith, InvalidResponseError } from "../protocol/method.ts";
import type { Fault, FaultKind } from "../providers/fault.ts";
import { faultOf } from "../providers/stream-model.ts";
import { newCallId } from "../providers/wire/partial-tool-calls.ts";
import { withImageMessages } from "../providers/wire/sent-images.ts";
import type { EditorModel, EditorModels, ModelEvent, ModelRequest } from "../providers/wire/wire.ts";

type Part = HermesChatDelta["parts"][number];

export class ClientModels implements EditorModels {
  readonly #client: AgentContext;
  readonly #answers = new Map<string, EventQueue<Part>>();

  constructor(client: AgentContext) {
    this.#client = client;
  }

  async list(signal: AbortSignal): Promise<readonly EditorModel[]> {
    return (await call(this.#client, editorModelMethods.list, {}, endingWith(signal))).models;
  }

  async *stream(request: ModelRequest, signal: AbortSignal): AsyncGenerator<ModelEvent> {
    const chatId = newId();
    const parts = new EventQueue<Part>();
    this.#answers.set(chatId, parts);
    const { model, tools } = request;
    const messages = withImageMessages(request.messages);
    const chat: HermesChat = { chatId, model, messages, tools };
    const ended = call(this.#client, editorModelMethods.chat, chat, endingWith(signal));
    let outcome: HermesChatOutcome | undefined;
    ended.then(
      (response) => {
        outcome = response;
        if (response.outcome === "finished") parts.endAfter(response.parts);
        else parts.end();
      },
      (error: unknown) => parts.fail(error),
    );
    try {
      const calls = new CallEvents(request);
      for await (const part of parts) yield* calls.eventsOf(part);
      if (outcome?.outcome === "failed") yield { type: "fault", fault: faultFrom(outcome, request) };
      else yield { type: "finish", reason: calls.count > 0 ? "tool_calls" : "stop", usage: undefined };
    } catch (error) {
      signal.throwIfAborted();
      if (error instanceof InvalidResponseError) throw new SyntaxError(error.message);
      // The connection is closed, or the editor no longer handles the method.
      yield { type: "fault", fault: await faultOf("cut-off", request) };
    } finally {
      this.#answers.delete(chatId);
    }
  }

  /** Adds parts to a running answer; an ended one ignores them. */
  receive({ chatId, parts }: HermesChatDelta): void {
    for (const part of parts) this.#answers.get(chatId)?.push(part);
  }
}

/** Numbers the calls of one answer, and gives an id to each call that has no unique one. */
class CallEvents {
  readonly #taken: Set<string>;
  count = 0;

  constructor({ messages }: ModelRequest) {
    this.#taken = new Set(messages.flatMap(callsOf).map(({ id }) => id));
  }

  eventsOf(part: Part): readonly ModelEvent[] {
    if (part.type !== "call") return [{ type: `${part.type}-delta`, text: part.text }];
    const id = part.callId === "" || this.#taken.has(part.callId) ? newCallId() : part.callId;
    this.#taken.add(id);
    const index = this.count;
    this.count += 1;
    const json = JSON.stringify(part.input ?? {});
    const { name } = part;
    return [
      { type: "tool-call-start", index, id, name },
      { type: "tool-call-delta", index, text: json },
      { type: "tool-call-end", index, call: { id, type: "function", function: { name, arguments: json } } },
    ];
  }
}

const faultKinds: Readonly<Record<Extract<HermesChatOutcome, { outcome: "failed" }>["kind"], FaultKind>> = {
  "model-not-found": "model-not-found",
  "not-allowed": "authentication",
  blocked: "rate-limit",
  failed: "unexplained",
};

function faultFrom(
  { kind, message }: Extract<HermesChatOutcome, { outcome: "failed" }>,
  { model }: ModelRequest,
): Fault {
  const said = message.replace(/\s+/g, " ").trim().replace(/\.$/, "");
  const advice = {
    "model-not-found": "Choose another model.",
    "not-allowed": "Allow it when the editor asks, or choose another model.",
    blocked: "Try again later, or choose another model.",
    failed: "Try again, or choose another model.",
  }[kind];
  const fact = kind === "not-allowed" ? `The editor denied access to ${model}` : `The editor's model ${model} failed`;
  return { kind: faultKinds[kind], message: `${fact}${said === "" ? "" : `: ${said}`}. ${advice}` };
}

/** Turns pushed events into an async iteration for one reader. */
class EventQueue<Event> {
  readonly #waiting: Event[] = [];
  #pushed = 0;
  #expected = Number.POSITIVE_INFINITY;
  #end: { readonly error: unknown } | "ended" | undefined;
  #wake: () => void = () => undefined;

  push(event: Event): void {
    this.#waiting.push(event);
    this.#pushed += 1;
    if (this.#pushed >= this.#expected) this.end();
    this.#wake();
  }

  end(): void {
    this.#end ??= "ended";
    this.#wake();
  }

  /** Ends after `count` events in all. */
  endAfter(count: number): void {
    this.#expected = count;
    if (this.#pushed >= count) this.end();
  }

  /** The reader gets the events pushed before, then the error. */
  fail(error: unknown): void {
    this.#end ??= { error };
    this.#wake();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Event> {
    for (;;) {
      const event = this.#waiting.shift();
      if (event !== undefined) yield event;
      else if (this.#end === "ended") return;
      else if (this.#end !== undefined) throw this.#end.error;
      else {
        await new Promise<void>((resolve) => {
          this.#wake = resolve;
        });
      }
    }
  }
}
