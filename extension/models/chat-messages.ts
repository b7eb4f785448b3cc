/** Converts the agent's messages to those of VS Code's language model API. */
import * as vscode from "vscode";
import type { HermesChat } from "../../agent-core/protocol/editor-models.ts";

type Message = HermesChat["messages"][number];
type UserPart = vscode.LanguageModelTextPart | vscode.LanguageModelToolResultPart | vscode.LanguageModelDataPart;

/**
 * The API has no system role, so the system prompt becomes part of the first user message. Results of one answer share
 * a message.
 */
export function chatMessages(messages: readonly Message[]): vscode.LanguageModelChatMessage[] {
  const converted: vscode.LanguageModelChatMessage[] = [];
  let pending: UserPart[] = [];
  const flush = (): void => {
    if (pending.length > 0) converted.push(vscode.LanguageModelChatMessage.User(pending));
    pending = [];
  };
  for (const message of messages) {
    if (message.role === "assistant") {
      flush();
      converted.push(assistantMessage(message));
    } else pending.push(...userParts(message));
  }
  flush();
  return converted;
}

function userParts(message: Exclude<Message, { role: "assistant" }>): readonly UserPart[] {
  if (message.role === "tool") {
    const text = new vscode.LanguageModelTextPart(message.content);
    return [new vscode.LanguageModelToolResultPart(message.tool_call_id, [text])];
  }
  if (typeof message.content === "string") return [new vscode.LanguageModelTextPart(message.content)];
  return message.content.map((part) =>
    part.type === "text" ? new vscode.LanguageModelTextPart(part.text) : imagePart(part.image_url.url),
  );
}

function assistantMessage({
  content,
  tool_calls: calls = [],
}: Extract<Message, { role: "assistant" }>): vscode.LanguageModelChatMessage {
  return vscode.LanguageModelChatMessage.Assistant([
    ...(content ? [new vscode.LanguageModelTextPart(content)] : []),
    ...calls.map(
      ({ id, function: { name, arguments: json } }) =>
        new vscode.LanguageModelToolCallPart(id, name, parsedInput(json)),
    ),
  ]);
}

/** `url` is a data URL such as `data:image/png;base64,…`. */
function imagePart(url: string): vscode.LanguageModelDataPart {
  const [head = "", data = ""] = url.split(";base64,");
  return vscode.LanguageModelDataPart.image(Buffer.from(data, "base64"), head.replace(/^data:/, ""));
}

/**
 * Incomplete JSON becomes an empty input: a call that was cut off stays in the history, with an error as its result.
 */
function parsedInput(json: string): object {
  try {
    const value: unknown = JSON.parse(json);
    return typeof value === "object" && value !== null ? value : {};
  } catch {
    return {};
  }
}
