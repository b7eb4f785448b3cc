/** Requests of the agent in the interactive session: approvals and questions, answered by one key. */
import { truncateToWidth, wrapTextWithAnsi } from "@earendil-works/pi-tui";
import type {
  CreateElicitationRequest,
  CreateElicitationResponse,
  PermissionOption,
  RequestPermissionRequest,
  RequestPermissionResponse,
} from "@zed-industries/agent-client-protocol";
import { createPatch } from "diff";
import { visibleText } from "../../agent-core/platform/visible-text.ts";
import { HermesPermissionMeta } from "../../agent-core/protocol/conversation.ts";
import { readMeta } from "../../agent-core/protocol/method.ts";
import { type Drawing, diffsOf, oneLine } from "./activity.ts";

export type PanelChoice = { readonly key: string; readonly name: string; readonly value: string };

/** The choice of a typed key or number, also in capitals or in the wide letters of an input method. Undefined: none. */
export function chosenBy(typed: string, choices: readonly PanelChoice[]): string | undefined {
  const key = typed.normalize("NFKC").toLowerCase();
  return choices.find((choice, index) => key === choice.key || key === String(index + 1))?.value;
}

/** Keys of the permission options. */
const KEYS: Readonly<Record<string, string>> = { once: "y", session: "s", always: "a", reject: "n" };

export function permissionChoices(options: readonly PermissionOption[]): readonly PanelChoice[] {
  return options.map(({ optionId, name }, index) => ({
    key: KEYS[optionId] ?? String(index + 1),
    name,
    value: optionId,
  }));
}

/** Lines that show all of an approval: what, why, and the scope of a lasting answer. */
export function permissionLines({ toolCall, _meta }: RequestPermissionRequest, drawing: Drawing): readonly string[] {
  const { theme, width } = drawing;
  const { command, reasons = [], grant, task } = readMeta(HermesPermissionMeta, _meta) ?? {};
  const wrapped = (text: string): string[] => wrapTextWithAnsi(visibleText(text), Math.max(1, width - 4));
  const title = oneLine(toolCall.title ?? "A tool call");
  // A title that is the whole command, and is not cut, says it already.
  const isInTitle = command === title && title.length <= width - 4;
  const shown = command === undefined || isInTitle ? [] : wrapped(command).map((line) => `    ${theme.code(line)}`);
  return [
    "",
    truncateToWidth(`  ${theme.warning("⚠")} ${theme.bold(title)}`, width, "…"),
    ...shown,
    ...diffsOf(toolCall.content ?? [], drawing),
    ...[...(task === undefined ? [] : [`Asked by the task: ${task}`]), ...reasons].flatMap((line) =>
      wrapped(line).map((each) => `    ${each}`),
    ),
    ...(grant === undefined
      ? []
      : wrapped(`A lasting answer covers: ${grant}`).map((line) => theme.dim(`    ${line}`))),
  ];
}

export function permissionResponse(optionId: string | undefined): RequestPermissionResponse {
  return { outcome: optionId === undefined ? { outcome: "cancelled" } : { outcome: "selected", optionId } };
}

/** Question of a form: its text, its choices, and the field of a free answer. */
export type FormQuestion = {
  readonly message: string;
  readonly choices: readonly string[];
  readonly choiceField: string | undefined;
  readonly textField: string | undefined;
};

export function questionOf(request: CreateElicitationRequest): FormQuestion {
  const schema: unknown = "requestedSchema" in request ? request.requestedSchema : undefined;
  const fields = Object.entries<unknown>(Object(Object(schema).properties));
  const choice = fields.find(([, field]) => Array.isArray(Object(field).enum));
  const text = fields.find(([, field]) => !Array.isArray(Object(field).enum));
  const choices: readonly unknown[] = choice === undefined ? [] : Object(choice[1]).enum;
  return { message: request.message, choices: choices.map(String), choiceField: choice?.[0], textField: text?.[0] };
}

export function questionLines({ message, choices }: FormQuestion, { theme, width }: Drawing): readonly string[] {
  const lines = wrapTextWithAnsi(visibleText(message), Math.max(1, width - 4));
  return [
    "",
    ...lines.map((line, index) => `  ${index === 0 ? theme.accent("?") : " "} ${theme.bold(line)}`),
    ...choices.map((choice, index) =>
      truncateToWidth(`    ${theme.accent(String(index + 1))} ${oneLine(choice)}`, width, "…"),
    ),
  ];
}

/** `answer`: a number of a choice, or other text. Undefined: none. */
export function questionResponse(question: FormQuestion, answer: string | undefined): CreateElicitationResponse {
  if (answer === undefined) return { action: "cancel" };
  const choice = question.choices[Number(answer.normalize("NFKC")) - 1];
  if (choice !== undefined && question.choiceField !== undefined) {
    return { action: "accept", content: { [question.choiceField]: choice } };
  }
  return question.textField === undefined
    ? { action: "cancel" }
    : { action: "accept", content: { [question.textField]: answer } };
}

/** All of an approval in plain lines. */
export function plainPermission({ toolCall, _meta }: RequestPermissionRequest): string {
  const { command, reasons = [], grant, task } = readMeta(HermesPermissionMeta, _meta) ?? {};
  const diffs = (toolCall.content ?? []).flatMap((each) =>
    each.type === "diff" ? [createPatch(each.path, each.oldText ?? "", each.newText)] : [],
  );
  const lines = [
    `? ${toolCall.title ?? "A tool call"}`,
    ...(command === undefined || command === toolCall.title ? [] : [command]),
    ...diffs,
    ...(task === undefined ? [] : [`Asked by the task: ${task}`]),
    ...reasons.map((reason) => `- ${reason}`),
    ...(grant === undefined ? [] : [`A lasting answer covers: ${grant}`]),
  ];
  return visibleText(lines.join("\n"));
}
