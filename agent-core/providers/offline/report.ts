/** The closing words of the offline interpreter: what was done, what failed, what is left, with the real results. */
import type { ToolMessage } from "../../messages/message.ts";
import type { OfflineStep } from "./form.ts";

/** The agent begins the text of a failed call with this. */
const FAILED = "Error: ";
/** Tools whose result is an edit. */
const EDITS: ReadonlySet<string> = new Set(["patch", "write_file"]);
/** Longest part of a result that is quoted. Characters. */
const QUOTED_CHARS = 1_500;

export function isFailure({ content }: ToolMessage): boolean {
  return content.startsWith(FAILED);
}

/** `results` are those of the first steps, in order. */
export function reportOf(steps: readonly OfflineStep[], results: readonly ToolMessage[]): string {
  const parts = steps.slice(0, results.length).map((step, index) => outcome(step, results[index]?.content ?? ""));
  const left = steps.slice(results.length);
  if (left.length > 0) parts.push(`Not done: ${left.map(({ title }) => title).join("; ")}.`);
  return parts.join("\n\n");
}

function outcome({ tool, title, report }: OfflineStep, content: string): string {
  if (content.startsWith(FAILED)) return `**${title}** did not work:\n\n${quote(content.slice(FAILED.length))}`;
  if (report !== undefined) return report(content);
  // An edit is on screen already, as a diff where it was made.
  return EDITS.has(tool) ? `**${title}**: done.` : `**${title}**: done.\n\n${quote(content)}`;
}

function quote(text: string): string {
  const cut = text.length > QUOTED_CHARS ? `${text.slice(0, QUOTED_CHARS).toWellFormed()}\n…` : text;
  const longest = Math.max(2, ...(cut.match(/`+/g) ?? []).map((run) => run.length));
  const fence = "`".repeat(longest + 1);
  return `${fence}text\n${cut}\n${fence}`;
}
