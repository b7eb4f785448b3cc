/** Requests of the agent on the screen, one after the other. */
import type {
  CreateElicitationRequest,
  CreateElicitationResponse,
  RequestPermissionRequest,
  RequestPermissionResponse,
} from "@zed-industries/agent-client-protocol";
import type { HermesPasswordQuestion } from "../../agent-core/protocol/processes.ts";
import { oneLine } from "./activity.ts";
import type { ChatView } from "./chat-view.ts";
import { PasswordPanel, RequestPanel } from "./panels.ts";
import {
  permissionChoices,
  permissionLines,
  permissionResponse,
  questionLines,
  questionOf,
  questionResponse,
} from "./requests.ts";

/** A question of the agent that the next message answers. */
type OpenQuestion = { readonly choices: number; answer(text: string | undefined): void };

export class RequestDesk {
  readonly #view: ChatView;
  /** Approves every request. */
  readonly #allowAll: boolean;
  #question: OpenQuestion | undefined;
  /** Settles with the last request. */
  #asking: Promise<unknown> = Promise.resolve();

  constructor(view: ChatView, allowAll: boolean) {
    this.#view = view;
    this.#allowAll = allowAll;
  }

  get openQuestion(): OpenQuestion | undefined {
    return this.#question;
  }

  permission(request: RequestPermissionRequest, signal: AbortSignal): Promise<RequestPermissionResponse> {
    const once = request.options.find(({ kind }) => kind === "allow_once");
    if (this.#allowAll && once !== undefined) return Promise.resolve(permissionResponse(once.optionId));
    return this.#oneByOne(async () => {
      if (signal.aborted) return permissionResponse(undefined);
      const view = this.#view;
      view.transcript.request(request.toolCall.toolCallId, (drawing) => permissionLines(request, drawing));
      const panel = new RequestPanel(permissionChoices(request.options), view.theme, (data) =>
        view.composer.handleInput(data),
      );
      signal.addEventListener("abort", () => panel.withdraw(), { once: true });
      const chosen = await view.show(panel, panel.answer);
      const rejected = request.options.find(({ kind }) => kind === "reject_once")?.optionId;
      const optionId = chosen ?? (signal.aborted ? undefined : rejected);
      const name = request.options.find((option) => option.optionId === optionId)?.name;
      if (name !== undefined) this.#note(`${optionId === rejected ? "✗" : "✓"} ${name}`);
      return permissionResponse(optionId);
    });
  }

  question(request: CreateElicitationRequest, signal: AbortSignal): Promise<CreateElicitationResponse> {
    return this.#oneByOne(async () => {
      const question = questionOf(request);
      this.#view.transcript.say((drawing) => questionLines(question, drawing));
      this.#view.composer.hint =
        question.choices.length > 0 ? "a number, or your answer; Esc skips" : "your answer; Esc skips";
      this.#view.refresh();
      const answer = await new Promise<string | undefined>((resolve) => {
        this.#question = { choices: question.choices.length, answer: resolve };
        signal.addEventListener("abort", () => resolve(undefined), { once: true });
      });
      this.#question = undefined;
      this.#view.composer.hint = "";
      this.#note(answer === undefined || answer === "" ? "✗ Skipped" : `❯ ${answer}`);
      return questionResponse(question, answer === "" ? undefined : answer);
    });
  }

  /** Asks for a password. Null: none. */
  password({ prompt, command, isRetry }: HermesPasswordQuestion, signal: AbortSignal): Promise<string | null> {
    return this.#oneByOne(async () => {
      if (signal.aborted) return null;
      const view = this.#view;
      view.transcript.note(
        `${isRetry ? "That was refused. " : ""}A password is needed by: ${oneLine(command)}`,
        "warning",
      );
      const panel = new PasswordPanel(prompt, view.theme, (data) => view.composer.handleInput(data));
      signal.addEventListener("abort", () => panel.withdraw(), { once: true });
      const password = await view.show(panel, panel.answer);
      this.#note(password === null ? "✗ No password" : "✓ Password given");
      return password;
    });
  }

  #oneByOne<T>(ask: () => Promise<T>): Promise<T> {
    const asked = this.#asking.then(ask);
    this.#asking = asked.catch(() => undefined);
    return asked;
  }

  #note(text: string): void {
    this.#view.transcript.note(text);
    this.#view.refresh();
  }
}
