/** Lists VS Code's language models for the agent, and streams their answers. */
import * as vscode from "vscode";
import { attempt, messageOf } from "../../agent-core/platform/errors.ts";
import type {
  HermesChat,
  HermesChatDelta,
  HermesChatOutcome,
  HermesModelList,
} from "../../agent-core/protocol/editor-models.ts";

/** VS Code shows this when it asks the user for permission. */
const JUSTIFICATION = vscode.l10n.t("You chose this model in Hermes, so Hermes sends it your requests.");

type Part = HermesChatDelta["parts"][number];

export async function listEditorModels(): Promise<HermesModelList> {
  const models = await vscode.lm.selectChatModels();
  return {
    models: models.map((model) => ({
      id: idOf(model),
      name: model.name,
      vendor: model.vendor,
      maxInputTokens: model.maxInputTokens,
    })),
  };
}

/** `send` receives each part of the answer. Never rejects. */
export async function askEditorModel(
  { model: id, messages, tools }: HermesChat,
  send: (part: Part) => void,
  signal: AbortSignal,
): Promise<HermesChatOutcome> {
  const stop = new vscode.CancellationTokenSource();
  const cancel = (): void => stop.cancel();
  signal.addEventListener("abort", cancel, { once: true });
  try {
    const model = (await vscode.lm.selectChatModels()).find((candidate) => idOf(candidate) === id);
    if (model === undefined) {
      return { outcome: "failed", kind: "model-not-found", message: "VS Code no longer offers it" };
    }
    const options: vscode.LanguageModelChatRequestOptions = {
      justification: JUSTIFICATION,
      tools: tools.map(({ name, description, parameters }) => ({ name, description, inputSchema: { ...parameters } })),
    };
    const response = await model.sendRequest(chatMessages(messages), options, stop.token);
    let parts = 0;
    for await (const part of response.stream) {
      const known = partOf(part);
      if (known === undefined) continue;
      send(known);
      parts += 1;
    }
    return { outcome: "finished", parts };
  } catch (error) {
    return failure(error);
  } finally {
    signal.removeEventListener("abort", cancel);
    stop.dispose();
  }
}

/** Ids are unique only within a vendor. */
function idOf({ vendor, id }: vscode.LanguageModelChat): string {
  return `${vendor}/${id}`;
}

/** Undefined for parts of other kinds, which the API lets providers add. */
function partOf(part: unknown): Part | undefined {
  if (part instanceof vscode.LanguageModelTextPart) return { type: "text", text: part.value };
  if (part instanceof vscode.LanguageModelToolCallPart) {
    return { type: "call", callId: part.callId, name: part.name, input: part.input };
  }
  return reasoningPart(part);
}

/** Thinking parts are a proposed API, so their class may be missing. Their constructor's name identifies them. */
function reasoningPart(part: unknown): Part | undefined {
  if (typeof part !== "object" || part === null || !part.constructor.name.includes("Thinking")) return undefined;
  const value = "value" in part ? part.value : "";
  const text = Array.isArray(value) ? value.join("") : String(value);
  return text === "" ? undefined : { type: "reasoning", text };
}

const kinds: Readonly<Record<string, "model-not-found" | "not-allowed" | "blocked">> = {
  NotFound: "model-not-found",
  NoPermissions: "not-allowed",
  Blocked: "blocked",
};

function failure(error: unknown): HermesChatOutcome {
  const message = messageOf(error);
  const code = error instanceof vscode.LanguageModelError ? error.code : "";
  return { outcome: "failed", kind: kinds[code] ?? "failed", message };
}

type Message = HermesChat["messages"][number];
type UserPart = vscode.LanguageModelTextPart | vscode.LanguageModelToolResultPart | vscode.LanguageModelDataPart;

/**
 * Messages for VS Code's language model API. It has no system role, so the system prompt becomes part of the first user
 * message. Results of one answer share a message.
 */
function chatMessages(messages: readonly Message[]): vscode.LanguageModelChatMessage[] {
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

/** Incomplete JSON becomes an empty input: a call that was cut off stays in the history, with an error as its result. */
function parsedInput(json: string): object {
  const value: unknown = attempt(() => JSON.parse(json));
  return typeof value === "object" && value !== null ? value : {};
}
