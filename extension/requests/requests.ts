/** Asks the user for the agent, natively and with a card in the panel at once. The first answer wins. */
import { randomUUID } from "node:crypto";
import type {
  CreateElicitationRequest,
  CreateElicitationResponse,
  RequestPermissionOutcome,
  RequestPermissionRequest,
} from "@zed-industries/agent-client-protocol";
import * as z from "zod";
import { HermesPermissionMeta } from "../../agent-core/protocol/conversation.ts";
import { readMeta } from "../../agent-core/protocol/method.ts";
import type { PanelEvent } from "../../agent-core/protocol/panel-events.ts";
import { nativePermission, nativeQuestion, type RequestAnswer } from "./native-prompts.ts";

export class Requests {
  readonly #open = new Map<string, (answer: RequestAnswer) => void>();
  readonly #show: (sessionId: string, event: PanelEvent) => void;
  readonly #setCount: (count: number) => void;

  /** `show` emits an event of a session to the panel; `setCount` gets the number of open requests. */
  constructor(show: (sessionId: string, event: PanelEvent) => void, setCount: (count: number) => void) {
    this.#show = show;
    this.#setCount = setCount;
  }

  /** Handles an answer from the panel. An answer to a closed request is ignored. */
  answer(requestId: string, answer: RequestAnswer): void {
    this.#open.get(requestId)?.(answer);
  }

  async permission(request: RequestPermissionRequest, signal: AbortSignal): Promise<RequestPermissionOutcome> {
    const requestId = randomUUID();
    const { sessionId, toolCall, options } = request;
    const ours = readMeta(HermesPermissionMeta, request._meta);
    const facts = { reasons: ours?.reasons ?? [], command: ours?.command, grant: ours?.grant };
    this.#show(sessionId, {
      kind: "permission",
      requestId,
      toolCall,
      options,
      reasons: facts.reasons,
      ...(facts.command !== undefined && { command: facts.command }),
      ...(facts.grant !== undefined && { grant: facts.grant }),
    });
    const native = (closed: AbortSignal): Promise<RequestAnswer | undefined> =>
      nativePermission({ toolCall, options, ...facts }, closed);
    const answer = await this.#firstAnswer(requestId, native, signal);
    const option = answer?.kind === "option" ? options.find(({ optionId }) => optionId === answer.optionId) : undefined;
    this.#show(sessionId, { kind: "permission-end", requestId, label: option?.name ?? "Withdrawn" });
    if (option === undefined) return { outcome: "cancelled" };
    const reason = answer?.kind === "option" ? answer.reason : undefined;
    return {
      outcome: "selected",
      optionId: option.optionId,
      ...(reason && { _meta: { hermes: { reason } } }),
    };
  }

  async question(request: CreateElicitationRequest, signal: AbortSignal): Promise<CreateElicitationResponse> {
    const requestId = randomUUID();
    const { message } = request;
    const sessionId = "sessionId" in request && typeof request.sessionId === "string" ? request.sessionId : "";
    const choices = choicesOf(request);
    this.#show(sessionId, { kind: "question", requestId, message, choices });
    const native = (closed: AbortSignal): Promise<RequestAnswer | undefined> =>
      nativeQuestion(message, choices, closed);
    const answer = await this.#firstAnswer(requestId, native, signal);
    const text = answer?.kind === "text" ? answer.text : null;
    this.#show(sessionId, { kind: "question-end", requestId, label: text ?? "No answer" });
    if (text === null || text === "") return { action: "cancel" };
    const key = choices.includes(text) ? "choice" : "other";
    return { action: "accept", content: { [key]: text } };
  }

  /** Undefined when the request was withdrawn. A native prompt that the user closes leaves the card open. */
  async #firstAnswer(
    requestId: string,
    native: (closed: AbortSignal) => Promise<RequestAnswer | undefined>,
    signal: AbortSignal,
  ): Promise<RequestAnswer | undefined> {
    const closed = new AbortController();
    const { promise, resolve } = Promise.withResolvers<RequestAnswer | undefined>();
    this.#open.set(requestId, resolve);
    this.#setCount(this.#open.size);
    const withdraw = (): void => resolve(undefined);
    if (signal.aborted) withdraw();
    signal.addEventListener("abort", withdraw, { once: true });
    native(closed.signal).then(
      (answer) => answer && resolve(answer),
      () => undefined, // a failed prompt leaves the card
    );
    try {
      return await promise;
    } finally {
      this.#open.delete(requestId);
      this.#setCount(this.#open.size);
      signal.removeEventListener("abort", withdraw);
      closed.abort();
    }
  }
}

const formSchema = z.object({
  requestedSchema: z.object({
    properties: z.object({ choice: z.object({ enum: z.array(z.string()) }).optional() }).optional(),
  }),
});

function choicesOf(request: CreateElicitationRequest): readonly string[] {
  return formSchema.safeParse(request).data?.requestedSchema.properties?.choice?.enum ?? [];
}
