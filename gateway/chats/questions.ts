/** Questions in chats, as buttons: bound to the person who asked and to one request, for five minutes. Text answers work too. */
import { randomBytes } from "node:crypto";
import type { Clock } from "../../agent-core/platform/clock.ts";
import type { Button, Press } from "../adapters/adapter.ts";
import type { Outbox, Place } from "../outbox/outbox.ts";

/** Time for an answer. Milliseconds. */
const ANSWER_MS = 5 * 60_000;

export type Option = { readonly label: string; readonly value: string };

export type Question = {
  readonly place: Place;
  readonly chatKey: string;
  /** Id of the person who may answer, beside admins. */
  readonly asker: string;
  readonly text: string;
  readonly options: readonly Option[];
  /** `approval`: only a button or a command answers. `question`: any text answers. */
  readonly kind: "approval" | "question";
  /** Buttons of a message on this platform; 0: none. */
  readonly maxButtons: number;
  readonly canEdit: boolean;
};

type Open = Question & {
  readonly id: string;
  readonly answer: (value: string | undefined, label: string) => void;
};

export class Questions {
  readonly #outbox: Outbox;
  readonly #clock: Clock;
  readonly #open = new Map<string, Open>();

  constructor(outbox: Outbox, clock: Clock) {
    this.#outbox = outbox;
    this.#clock = clock;
  }

  /** Resolves to the value of an option, or to a text; undefined after five minutes, and when `signal` ends. */
  async ask(question: Question, signal: AbortSignal): Promise<string | undefined> {
    const id = randomBytes(8).toString("hex");
    const { promise, resolve } = Promise.withResolvers<{
      readonly value: string | undefined;
      readonly label: string;
    }>();
    this.#open.set(id, { ...question, id, answer: (value, label) => resolve({ value, label }) });
    const over = AbortSignal.any([signal]);
    const waiting = new AbortController();
    this.#clock.wait(ANSWER_MS, AbortSignal.any([over, waiting.signal])).then(
      () => resolve({ value: undefined, label: "no answer within 5 minutes" }),
      () => resolve({ value: undefined, label: "stopped" }),
    );
    const buttons = buttonsOf(question, id);
    const shown = this.#outbox.say(question.place, withHints(question, buttons.length > 0), buttons);
    const { value, label } = await promise;
    waiting.abort();
    this.#open.delete(id);
    void shown.then((message) => this.#close(question, message, label));
    return value;
  }

  /** Answers by a button. Returns why nothing was answered, or undefined. */
  press({ data, user }: Press, answersForOthers: boolean): string | undefined {
    const [id = "", index = ""] = data.split(":");
    const open = this.#open.get(id);
    const option = open?.options[Number(index)];
    if (open === undefined || option === undefined) return "This question is closed.";
    if (open.asker !== user && !answersForOthers) return "Only the person who asked can answer this.";
    open.answer(option.value, option.label);
    return undefined;
  }

  /** The open question of a chat that a person may answer. */
  of(chatKey: string, user: string, answersForOthers: boolean): Pick<Open, "kind" | "options" | "answer"> | undefined {
    return [...this.#open.values()].find(
      (each) => each.chatKey === chatKey && (each.asker === user || answersForOthers),
    );
  }

  async #close({ place, text, canEdit }: Question, message: string | undefined, label: string): Promise<void> {
    if (message === undefined || !canEdit) return;
    await this.#outbox.editLater(place, message, `${text}\n\n*${label}*`); // the buttons go with the edit
  }
}

function buttonsOf({ options, maxButtons }: Question, id: string): readonly Button[] {
  if (options.length > maxButtons) return [];
  return options.map(({ label }, index) => ({ label: label.slice(0, 60), data: `${id}:${index}` }));
}

function withHints({ text, options, kind }: Question, hasButtons: boolean): string {
  if (hasButtons) return text;
  if (kind === "approval") return `${text}\n\nAnswer with /approve, /approve session or /deny.`;
  const lines = options.map(({ label }, index) => `${index + 1}. ${label}`);
  return lines.length === 0 ? text : `${text}\n\n${lines.join("\n")}\n\nAnswer with a number or in your own words.`;
}

/** The value that a text means for a question: of a number, of an option's label, or the text itself. */
export function answerIn(text: string, options: readonly Option[]): string {
  const wanted = text.trim();
  const byNumber = /^\d{1,2}$/.test(wanted) ? options[Number(wanted) - 1] : undefined;
  const byLabel = options.find(({ label }) => label.toLowerCase() === wanted.toLowerCase());
  return (byNumber ?? byLabel)?.value ?? wanted;
}
