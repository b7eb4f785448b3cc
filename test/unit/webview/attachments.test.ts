import type { ContentBlock } from "@zed-industries/agent-client-protocol";
import { describe, expect, test } from "vitest";
import type { Attachment } from "../../../agent-core/protocol/attachments.ts";
import type { PanelEvent } from "../../../agent-core/protocol/panel-events.ts";
import {
  attachmentIn,
  type Draft,
  emptyDraft,
  folderAmong,
  placeOf,
  shortLabel,
  titleOf,
  toAttachment,
  withAttachments,
} from "../../../webview/state/attachments.ts";
import { reduceAll } from "../../../webview/state/reduce.ts";
import { emptyState } from "../../../webview/state/state.ts";
import { wholeText } from "../../../webview/state/streamed-text.ts";

const file = (path: string): Attachment => ({ kind: "file", uri: `file://${path}`, label: path });
const lines: Attachment = { kind: "lines", uri: "file:///w/a%20b.ts", label: "a b.ts:2-4", start: 2, end: 4 };
const text: Attachment = { kind: "text", label: "Pasted", text: "x" };

test("files of the same name have as much of their folders as tells them apart", () => {
  const named = (path: string): Attachment => ({ ...file(path), label: "index.ts" }) as Attachment;
  const all = [
    named("/w/a/src/index.ts"),
    named("/w/b/src/index.ts"),
    named("/w/test/index.ts"),
    file("/w/b.ts"),
    text,
  ];
  expect(all.map((one) => folderAmong(all, one))).toEqual(["a/src", "b/src", "test", undefined, undefined]);
  const twice = [text, { ...text }];
  expect(twice.map((one) => folderAmong(twice, one))).toEqual([undefined, undefined]);
});

describe("a draft", () => {
  test("has the same file only once, and every pasted text", () => {
    const draft = withAttachments(emptyDraft, [file("/a"), text, file("/a"), text]);
    const again = withAttachments(draft, [{ ...file("/a"), label: "other" }, lines, file("/b")]);
    expect(again.attachments).toEqual([file("/a"), text, text, lines, file("/b")]);
  });

  test("refuses more attachments than a message may have, and says so until the next change", () => {
    const many = Array.from({ length: 103 }, (_, index) => file(`/${index}`));
    const draft: Draft = withAttachments(emptyDraft, many);
    expect([draft.attachments.length, draft.note]).toEqual([
      100,
      "A message has at most 100 attachments: 3 were left out.",
    ]);
    expect(withAttachments({ ...draft, attachments: [] }, []).note).toBeUndefined();
  });
});

test.each<[Attachment, string, ReturnType<typeof placeOf>]>([
  [file("/w/a.ts"), "File: /w/a.ts", { path: "/w/a.ts" }],
  [file("/c%3A/w/a.ts"), "File: c:/w/a.ts", { path: "c:/w/a.ts" }],
  [
    { kind: "file", uri: "file://server/share/a.ts", label: "a.ts" },
    "File: //server/share/a.ts",
    { path: "//server/share/a.ts" },
  ],
  [lines, "Lines: /w/a b.ts:2-4", { path: "/w/a b.ts", line: 2 }],
  [{ kind: "folder", uri: "file:///w", label: "w" }, "Folder: /w", undefined],
  [{ kind: "file", uri: "file:///%ff", label: "bad" }, "File: file:///%ff", undefined],
  [{ kind: "file", uri: "vscode-vfs://github/a", label: "a" }, "File: vscode-vfs://github/a", undefined],
  [{ kind: "session", sessionId: "s", label: "Fix" }, "Session: Fix", undefined],
])("%o has the title %s", (attachment, title, place) => {
  expect(titleOf(attachment)).toBe(title);
  expect(placeOf(attachment)).toEqual(place);
});

test("a label is one short line that disturbs nothing around it", () => {
  expect(shortLabel(`a\n\u001B[31m\u202Eb`)).toBe("a ⟨U+001B⟩[31m⟨U+202E⟩b");
  expect(shortLabel("n".repeat(10_000))).toHaveLength(201);
  expect(shortLabel(" \n ")).toBe("(no name)");
});

test.each([
  undefined,
  "file",
  { kind: "file", label: "a" },
  { kind: "lines", uri: "file:///a", label: "a", start: "1", end: 2 },
  { kind: "picture", label: "a", mimeType: "image/svg+xml", data: "" },
  { kind: "constructor", label: "a" },
])("%o is no attachment", (value) => {
  expect(toAttachment(value)).toBeUndefined();
});

describe("a replayed message", () => {
  const meta = (attachment: object) => ({ _meta: { hermes: { attachment } } });
  const picture = { kind: "picture", label: "shot.png", mimeType: "image/png" } as const;
  const blocks: readonly ContentBlock[] = [
    { type: "text", text: "look" },
    { type: "resource_link", uri: "file:///a", name: "a", ...meta({ kind: "file", uri: "file:///a", label: "a" }) },
    {
      type: "resource",
      resource: { uri: "hermes:text/Pasted", text: "x" },
      ...meta({ kind: "text", label: "Pasted" }),
    },
    { type: "resource", resource: { uri: "file:///w/a", text: "two" }, ...meta(lines) },
    { type: "image", mimeType: "image/png", data: "AAAA", ...meta(picture) },
  ];

  test("shows its blocks as the attachments that they were", () => {
    const replay = blocks.map((content): PanelEvent => {
      const update = { sessionUpdate: "user_message_chunk", content, messageId: "m" } as const;
      return { kind: "update", update };
    });
    const { open } = reduceAll(emptyState, replay, 0);
    expect(open && wholeText(open.text)).toBe("look");
    expect(open?.attachments).toEqual([
      { kind: "file", uri: "file:///a", label: "a" },
      text,
      lines,
      { ...picture, data: "AAAA" },
    ]);
  });

  test("shows links and pictures of other clients as attachments too", () => {
    expect(attachmentIn({ type: "resource_link", uri: "file:///b", name: "b" })).toEqual({
      kind: "file",
      uri: "file:///b",
      label: "b",
    });
    expect(attachmentIn({ type: "image", mimeType: "image/png", data: "AA" })).toMatchObject({ label: "Picture" });
    expect(attachmentIn({ type: "image", mimeType: "image/svg+xml", data: "AA" })).toBeUndefined();
    expect(attachmentIn({ type: "text", text: "a" })).toBeUndefined();
  });
});
