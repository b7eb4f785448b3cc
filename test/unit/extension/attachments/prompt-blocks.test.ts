import { expect, test } from "vitest";
import { type Attachment, attachmentOf } from "../../../../agent-core/protocol/attachments.ts";
import { type AttachmentReader, promptBlocks } from "../../../../extension/attachments/prompt-blocks.ts";

const gone = () => Promise.reject(new Error("it was deleted"));
const texts: AttachmentReader["texts"] = {
  lines: async () => "one\ntwo",
  problems: async () => "a.ts:1: error",
  changes: async () => "+one",
  terminal: async () => "$ ls",
  session: gone,
};
const uri = "file:///w/a.ts";
const reader: AttachmentReader = { texts, isMissing: async (uri) => uri.endsWith("/gone.ts") };
const none = (problem: string): never => {
  throw new Error(problem);
};
const attachments: readonly Attachment[] = [
  { kind: "file", uri, label: "a.ts" },
  { kind: "lines", uri, label: "total", start: 3, end: 4 },
  { kind: "problems", label: "Problems" },
  { kind: "terminal", label: "bash", name: "bash" },
  { kind: "changes", label: "Git changes" },
  { kind: "text", label: "Pasted", text: "long" },
  { kind: "picture", label: "Shot", mimeType: "image/png", data: "AAAA" },
];

test("each attachment is one block, which names the attachment again", async () => {
  const blocks = await promptBlocks({ text: "look", attachments }, reader, none);
  expect(blocks.map(({ type }) => type)).toEqual(["text", "resource_link", ...Array(5).fill("resource"), "image"]);
  expect(blocks[2]).toMatchObject({ resource: { uri: `${uri}#L3-L4`, text: "one\ntwo" } });
  expect(JSON.stringify(blocks.map(({ _meta }) => _meta))).not.toMatch(/long|AAAA/);
  expect(blocks.flatMap((block) => attachmentOf(block) ?? [])).toEqual(attachments);
});

test("an attachment that cannot be read says so in its place and to the user, and attachments need no text", async () => {
  const session: Attachment = { kind: "session", sessionId: "s", label: "Old talk" };
  const told: string[] = [];
  const report = (problem: string): void => void told.push(problem);
  const [block, ...others] = await promptBlocks({ text: " ", attachments: [session] }, reader, report);
  expect(others).toEqual([]);
  expect(block).toMatchObject({ resource: { text: "[Old talk could not be attached: it was deleted]" } });
  const gone: Attachment = { kind: "file", uri: "file:///w/gone.ts", label: "gone.ts" };
  await promptBlocks({ text: "look", attachments: [gone] }, reader, report);
  expect(told).toEqual([
    "Old talk could not be attached: it was deleted",
    "gone.ts no longer exists, so it cannot be read.",
  ]);
});

test("blocks of other clients become attachments too, and text does not", () => {
  expect(attachmentOf({ type: "text", text: "x" })).toBeUndefined();
  const of = (resource: { uri: string; text: string }) => attachmentOf({ type: "resource", resource });
  expect(of({ uri: "file:///w/b%20c.ts", text: "x" })).toEqual({ kind: "text", label: "b c.ts", text: "x" });
  expect(attachmentOf({ type: "resource_link", uri, name: "a" })).toEqual({ kind: "file", uri, label: "a" });
  const image = { type: "image", mimeType: "image/png", data: "AAAA" } as const;
  expect(attachmentOf(image)).toMatchObject({ kind: "picture", data: "AAAA" });
  expect(attachmentOf({ ...image, _meta: { hermes: { attachment: { kind: "lines" } } } })).toBeUndefined();
});
