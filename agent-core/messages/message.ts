/**
 * The internal message format: OpenAI style everywhere inside, converted only at a wire.
 * Plain, structured-cloneable data; nothing here knows a provider.
 */

/** Text inside a user message. */
export type TextPart = { readonly type: "text"; readonly text: string };

/** An image inside a user message; `url` is a data URL (`data:image/png;base64,…`). */
export type ImagePart = { readonly type: "image_url"; readonly image_url: { readonly url: string } };

export type ContentPart = TextPart | ImagePart;

/** One call of a tool as the model wrote it; `arguments` is the raw JSON text. */
export type ToolCall = {
  readonly id: string;
  readonly type: "function";
  readonly function: { readonly name: string; readonly arguments: string };
};

export type SystemMessage = { readonly role: "system"; readonly content: string };

export type UserMessage = {
  readonly role: "user";
  readonly content: string | readonly ContentPart[];
  /** Said by the agent itself, in the user's place; not shown to people. */
  readonly synthetic?: true;
};

export type AssistantMessage = {
  readonly role: "assistant";
  /** `null` when the model answered with tool calls only. */
  readonly content: string | null;
  readonly tool_calls?: readonly ToolCall[];
  /** Reasoning as shown to the user. */
  readonly reasoning?: string;
  /** Provider-opaque reasoning parts (signatures, encrypted items), sent back unchanged. */
  readonly reasoning_details?: readonly unknown[];
  /** Why it was broken off, as a sentence. It is what people saw of it: they keep it, and no model ever gets it. */
  readonly unfinished?: string;
};

export type ToolMessage = { readonly role: "tool"; readonly tool_call_id: string; readonly content: string };

export type Message = SystemMessage | UserMessage | AssistantMessage | ToolMessage;
