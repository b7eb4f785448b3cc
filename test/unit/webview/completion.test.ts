import { describe, expect, test } from "vitest";
import type { MentionItem } from "../../../agent-core/protocol/attachments.ts";
import type { PanelMessage } from "../../../agent-core/protocol/panel-messages.ts";
import { MentionSearch } from "../../../webview/attaching.ts";
import {
  type CompletedWord,
  mentionGroups,
  withMention,
  withName,
  withoutWord,
  wordAt,
} from "../../../webview/state/completion.ts";

/** The word at `|`. */
const word = (marked: string) => wordAt(marked.replace("|", ""), marked.indexOf("|"));

describe("the word at the caret", () => {
  test.each([
    ["@|", { kind: "mention", query: "", start: 0, end: 1 }],
    ["see @src/pri| now", { kind: "mention", query: "src/pri", start: 4, end: 12 }],
    ["see (@a|)", { kind: "mention", query: "a", start: 5, end: 7 }],
    ["line\n@b|", { kind: "mention", query: "b", start: 5, end: 7 }],
    ["/comp|", { kind: "command", query: "comp", start: 0, end: 5 }],
  ])("%s is completed", (marked, expected) => {
    expect(word(marked)).toEqual(expected);
  });

  test.each(["me@example.com|", "@a b|", "@@|", "no| @a", "see /comp|", "", "@".padEnd(300, "a").concat("|")])(
    "%s is not completed",
    (marked) => {
      expect(word(marked)).toBeUndefined();
    },
  );

  test("disappears with one of the spaces around it", () => {
    expect(withoutWord("see @a now", { kind: "mention", query: "a", start: 4, end: 6 })).toBe("see now");
    expect(withoutWord("@a", { kind: "mention", query: "a", start: 0, end: 2 })).toBe("");
    expect(withoutWord("(@a)", { kind: "mention", query: "a", start: 1, end: 3 })).toBe("()");
  });

  test("leaves its name in a sentence", () => {
    const chosen = (marked: string) => {
      const { text, caret } = withName(marked.replace("|", ""), word(marked) as CompletedWord, "b.ts");
      return `${text.slice(0, caret)}|${text.slice(caret)}`;
    };
    expect(chosen("compare a.ts with @b|")).toBe("compare a.ts with b.ts |");
    expect(chosen("compare @b| with c.ts")).toBe("compare b.ts| with c.ts");
    expect(chosen("@b| is wrong")).toBe("b.ts| is wrong");
    expect(chosen(" @b|")).toBe(" |");
  });

  test("begins where the caret is, as a word of its own", () => {
    expect(withMention("", 0)).toEqual({ text: "@", caret: 1 });
    expect(withMention("see", 3)).toEqual({ text: "see @", caret: 5 });
    expect(withMention("ab", 1)).toEqual({ text: "a @ b", caret: 3 });
  });
});

const file = (label: string): MentionItem => ({
  attachment: { kind: "file", uri: `file:///${label}`, label },
  icon: "file",
  marks: [],
});
const symbol: MentionItem = {
  attachment: { kind: "lines", uri: "file:///a", label: "f()", start: 1, end: 2 },
  icon: "symbol-method",
  marks: [],
};
const problems: MentionItem = { attachment: { kind: "problems", label: "Problems" }, icon: "warning", marks: [] };

test("matches are in groups, the group of the best match first", () => {
  const groups = mentionGroups([symbol, file("a"), problems, file("b")]);
  expect(groups.map(({ name, items }) => [name, items.length])).toEqual([
    ["Symbols", 1],
    ["Files", 2],
    ["Editor", 1],
  ]);
});

describe("the search after @", () => {
  const posted: PanelMessage[] = [];
  const search = new MentionSearch((message) => posted.push(message));
  const answer = (id: number, ...items: readonly MentionItem[]): void =>
    search.receive({ type: "mentions", id, items, isComplete: true });

  test("keeps the matches until those of the longer word are there, and drops late ones", () => {
    search.search("a");
    search.search("a");
    answer(1, file("a"));
    search.search("ab");
    expect(posted).toEqual([
      { type: "mention-search", id: 1, query: "a" },
      { type: "mention-search", id: 2, query: "ab" },
    ]);
    expect(search.found.value).toMatchObject({ query: "a", items: [file("a")] });
    answer(1, file("late"));
    expect(search.found.value).toMatchObject({ query: "a", items: [file("a")] });
    answer(2, file("ab"));
    expect(search.found.value).toMatchObject({ query: "ab", items: [file("ab")] });
  });

  test("takes no answer after the list was closed", () => {
    search.close();
    answer(2, file("late"));
    expect(search.found.value).toBeUndefined();
  });
});
