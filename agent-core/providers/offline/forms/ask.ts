import type { OfflineForm } from "../form.ts";
import { formOf, textOf } from "../words.ts";

/** The tool takes no more. */
const MAX_CHOICES = 4;

const words = formOf(
  String.raw`ask\s+me\s*:?\s+(\S[\s\S]*?)(?:\s*[,:]?\s+(?:with\s+)?(?:the\s+)?(?:choices|options)\s*:?\s+(\S[\s\S]*?))?\s*$`,
);

/** `ask me which colour? choices red, green or blue`. */
export const ask: OfflineForm = {
  usage: ["ask me which colour? choices red, green or blue"],
  verbs: ["ask"],
  parse(request) {
    const [, asked, listed = ""] = words.exec(request) ?? [];
    if (asked === undefined) return undefined;
    const question = textOf(asked);
    const choices = listed
      .split(/\s*,\s*(?:or\s+)?|\s+or\s+/i)
      .map((choice) => textOf(choice.replace(/[.?!]$/, "")))
      .filter((choice) => choice !== "");
    return {
      title: `Ask: ${question}`,
      tool: "clarify",
      input: { question, choices: choices.slice(0, MAX_CHOICES) },
      report: (result) => `${question} ${result}`,
    };
  },
};
