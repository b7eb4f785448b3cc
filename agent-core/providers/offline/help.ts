/** What the offline interpreter says of itself. */
import { grammar } from "./grammar.ts";

const LABEL = "I am the built-in **offline** interpreter, not a language model.";

const HOW_TO_GET_A_MODEL = [
  "For a real model set a key: `OPENAI_API_KEY`, `OPENROUTER_API_KEY`, `ANTHROPIC_API_KEY`, or `HERMES_API_KEY` with `HERMES_BASE_URL` and `HERMES_MODEL`",
  "(in the environment or in `~/.hermes/.env`), or run **Hermes: Set API Key** in VS Code.",
  "A local server needs no key: `HERMES_PROVIDER=ollama` (or `lmstudio`, `llamacpp`) and `HERMES_MODEL`.",
].join(" ");

/** Longest part of a request that is repeated. Characters. */
const SHOWN_CHARS = 120;

export function helpText(): string {
  const examples = grammar.flatMap(({ usage }) => usage).map((usage) => `- \`${usage}\``);
  return [
    `${LABEL} I understand a few requests in plain words:`,
    "",
    ...examples,
    "",
    'Several may be joined with "then". Put quotes around a text or a path where it could be misread.',
    "",
    HOW_TO_GET_A_MODEL,
  ].join("\n");
}

/** Help that first says which words were not understood. */
export function notUnderstoodText(words: string): string {
  return words === "" ? helpText() : `I do not understand: ${shortened(words)}\n\n${helpText()}`;
}

function shortened(words: string): string {
  const line = words.slice(0, SHOWN_CHARS).toWellFormed().replace(/\s+/g, " ");
  return words.length > SHOWN_CHARS ? `${line}…` : line;
}
