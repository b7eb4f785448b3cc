/** Completion of the word at the caret: commands from the session, mentions from the host's search. */
import type { Signal } from "@preact/signals";
import type { AvailableCommand } from "@zed-industries/agent-client-protocol";
import type { RefObject } from "preact";
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import type { MentionItem } from "../../../agent-core/protocol/attachments.ts";
import type { Mentions } from "../../attaching.ts";
import type { Panel } from "../../panel.ts";
import { type Draft, lookOf, shortLabel, titleOf, withAttachments, withText } from "../../state/attachments.ts";
import {
  type CompletedWord,
  matchingCommands,
  mentionGroups,
  withMention,
  withName,
  withoutWord,
  wordAt,
} from "../../state/completion.ts";
import { extensionsOf } from "../../state/extensions.ts";
import { t } from "../../texts.ts";
import { nameOf } from "../keys.ts";
import { usePanel } from "../panel-context.ts";
import type { ListRow } from "./completion-list.tsx";

export type CompletionTarget = {
  readonly field: RefObject<HTMLTextAreaElement | null>;
  readonly draft: Signal<Draft>;
  readonly commands: readonly AvailableCommand[];
  /** Replaces the text, and moves the caret. */
  readonly replace: (draft: Draft, caret: number) => void;
  /** Takes a key that waited for the list, which stayed empty. */
  readonly onKey: (event: KeyboardEvent) => void;
};

export type Completion = {
  /** Undefined while no list is open. */
  readonly list: CompletionContent | undefined;
  /** Index of the row that Enter takes. */
  readonly chosen: number;
  /** Takes a key of the list; false for any other key. */
  readonly onKeyDown: (event: KeyboardEvent) => boolean;
  /** The caret may have moved. */
  readonly onCaret: () => void;
  /** Inserts an @ at the caret, which opens the list. */
  readonly mention: () => void;
  /** The user has typed. */
  readonly onType: () => void;
  readonly onBlur: () => void;
};

export type CompletionContent = {
  readonly label: string;
  readonly rows: readonly ListRow[];
  readonly note: string | undefined;
};

export function useCompletion(target: CompletionTarget): Completion {
  const { field, draft, commands } = target;
  const panel = usePanel();
  const { text } = draft.value;
  const [caret, setCaret] = useState<number | undefined>(undefined);
  const [dismissed, dismiss] = useState<number | undefined>(undefined);
  const [choice, choose] = useState<Choice>(FIRST);
  const waiting = useRef<KeyboardEvent | undefined>(undefined);
  /** The button inserted the @: the word is no part of a sentence. */
  const isByButton = useRef(false as boolean);
  const found = caret === undefined ? undefined : wordAt(text, caret);
  const word = found !== undefined && found.start !== dismissed ? found : undefined;
  const mentions = useMentions(word);
  const list = word && contentOf(word, mentions, { ...target, panel, commands, isByButton });
  const rows = list?.rows ?? [];
  const chosen = indexOf(choice, rows);
  const isSearching = mentions?.query !== word?.query || (mentions?.isComplete === false && rows.length === 0);
  const isWaiting = word?.kind === "mention" && isSearching;
  useLayoutEffect(() => {
    if (found !== undefined) return;
    dismiss(undefined);
    isByButton.current = false;
  }, [found === undefined]);
  useLayoutEffect(() => {
    const key = waiting.current;
    if (key === undefined || isWaiting) return;
    waiting.current = undefined;
    if (rows.length > 0) rows[chosen]?.choose();
    else if (word !== undefined) target.onKey(key);
  });
  const onCaret = (): void => setCaret(field.current?.selectionStart);
  // Until the matches of the present word are there, the keys wait for them: the rows are those of an earlier word.
  const take = (event: KeyboardEvent): boolean => {
    waiting.current = isWaiting ? event : undefined;
    if (!isWaiting) rows[chosen]?.choose();
    return isWaiting || rows.length > 0;
  };
  const act: Readonly<Record<string, (event: KeyboardEvent) => boolean>> = {
    ArrowDown: () => step(1),
    ArrowUp: () => step(-1),
    Tab: take,
    Enter: (event) => !(word?.kind === "command" && rows.some(({ name }) => name === text.trim())) && take(event),
    Escape: () => {
      dismiss(word?.start);
      return true;
    },
  };
  const step = (by: number): boolean => {
    if (isWaiting) choose({ index: choice.index + by });
    else choose(choiceOf(chosen + by, rows));
    return isWaiting || rows.length > 0;
  };
  return {
    list,
    chosen,
    onKeyDown: (event) => list !== undefined && act[nameOf(event)]?.(event) === true,
    onCaret,
    mention: () => {
      isByButton.current = true;
      const { text: before } = draft.peek();
      const next = withMention(before, field.current?.selectionStart ?? before.length);
      target.replace(withText(draft.peek(), next.text), next.caret);
    },
    onType: () => {
      waiting.current = undefined;
      choose(FIRST);
      onCaret();
    },
    onBlur: () => setCaret(undefined),
  };
}

/** The row that the arrow keys chose. */
type Choice = {
  /** May lie outside the rows, which then count as a ring. */
  readonly index: number;
  /** Key of a row that was in the list: the choice stays with it when further matches arrive. */
  readonly key?: string | undefined;
};

const FIRST: Choice = { index: 0 };

function indexOf({ index, key }: Choice, rows: readonly ListRow[]): number {
  const kept = key === undefined ? -1 : rows.findIndex((row) => row.key === key);
  if (kept >= 0 || rows.length === 0) return Math.max(0, kept);
  return ((index % rows.length) + rows.length) % rows.length;
}

function choiceOf(index: number, rows: readonly ListRow[]): Choice {
  const inside = indexOf({ index }, rows);
  return { index: inside, key: rows[inside]?.key };
}

/** Matches for a mention; undefined before the first ones, and for any other word. */
function useMentions(word: CompletedWord | undefined): Mentions | undefined {
  const { mentions } = usePanel();
  const query = word?.kind === "mention" ? word.query : undefined;
  useLayoutEffect(() => {
    if (query !== undefined) mentions.search(query);
  }, [query]);
  const isOpen = query !== undefined;
  useLayoutEffect(() => {
    if (!isOpen) return undefined;
    return () => mentions.close();
  }, [isOpen]);
  return isOpen ? mentions.found.value : undefined;
}

type Choosing = CompletionTarget & { readonly panel: Panel; readonly isByButton: RefObject<boolean> };

function contentOf(
  word: CompletedWord,
  mentions: Mentions | undefined,
  choosing: Choosing,
): CompletionContent | undefined {
  if (word.kind === "mention") {
    return { label: t("Context"), rows: mentionRows(word, mentions, choosing), note: noteOf(mentions) };
  }
  const rows = matchingCommands(choosing.commands, word).map(({ name, description }) => ({
    key: name,
    name: `/${name}`,
    detail: description,
    choose: () => choosing.replace(withText(choosing.draft.peek(), `/${name} `), name.length + 2),
  }));
  return rows.length === 0 ? undefined : { label: t("Commands"), rows, note: undefined };
}

function noteOf(mentions: Mentions | undefined): string | undefined {
  if (mentions === undefined) return t("Searching…");
  if (!mentions.isComplete) return t("Still indexing the workspace…");
  if (mentions.query === "") return t("Type a name: files and folders, # for symbols.");
  return mentions.items.length === 0 ? t("No match") : undefined;
}

function mentionRows(word: CompletedWord, mentions: Mentions | undefined, choosing: Choosing): readonly ListRow[] {
  const agents = agentRows(word, choosing);
  const groups = mentionGroups(mentions?.items ?? []);
  const rows = groups.flatMap(({ name, items }) =>
    items.map((item, index) => ({
      ...mentionRow(item, () => choose(item)),
      group: index === 0 && (groups.length > 1 || agents.length > 0) ? name : undefined,
    })),
  );
  const { draft, replace, panel, isByButton } = choosing;
  const choose = ({ attachment }: MentionItem): void => {
    const name = isByButton.current ? "" : shortLabel(attachment.label);
    const { text, caret } = withName(draft.peek().text, word, name);
    replace(withAttachments(withText(draft.peek(), text), [attachment]), caret);
  };
  const pick = (): void => {
    replace(withText(draft.peek(), withoutWord(draft.peek().text, word)), word.start);
    panel.post({ type: "attach-pick" });
  };
  const disk = { key: "disk", icon: "folder-opened", name: t("Files and Pictures from Disk…"), choose: pick };
  const shown = [...agents, ...rows];
  return word.query === "" ? [...shown, disk] : shown;
}

/** Custom agents, which a message addresses by its first word. */
function agentRows({ start, end, query }: CompletedWord, { draft, replace, panel }: Choosing): readonly ListRow[] {
  if (draft.peek().text.slice(0, start).trim() !== "") return [];
  const agents = extensionsOf(panel.store.shown.value).filter(
    ({ kind, state, name }) => kind === "agent" && state === "on" && name.includes(query.toLowerCase()),
  );
  return agents.map(({ id, name, detail }, index) => ({
    key: id,
    icon: "robot",
    name: `@${name}`,
    detail,
    group: index === 0 ? t("Custom Agents") : undefined,
    choose: () =>
      replace(withText(draft.peek(), `@${name} ${draft.peek().text.slice(end).trimStart()}`), name.length + 2),
  }));
}

function mentionRow(
  { attachment, detail, icon = lookOf(attachment).icon, marks }: MentionItem,
  choose: () => void,
): ListRow {
  const { label } = attachment;
  const title = titleOf(attachment);
  return { key: `${title} ${shortLabel(label)}`, icon, name: label, marks, detail, title, choose };
}
