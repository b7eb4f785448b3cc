/** Requests of the agent in plain lines, at a terminal without a drawn screen. */
import type {
  CreateElicitationRequest,
  CreateElicitationResponse,
  RequestPermissionRequest,
  RequestPermissionResponse,
} from "@zed-industries/agent-client-protocol";
import { terminalDialog } from "../../agent-core/entry/terminal-dialog.ts";
import { visibleText } from "../../agent-core/platform/visible-text.ts";
import type { HermesPasswordQuestion } from "../../agent-core/protocol/processes.ts";
import { permissionChoices, permissionResponse, plainPermission, questionOf, questionResponse } from "./requests.ts";

/** `key` and `line` resolve with undefined at the end of the input. */
export type LineDialog = {
  say(text: string): void;
  key(question: string): Promise<string | undefined>;
  line(question: string): Promise<string | undefined>;
};

/** Any other answer rejects. */
export async function permissionByLine(
  request: RequestPermissionRequest,
  { say, key }: LineDialog,
): Promise<RequestPermissionResponse> {
  const choices = permissionChoices(request.options);
  say(plainPermission(request));
  const answer = await key(`${choices.map((choice) => `${choice.key} = ${choice.name}`).join(", ")}: `);
  const rejected = request.options.find(({ kind }) => kind === "reject_once")?.optionId;
  return permissionResponse(choices.find((choice) => choice.key === answer)?.value ?? rejected);
}

/** An empty answer skips. */
export async function questionByLine(
  request: CreateElicitationRequest,
  { say, line }: LineDialog,
): Promise<CreateElicitationResponse> {
  const question = questionOf(request);
  say([question.message, ...question.choices.map((choice, index) => `  ${index + 1}  ${choice}`)].join("\n"));
  return questionResponse(question, (await line("> ")) || undefined);
}

/** A dialog on standard error; one key answers a request. Ctrl+C is the signal as usual. */
export function keyDialog(input: NodeJS.ReadStream, output: NodeJS.WriteStream): LineDialog {
  const say = (text: string): void => void output.write(`${text}\n`);
  const read = async (isKey: boolean): Promise<string | undefined> => {
    input.setRawMode(isKey);
    input.setEncoding("utf8");
    const [data] = await new Promise<readonly [string?]>((resolve) => {
      input.once("data", (text) => resolve([String(text)]));
      input.once("end", () => resolve([]));
      input.resume();
    });
    input.setRawMode(false);
    input.pause();
    if (data === "\u0003") process.kill(process.pid, "SIGINT");
    return data?.trim();
  };
  const ask = async (question: string, isKey: boolean): Promise<string | undefined> => {
    output.write(question);
    const answer = await read(isKey);
    if (isKey) say(answer ?? "");
    return answer;
  };
  return { say, key: (question) => ask(question, true), line: (question) => ask(question, false) };
}

/** Nothing that is typed shows. Null for an empty answer. */
export async function passwordByLine(
  { prompt, command, isRetry }: HermesPasswordQuestion,
  input: NodeJS.ReadStream,
  output: NodeJS.WriteStream,
): Promise<string | null> {
  const dialog = terminalDialog(input, output);
  dialog.say(visibleText(`${isRetry ? "That was refused. " : ""}A password is needed by: ${command}`));
  try {
    return (await dialog.askSecret(`${visibleText(prompt).trim()} `)) || null;
  } finally {
    dialog.close();
  }
}
