/** From a message in plain words to steps. */
import { rules } from "./rules.ts";
import type { OfflineStep } from "./step.ts";

/** The steps that `text` asks for, in order; undefined when any part of it is not understood. */
export function parseRequest(text: string): readonly OfflineStep[] | undefined {
  const steps = splitSteps(text).map(parseStep);
  return steps.length > 0 && steps.every((step) => step !== undefined) ? steps : undefined;
}

function parseStep(words: string): OfflineStep | undefined {
  for (const rule of rules) {
    const step = rule.parse(words);
    if (step !== undefined) return step;
  }
  return undefined;
}

/** "then" joins steps, but not inside quotes. */
function splitSteps(text: string): readonly string[] {
  const quotes: string[] = [];
  const masked = text.replace(/"[^"]*"|'[^'\n]*'|`[^`]*`|“[^”]*”/g, (quote) => `⟦${quotes.push(quote) - 1}⟧`);
  return masked
    .split(/\s*[,;.]?\s+(?:and\s+)?then\s+|\n+/i)
    .map((part) => part.replace(/⟦(\d+)⟧/g, (_, index: string) => quotes[Number(index)] ?? ""))
    .map((part) =>
      part
        .trim()
        .replace(/^please\s+/i, "")
        .replace(/(?<=\w)[.!]$/, ""),
    )
    .filter((part) => part !== "");
}
