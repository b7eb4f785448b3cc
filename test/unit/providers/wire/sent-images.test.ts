import { expect, test } from "vitest";
import { estimateTokens } from "../../../../agent-core/context/token-meter.ts";
import type { Message, ToolMessage } from "../../../../agent-core/messages/message.ts";
import { lowerMessages } from "../../../../agent-core/providers/wire/anthropic-messages-history.ts";
import { chatCompletionsBody } from "../../../../agent-core/providers/wire/chat-completions-request.ts";
import { codexResponsesBody } from "../../../../agent-core/providers/wire/codex-responses-request.ts";
import { withImageMessages, withSentImages } from "../../../../agent-core/providers/wire/sent-images.ts";
import type { ModelRequest } from "../../../../agent-core/providers/wire/wire.ts";

const PNG = { mimeType: "image/png", data: "iVBORw0KGgo=" };
const URL_OF_PNG = "data:image/png;base64,iVBORw0KGgo=";

const result = (id: string, images: ToolMessage["images"] = [PNG]): ToolMessage => ({
  role: "tool",
  tool_call_id: id,
  content: `result ${id}`,
  images,
});

const CALLS: readonly Message[] = [
  { role: "user", content: "look" },
  {
    role: "assistant",
    content: null,
    tool_calls: ["a", "b"].map((id) => ({ id, type: "function", function: { name: "shot", arguments: "{}" } })),
  },
  result("a"),
  { role: "tool", tool_call_id: "b", content: "result b" },
];

const request = (messages: readonly Message[], model = "gpt-4.1"): ModelRequest => ({
  endpoint: { provider: "test", baseUrl: undefined, apiKey: undefined },
  model,
  messages,
  tools: [],
  sampling: {},
});

test("chat completions: the images follow all results in a message of the user", () => {
  const { messages } = chatCompletionsBody(request([...CALLS, { role: "assistant", content: "seen" }]), {});
  expect(messages.map(({ role }) => role)).toEqual(["user", "assistant", "tool", "tool", "user", "assistant"]);
  expect(messages[2]).toEqual({ role: "tool", tool_call_id: "a", content: "result a" });
  expect(messages[4]).toMatchObject({
    content: [{ type: "text" }, { type: "image_url", image_url: { url: URL_OF_PNG } }],
  });
});

test("the images join a message of the user that follows", () => {
  const moved = withImageMessages([...CALLS, { role: "user", content: "and now?" }]);
  expect(moved).toHaveLength(5);
  expect(moved[4]?.content).toEqual([
    expect.objectContaining({ type: "text" }),
    { type: "image_url", image_url: { url: URL_OF_PNG } },
    { type: "text", text: "and now?" },
  ]);
});

test("Anthropic: the images are in the tool's result", () => {
  expect(lowerMessages(CALLS).at(-1)?.content[0]).toEqual({
    type: "tool_result",
    tool_use_id: "a",
    content: [
      { type: "text", text: "result a" },
      { type: "image", source: { type: "base64", media_type: "image/png", data: PNG.data } },
    ],
  });
});

test("Responses: the images are in the call's output", () => {
  const { input } = codexResponsesBody(request(CALLS));
  expect(input).toContainEqual({
    type: "function_call_output",
    call_id: "a",
    output: [
      { type: "input_text", text: "result a" },
      { type: "input_image", image_url: URL_OF_PNG, detail: "auto" },
    ],
  });
});

test("a model that cannot see gets a line for the images", () => {
  expect(withSentImages(CALLS, false)[2]).toEqual({
    role: "tool",
    tool_call_id: "a",
    content: "result a\n[An image of this result: the user sees it, and you cannot.]",
  });
  expect(withSentImages(CALLS.slice(0, 2), false)).toEqual(CALLS.slice(0, 2));
});

test("older images are left out in steps, so that the provider's cache holds between them", () => {
  const sentOf = (count: number): readonly number[] =>
    withSentImages(
      Array.from({ length: count }, (_, index) => result(String(index))),
      true,
    ).flatMap((message, index) => (message.role === "tool" && message.images !== undefined ? [index] : []));
  expect(sentOf(16)).toHaveLength(16);
  expect(sentOf(17)[0]).toBe(8);
  expect(sentOf(24)[0]).toBe(8);
  expect(sentOf(25)[0]).toBe(16);
});

test("an image counts as a thousand tokens", () => {
  const [plain, seen] = [result("a", []), result("a", [PNG, PNG])];
  expect(estimateTokens([seen]) - estimateTokens([plain])).toBe(2_000);
});

const heads: Readonly<Record<string, string>> = {
  "image/png": "\x89PNG\r\n\x1a\n\0\0",
  "image/jpeg": "\xff\xd8\xff\xe0\0\x10JFIF",
  "image/webp": "RIFF\x10\0\0\0WEBPVP8 ",
  "image/gif": "GIF89a\x01\0\x01\0",
};
const base64 = (text: string): string => Buffer.from(text.padEnd(20, "\0"), "latin1").toString("base64");
const shown = (data: string, mimeType: string) =>
  ({ type: "image_url", image_url: { url: `data:${mimeType};base64,${data}` } }) as const;

test.each(Object.entries(heads))("a picture that is %s is sent as that, whatever its name says", (mimeType, head) => {
  const data = base64(head);
  const messages: Message[] = [
    { role: "user", content: [shown(data, "image/jpg"), { type: "text", text: "look" }] },
    ...CALLS.slice(1, 2),
    result("a", [{ mimeType: "image/heic", data }]),
  ];
  const [user, , tool] = withSentImages(messages, true);
  expect(user?.content?.[0]).toEqual(shown(data, mimeType));
  expect(tool).toMatchObject({ images: [{ mimeType, data }] });
});

test.each([
  ["BMP", "BM\x36\0\0\0"],
  ["SVG", "<svg xmlns='http"],
  ["HEIC", "\0\0\0\x18ftypheic"],
  ["AVIF", "\0\0\0\x20ftypavif"],
  ["TIFF", "II*\0"],
  ["PDF", "%PDF-1.7"],
])("a %s is left out with a line", (_, head) => {
  const data = base64(head);
  const messages: Message[] = [
    { role: "user", content: [shown(data, "image/png"), { type: "text", text: "look" }] },
    ...CALLS.slice(1, 2),
    result("a", [{ mimeType: "image/png", data }, PNG]),
  ];
  const [user, , tool] = withSentImages(messages, true);
  expect(user?.content?.[0]).toMatchObject({ type: "text", text: expect.stringContaining("left out") });
  expect(tool).toMatchObject({ images: [PNG], content: expect.stringContaining("left out") });
});

test("older pictures of the user leave too, and those of the last message stay", () => {
  const look = (): Message => ({
    role: "user",
    content: [shown(PNG.data, "image/png"), { type: "text", text: "look" }],
  });
  const answer: Message = { role: "assistant", content: "seen" };
  const many = Array.from({ length: 20 }, () => [look(), answer]).flat();
  const sent = JSON.stringify(withSentImages([...many, look()], true));
  expect(sent.split(PNG.data).length - 1).toBe(13);
  const once = { role: "user" as const, content: Array.from({ length: 30 }, () => shown(PNG.data, "image/png")) };
  expect(withSentImages([once], true)).toEqual([once]);
});
