/**
 * Handlers of the requests that a server sends during a call. Sampling: the auxiliary model answers after the user has
 * allowed it. Elicitation: the user answers field by field.
 */
import type {
  CreateMessageRequest,
  CreateMessageResult,
  ElicitRequest,
  ElicitResult,
} from "@modelcontextprotocol/client";
import * as z from "zod";
import type { Auxiliary } from "../agent/auxiliary-models.ts";
import { type ContentPart, contentText, type Message } from "../messages/message.ts";
import { visibleText } from "../platform/visible-text.ts";
import type { ToolContext } from "../tools/tool.ts";
import { answerPart } from "./server-answers.ts";
import type { RequestHandlers } from "./server-connection.ts";

/** Shown length of a server's request to the model. Characters. */
const SHOWN_CHARS = 2_000;
/** Invalid answers to one field before the form is cancelled. */
const MAX_ATTEMPTS = 3;
/** Choices that a question can show. */
const MAX_CHOICES = 4;

const ONCE = "Allow Once";
const SESSION = "Allow for This Session";
const LEAVE_EMPTY = "Leave Empty";

export type RequestPorts = {
  readonly ask: ToolContext["ask"];
  readonly auxiliary: Auxiliary;
  /** Servers that the user allowed to ask the model in this session. */
  readonly samplingAllowed: Set<string>;
};

export function requestHandlers(server: string, ports: RequestPorts): RequestHandlers {
  return {
    sample: (params, signal) => sample(server, params, ports, signal),
    elicit: (params, signal) => elicit(server, params, ports, signal),
  };
}

type SamplingParams = CreateMessageRequest["params"];

/** Rejects with a reason for the server when the user does not allow it or no model answers. */
async function sample(
  server: string,
  params: SamplingParams,
  { ask, auxiliary, samplingAllowed }: RequestPorts,
  signal: AbortSignal,
): Promise<CreateMessageResult> {
  const messages = messagesOf(params);
  if (!samplingAllowed.has(server)) {
    const shown = visibleText(
      messages
        .map(({ content }) => contentText(content, "\n", "[image]"))
        .join("\n\n")
        .slice(0, SHOWN_CHARS),
    );
    const question = `The MCP server ${server} asks your model:\n\n${shown}`;
    const answer = await ask({ question, choices: [ONCE, SESSION, "Deny"] }, signal);
    const choice = answer.kind === "answered" ? answer.text : "";
    if (choice === SESSION) samplingAllowed.add(server);
    else if (choice !== ONCE) throw new Error("the user did not allow sampling");
  }
  const answer = await auxiliary.ask("mcp", { messages, signal });
  if (!answer.ok) throw new Error(answer.fault.message);
  const model = auxiliary.ownModel("mcp")?.model ?? "hermes";
  return { model, role: "assistant", content: { type: "text", text: answer.text }, stopReason: "endTurn" };
}

function messagesOf({ systemPrompt, messages }: SamplingParams): readonly Message[] {
  const sent = messages.map(({ role, content }): Message => {
    const parts = (Array.isArray(content) ? content : [content]).map(contentPart);
    if (role === "user") return { role, content: parts };
    return { role, content: contentText(parts, "\n", "") };
  });
  return systemPrompt === undefined ? sent : [{ role: "system", content: systemPrompt }, ...sent];
}

function contentPart(raw: unknown): ContentPart {
  const part = answerPart.safeParse(raw).data;
  if (part?.type === "text") return { type: "text", text: part.text };
  if (part?.type === "image") {
    return { type: "image_url", image_url: { url: `data:${part.mimeType};base64,${part.data}` } };
  }
  return { type: "text", text: JSON.stringify(raw) };
}

/** Properties of a form's field that a question uses. */
const formField = z.looseObject({
  type: z.enum(["string", "number", "integer", "boolean", "array"]).catch("string"),
  title: z.string().optional(),
  description: z.string().optional(),
  enum: z.array(z.string()).optional(),
  oneOf: z.array(z.looseObject({ const: z.string() })).optional(),
  items: z
    .looseObject({
      enum: z.array(z.string()).optional(),
      anyOf: z.array(z.looseObject({ const: z.string() })).optional(),
    })
    .optional(),
});
type FormField = z.output<typeof formField>;

type Value = string | number | boolean | string[];

async function elicit(
  server: string,
  params: ElicitRequest["params"],
  ports: RequestPorts,
  signal: AbortSignal,
): Promise<ElicitResult> {
  if (params.mode === "url") return { action: "decline" };
  const { properties, required = [] } = params.requestedSchema;
  const intro = `The MCP server ${server} asks: ${visibleText(params.message)}`;
  const fields = Object.entries(properties);
  if (fields.length === 0) {
    const answer = await ports.ask({ question: intro, choices: ["Accept", "Decline"] }, signal);
    if (answer.kind !== "answered") return refusalOf(answer.kind);
    return answer.text === "Accept" ? { action: "accept", content: {} } : { action: "decline" };
  }
  const content: Record<string, Value> = {};
  for (const [name, schema] of fields) {
    const field = formField.parse(schema);
    const asked = await askField({ intro, name, field, isRequired: required.includes(name) }, ports.ask, signal);
    if (asked.kind !== "answered") return refusalOf(asked.kind);
    if (asked.value !== undefined) content[name] = asked.value;
  }
  return { action: "accept", content };
}

function refusalOf(kind: "cancelled" | "unavailable"): ElicitResult {
  return { action: kind === "cancelled" ? "cancel" : "decline" };
}

type AskedField = {
  readonly intro: string;
  readonly name: string;
  readonly field: FormField;
  readonly isRequired: boolean;
};

type FieldAnswer =
  | { readonly kind: "cancelled" | "unavailable" }
  /** `value`: undefined when the user left the field empty. */
  | { readonly kind: "answered"; readonly value: Value | undefined };

async function askField(
  { intro, name, field, isRequired }: AskedField,
  ask: ToolContext["ask"],
  signal: AbortSignal,
): Promise<FieldAnswer> {
  const options = optionsOf(field);
  const label = [field.title ?? name, field.description].filter((text) => text !== undefined).join(": ");
  const ways = isRequired ? [] : [LEAVE_EMPTY];
  const areChoices = options.length + ways.length <= MAX_CHOICES;
  const listed = areChoices ? "" : ` (one of: ${options.join(", ")})`;
  const choices = [...(areChoices ? options : []), ...ways].map(visibleText);
  let problem = "";
  for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt += 1) {
    const question = `${intro}\n\n${visibleText(label)}${visibleText(listed)}${problem}`;
    const answer = await ask({ question, choices }, signal);
    if (answer.kind !== "answered") return answer;
    if (answer.text === LEAVE_EMPTY && !isRequired) return { kind: "answered", value: undefined };
    const value = fieldValue(answer.text.trim(), field, options);
    if (value !== undefined) return { kind: "answered", value };
    problem = `\n\n${visibleText(answer.text)} is not a valid answer here.`;
  }
  return { kind: "cancelled" };
}

function optionsOf(field: FormField): readonly string[] {
  if (field.type === "boolean") return ["Yes", "No"];
  return (
    field.enum ??
    field.oneOf?.map((option) => option.const) ??
    field.items?.enum ??
    field.items?.anyOf?.map((option) => option.const) ??
    []
  );
}

/** Undefined for text that does not fit the field. */
function fieldValue(text: string, { type }: FormField, options: readonly string[]): Value | undefined {
  switch (type) {
    case "boolean":
      return /^(?:yes|true|y)$/i.test(text) || (/^(?:no|false|n)$/i.test(text) ? false : undefined);
    case "number":
      return text !== "" && Number.isFinite(Number(text)) ? Number(text) : undefined;
    case "integer":
      return /^[+-]?\d+$/.test(text) ? Number(text) : undefined;
    case "array": {
      const values = text.split(",").map((value) => value.trim());
      return values.every((value) => options.includes(value)) ? values : undefined;
    }
    case "string":
      return options.length === 0 || options.includes(text) ? text : undefined;
  }
}
