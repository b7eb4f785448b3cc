/** Internal message format in OpenAI style; only the wires convert it for their providers. Plain data that can be cloned. */

/** Attachment as the client sent it: a link with a name, or a resource with a text. Models get the part's text. */
export type AttachedPart = {
  readonly uri: string;
  /** Of a link. */
  readonly name?: string;
  readonly mimeType?: string;
  /** The client's reference, which it gets back in a replay. */
  readonly reference?: unknown;
};

/** Text in a user message: typed, or of an attachment. */
export type TextPart = { readonly type: "text"; readonly text: string; readonly attached?: AttachedPart };

/** Image in a user message; `url` is a data URL (`data:image/png;base64,…`). */
export type ImagePart = {
  readonly type: "image_url";
  readonly image_url: { readonly url: string };
  /** As in AttachedPart. */
  readonly reference?: unknown;
};

export type ContentPart = TextPart | ImagePart;

/** All text of a user message; `image` stands for each picture. Default: none. */
export function contentText(content: UserMessage["content"], separator = "\n", image?: string): string {
  if (typeof content === "string") return content;
  return content
    .map((part) => (part.type === "text" ? part.text : image))
    .filter((text) => text !== undefined)
    .join(separator);
}

/** The text that the user typed, without attachments. */
export function typedText(content: UserMessage["content"], separator = "\n\n"): string {
  if (typeof content === "string") return content;
  return content
    .flatMap((part) => (part.type === "text" && part.attached === undefined ? [part.text] : []))
    .join(separator);
}

/** Tool call of a model; `arguments` is JSON text, repaired if the model wrote broken JSON that could be repaired. */
export type ToolCall = {
  readonly id: string;
  readonly type: "function";
  readonly function: { readonly name: string; readonly arguments: string };
  /** Opaque fields that the server sent with the call, such as Gemini's signature. Only its `origin` gets them back. */
  readonly extra?: Readonly<Record<string, unknown>>;
};

export type SystemMessage = { readonly role: "system"; readonly content: string };

export type UserMessage = {
  readonly role: "user";
  readonly content: string | readonly ContentPart[];
  /** The agent wrote this message; people do not see it. */
  readonly synthetic?: true;
};

export type AssistantMessage = {
  readonly role: "assistant";
  /** Null for an answer of tool calls only. */
  readonly content: string | null;
  readonly tool_calls?: readonly ToolCall[];
  /** Reasoning that the user sees. */
  readonly reasoning?: string;
  /** Opaque parts (signatures, encrypted items, places of the reasoning). Only `origin` gets them back, unchanged. */
  readonly reasoning_details?: readonly unknown[];
  /** Server of the opaque parts (`originOf`). Older journals lack it: then every server gets the parts of its API. */
  readonly origin?: string;
  /** Reason why the answer broke off, as a sentence. People keep such an answer; no model gets it as an answer. */
  readonly unfinished?: string;
};

/** Image in a tool's result; `data` is base64. */
export type ToolImage = { readonly mimeType: string; readonly data: string };

export type ToolMessage = {
  readonly role: "tool";
  readonly tool_call_id: string;
  readonly content: string;
  /** Sent to a model that accepts images. Any other model gets a line of text in place of each. */
  readonly images?: readonly ToolImage[];
};

export type Message = SystemMessage | UserMessage | AssistantMessage | ToolMessage;

/** The pictures of a message: base64, or data URLs. */
export function picturesOf(message: Message): readonly string[] {
  if (message.role === "tool") return (message.images ?? []).map(({ data }) => data);
  if (message.role !== "user" || typeof message.content === "string") return [];
  return message.content.flatMap((part) => (part.type === "text" ? [] : [part.image_url.url]));
}

/** The message with `content` in place of its texts and pictures. Only the user's messages and results are replaced. */
export function withContent(message: Message, content: string): Message {
  if (message.role === "user") return { ...message, content };
  if (message.role !== "tool") return message;
  const { images: _, ...rest } = message;
  return { ...rest, content };
}

/** Lines in a fence: output and code that the user quotes, and did not say. */
const FENCED = /^ {0,3}(`{3,}|~{3,})[^\n]*\n([\s\S]*?)(?:^ {0,3}\1[`~]*[ \t]*$|(?![\s\S]))/gm;

/** A typed text without the blocks that it quotes, and these blocks. */
export function ownWords(typed: string): { readonly own: string; readonly quoted: readonly string[] } {
  const quoted = [...typed.matchAll(FENCED)].map(([, , inner = ""]) => inner);
  return { own: typed.replace(FENCED, ""), quoted };
}

/** The fence is longer than any run of back-ticks in the text. */
export function fenced(text: string, language = ""): string {
  const longest = Math.max(0, ...[...text.matchAll(/`{3,}/g)].map(([run]) => run.length));
  const fence = "`".repeat(Math.max(3, longest + 1));
  return `${fence}${language}\n${text}\n${fence}`;
}
