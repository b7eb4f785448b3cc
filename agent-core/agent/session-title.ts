/** Title of a session that the user has not named. */
import { type Message, typedText, type UserMessage } from "../messages/message.ts";
import { titleLine } from "../sessions/titles.ts";
import type { Auxiliary } from "./auxiliary-models.ts";

/** Limit of a title in characters. */
const MAX_TITLE_CHARS = 60;
/** A shorter paragraph is a greeting. Characters. */
const LEAST_SUBJECT_CHARS = 10;
/** Length of the first message that the model sees, in characters. */
const MAX_SHOWN_CHARS = 2_000;

const TITLE_REQUEST =
  "Give a title of 3 to 7 words for the conversation that begins with the following message. " +
  "Answer with the title alone, in the language of the message.";

export type TitleRequest = {
  readonly messages: readonly Message[];
  readonly auxiliary: Auxiliary;
  /** False: the title is the beginning of the first message. */
  readonly byModel: boolean;
  readonly signal: AbortSignal;
  readonly onDefect: (message: string) => void;
};

/** Makes a title in the background, because no turn waits for it. `setTitle` is not called when the message has no text. */
export function makeTitle(request: TitleRequest, setTitle: (title: string) => void): void {
  const { signal, onDefect } = request;
  sessionTitle(request).then(
    (title) => title !== undefined && setTitle(title),
    (error: unknown) => signal.aborted || onDefect(`Could not create a title: ${String(error)}`),
  );
}

/** Title from the first message. Throws the signal's reason when it is aborted. */
async function sessionTitle({ messages, auxiliary, byModel, signal }: TitleRequest): Promise<string | undefined> {
  const first = messages.find((message) => message.role === "user");
  const subject = first === undefined ? "" : subjectOf(first.content);
  if (subject.trim() === "") return undefined;
  if (!byModel) return cutTitle(firstParagraph(subject));
  const answer = await auxiliary.ask("title_generation", {
    messages: [
      { role: "system", content: TITLE_REQUEST },
      { role: "user", content: subject.slice(0, MAX_SHOWN_CHARS).toWellFormed() },
    ],
    signal,
  });
  return cutTitle((answer.ok && answer.text) || firstParagraph(subject));
}

/** The typed text, or the names of the attachments of a message without text. */
function subjectOf(content: UserMessage["content"]): string {
  const typed = typedText(content, " ");
  if (typed.trim() !== "" || typeof content === "string") return typed;
  return content.flatMap((part) => (part.type === "text" ? (part.attached?.name ?? []) : ["Picture"])).join(", ");
}

/** The first paragraph says what a message is about, unless it is only a greeting. */
function firstParagraph(text: string): string {
  const [first = ""] = text.trim().split(/\n\s*\n/, 1);
  return first.length < LEAST_SUBJECT_CHARS ? text : first;
}

/** Shortens a title to one line that ends at a word. */
function cutTitle(text: string): string {
  const line = titleLine(text).replace(/^["'“„]+|["'”.]+$/g, "");
  if (line.length <= MAX_TITLE_CHARS) return line;
  const head = line.slice(0, MAX_TITLE_CHARS);
  const atWord = head.lastIndexOf(" ");
  return `${(atWord > MAX_TITLE_CHARS / 2 ? head.slice(0, atWord) : head).toWellFormed()}…`;
}
