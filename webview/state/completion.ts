/** The word at the caret that a list completes: a slash command, or a mention after `@`. */
import type { AvailableCommand } from "@zed-industries/agent-client-protocol";
import type { MentionItem } from "../../agent-core/protocol/attachments.ts";
import { t } from "../texts.ts";

/** `start` and `end`: range of the word in the text, with its `/` or `@`. */
export type CompletedWord = {
  readonly kind: "command" | "mention";
  /** The word without its first character. */
  readonly query: string;
  readonly start: number;
  readonly end: number;
};

/** Limit of the word after `@` in a mention. Characters. */
const QUERY_CHARS = 200;

/** Not inside of an address. Chinese and Japanese have no blanks between words, and their input methods write a wide `＠`. */
const MENTION = new RegExp(String.raw`(?<![\w.%+@-])[@＠]([^\s@＠]{0,${QUERY_CHARS}})$`);

/** Undefined when no list belongs to the caret. A command is the whole text. */
export function wordAt(text: string, caret: number): CompletedWord | undefined {
  const [, command] = text.length <= QUERY_CHARS ? (/^[/／、]([\w-]*)$/.exec(text) ?? []) : [];
  if (command !== undefined) return { kind: "command", query: command, start: 0, end: text.length };
  // The character before the longest word is included.
  const before = text.slice(Math.max(0, caret - QUERY_CHARS - 2), caret);
  const [, query] = MENTION.exec(before) ?? [];
  return query === undefined ? undefined : { kind: "mention", query, start: caret - query.length - 1, end: caret };
}

/** The text without the word, and without one of two spaces around it. */
export function withoutWord(text: string, { start, end }: CompletedWord): string {
  const [before, after] = [text.slice(0, start), text.slice(end)];
  const isDouble = /(^|\s)$/.test(before) && after.startsWith(" ");
  return `${before}${isDouble ? after.slice(1) : after}`;
}

/** A sentence keeps the name of what it mentions: `compare a.ts with b.ts`. The caret is behind it. Empty name: none. */
export function withName(
  text: string,
  word: CompletedWord,
  name: string,
): { readonly text: string; readonly caret: number } {
  const [before, after] = [text.slice(0, word.start), text.slice(word.end)];
  if (name === "" || `${before}${after}`.trim() === "") return { text: withoutWord(text, word), caret: word.start };
  const named = after === "" ? `${name} ` : name;
  return { text: `${before}${named}${after}`, caret: word.start + named.length };
}

/** Text with `@` at the caret, as the start of a word, and the caret behind it. */
export function withMention(text: string, caret: number): { readonly text: string; readonly caret: number } {
  const [before, after] = [text.slice(0, caret), text.slice(caret)];
  const mark = /(^|[\s([{"'])$/.test(before) ? "@" : " @";
  const space = after === "" || /^\s/.test(after) ? "" : " ";
  return { text: `${before}${mark}${space}${after}`, caret: caret + mark.length };
}

export function matchingCommands(
  commands: readonly AvailableCommand[],
  { query }: CompletedWord,
): readonly AvailableCommand[] {
  return commands.filter(({ name }) => name.startsWith(query));
}

export type MentionGroup = { readonly name: string; readonly items: readonly MentionItem[] };

/** Groups in the order of their best matches. The order inside a group stays. */
export function mentionGroups(items: readonly MentionItem[]): readonly MentionGroup[] {
  return [...Map.groupBy(items, groupOf)].map(([name, grouped]) => ({ name, items: grouped }));
}

function groupOf({ attachment, icon }: MentionItem): string {
  switch (attachment.kind) {
    case "file":
    case "folder":
      return t("Files");
    case "session":
      return t("Sessions");
    case "lines":
      return icon === undefined ? t("Editor") : t("Symbols");
    default:
      return t("Editor");
  }
}
