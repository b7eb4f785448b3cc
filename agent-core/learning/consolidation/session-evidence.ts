/** Evidence of a session: the words of the user, the output of tools, and the agent's calls. */
import * as z from "zod";
import { HOOK_OF_RULES } from "../../hooks/hook.ts";
import { contentWords, holdsValue, sentencesOf } from "../../memory/statement.ts";
import { callsOf, ownWords, type ToolCall, typedText } from "../../messages/message.ts";
import { parseJson } from "../../platform/json.ts";
import type { Transcript, TranscriptMessage } from "../transcript.ts";

/** Words of a sentence that may state something. */
const STATEMENT_WORDS = 4;
/** Longest part of a message that is compared. Characters. */
const SPOKEN_CHARS = 8_000;
/** The host's words, which are no output, about an edit that the user refused, or undid before. */
const REFUSAL = /^.*the user (?:\(or a command\) undid|reviewed and rejected) .*$/im;

/** Tools whose results are what the agent knew before: text of its own, not of the session. */
const RECALL: ReadonlySet<string> = new Set([
  "memory",
  "session_search",
  "skill_view",
  "skills_list",
  "skill_manage",
  "todo",
]);

function callsBy(messages: readonly TranscriptMessage[]): readonly ToolCall[] {
  return messages.flatMap(({ message }) => callsOf(message));
}

/** Names of the called tools, by the ids of the calls. */
export function toolNames(messages: readonly TranscriptMessage[]): ReadonlyMap<string, string> {
  return new Map(callsBy(messages).map(({ id, function: { name } }) => [id, name] as const));
}

/** Calls whose results say nothing new: a recall, the agent's own edit, a call that a learnt rule refused. */
export function ownResults({ messages, happened }: Pick<Transcript, "messages" | "happened">): ReadonlySet<string> {
  const recalled = [...toolNames(messages)].flatMap(([id, name]) => (RECALL.has(name) ? [id] : []));
  const others = happened.flatMap((entry) => {
    if (entry.type === "tool") return entry.kind === "edit" && entry.ok ? [entry.callId] : [];
    const isRefused = entry.type === "hook" && entry.name === HOOK_OF_RULES && entry.outcome === "blocked";
    return isRefused && entry.callId !== undefined ? [entry.callId] : [];
  });
  return new Set([...recalled, ...others]);
}

/** Text that people and tools brought into a session, by message. */
export type Source = { readonly position: number; readonly by: "user" | "tool"; readonly text: string };

/** The messages that can be evidence: not the agent's own words, and nothing that the host or a recall brought in. */
export function sourcesOf(transcript: Pick<Transcript, "messages" | "happened">): readonly Source[] {
  const known = ownResults(transcript);
  const edits = transcript.happened.flatMap((entry) =>
    entry.type === "tool" && entry.kind === "edit" ? [entry.callId] : [],
  );
  return transcript.messages.flatMap(({ position, message }): readonly Source[] => {
    if (message.role === "tool") {
      const text = message.content.replace(edits.includes(message.tool_call_id) ? REFUSAL : "", "");
      return known.has(message.tool_call_id) ? [] : [{ position, by: "tool", text }];
    }
    if (message.role !== "user" || message.synthetic === true) return [];
    const attached =
      typeof message.content === "string"
        ? []
        : message.content.flatMap((part) => (part.type === "text" && part.attached !== undefined ? [part.text] : []));
    const { own, quoted } = ownWords(typedText(message.content, "\n"));
    return [
      { position, by: "user", text: own },
      ...quoted.map((text): Source => ({ position, by: "tool", text })),
      ...attached.map((text): Source => ({ position, by: "tool", text })),
    ];
  });
}

/** The words that the user typed. */
export function spokenIn({ message }: TranscriptMessage): string {
  return message.role === "user" && message.synthetic !== true ? typedText(message.content).slice(0, SPOKEN_CHARS) : "";
}

/**
 * Fate of a value that the agent used directly before the user's message with these words. `dropped`: the last call
 * about the same thing does without it, and the user did not object. `undone`: the words were all that the user said then and
 * later, the last call has the value again, and the user undid that as well. `open`: nobody knows. Undefined: it was not used.
 */
export function afterObjection(
  { messages, happened }: Pick<Transcript, "messages" | "happened">,
  { words, value }: { readonly words: string; readonly value: string },
): "dropped" | "undone" | "open" | undefined {
  const at = messages.findLastIndex((one) => spokenIn(one).includes(words));
  const before = messages.slice(0, Math.max(0, at)).findLastIndex((one) => spokenIn(one) !== "");
  const used = at < 0 ? [] : targetsIn(messages.slice(before, at)).filter((call) => holdsValue(call.text, value));
  if (used.length === 0) return undefined;
  const last = targetsIn(messages.slice(at)).findLast(({ target }) => used.some((call) => call.target === target));
  if (last === undefined) return "open";
  const verdicts = happened.flatMap((entry) => (entry.type === "verdict" ? [entry] : []));
  if (!holdsValue(last.text, value)) {
    const verdict = verdicts.findLast(({ path }) => path.endsWith(last.target));
    return verdict === undefined || verdict.outcome === "kept" ? "dropped" : "open";
  }
  const own = verdicts.filter(({ callId }) => callId === last.id);
  const isAll = messages.slice(at).map(spokenIn).join("").trim() === words.trim();
  return isAll && own.length > 0 && own.every(({ outcome }) => outcome === "undone") ? "undone" : "open";
}

/** Calls with what they are about: a path, else the tool. */
function targetsIn(messages: Transcript["messages"]): readonly Readonly<Record<"id" | "target" | "text", string>>[] {
  return callsBy(messages).map(({ id, function: { name, arguments: text } }) => {
    const path = pathSchema.safeParse(parseJson(text)).data?.path;
    return { id, target: path ?? name, text };
  });
}

const pathSchema = z.object({ path: z.string() });

/** Arguments of the agent's calls, parsed. */
export function callsIn(messages: Transcript["messages"]): readonly unknown[] {
  return callsBy(messages).map(({ function: call }) => parseJson(call.arguments));
}

/** Arguments of the agent's calls. */
export function actedIn({ messages }: Pick<Transcript, "messages">): string {
  return callsBy(messages)
    .map(({ function: call }) => call.arguments)
    .join("\n");
}

/**
 * The user's later messages from the first one on with a sentence that none of the quotes is from: what the user says after it
 * may take it back.
 */
export function unquoted(
  { messages }: Pick<Transcript, "messages">,
  quotes: readonly string[],
): Transcript["messages"] {
  const [, ...later] = messages.filter((one) => spokenIn(one) !== "");
  const isLeft = (sentence: string): boolean =>
    contentWords(sentence).length >= STATEMENT_WORDS &&
    !quotes.some((quote) => quote.includes(sentence) || sentence.includes(quote));
  const first = later.findIndex((one) => sentencesOf(spokenIn(one)).some(isLeft));
  return first < 0 ? [] : later.slice(first);
}

/** Commands that passed, in a session without an edit that the user took back. */
export function provenIn({ happened }: Transcript): ReadonlySet<string> {
  const isRejected = happened.some((entry) => entry.type === "verdict" && entry.outcome !== "kept");
  const passed = happened.flatMap((entry) =>
    entry.type === "tool" && entry.command?.exit === 0 ? [entry.command.text.trim()] : [],
  );
  return new Set(isRejected ? [] : passed);
}
