/** A title for a session, after its first exchange: by a model of its own where there is one, else by its first words. */
import type { Message } from "../messages/message.ts";
import { titleLine } from "../sessions/titles.ts";
import type { Auxiliary } from "./auxiliary.ts";

/** Characters. */
const MAX_TITLE_CHARS = 60;
/** Of what was said first, this much is shown to the model. Characters. */
const MAX_SHOWN_CHARS = 2_000;

const REQUEST =
  "Give a title of 3 to 7 words for the conversation that begins with the following message. " +
  "Answer with the title alone, in the language of the message.";

/** Undefined when nothing was said that could be one. Throws the signal's reason when it is aborted. */
export async function sessionTitle(
  messages: readonly Message[],
  auxiliary: Auxiliary,
  signal: AbortSignal,
): Promise<string | undefined> {
  const first = messages.find((message) => message.role === "user");
  const said = first === undefined ? "" : textOf(first.content);
  if (said.trim() === "") return undefined;
  // Whoever pays for a model has not asked to pay for titles: only a model that was named for them makes them.
  if (auxiliary.ownModel("title_generation") === undefined) return cut(said);
  const answer = await auxiliary.ask("title_generation", {
    messages: [
      { role: "system", content: REQUEST },
      { role: "user", content: said.slice(0, MAX_SHOWN_CHARS).toWellFormed() },
    ],
    signal,
  });
  return cut((answer.ok && answer.text) || said);
}

function textOf(content: Extract<Message, { role: "user" }>["content"]): string {
  return typeof content === "string"
    ? content
    : content.map((part) => (part.type === "text" ? part.text : "")).join(" ");
}

/** One line, ended at a word. */
function cut(text: string): string {
  const line = titleLine(text).replace(/^["'“„]+|["'”.]+$/g, "");
  if (line.length <= MAX_TITLE_CHARS) return line;
  const head = line.slice(0, MAX_TITLE_CHARS);
  const atWord = head.lastIndexOf(" ");
  return `${(atWord > MAX_TITLE_CHARS / 2 ? head.slice(0, atWord) : head).toWellFormed()}…`;
}
