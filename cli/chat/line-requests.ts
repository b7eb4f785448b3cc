/** Requests of the agent in plain lines, at a terminal without a drawn screen. */
import { createInterface } from "node:readline";
import type {
  ClientContext,
  CreateElicitationRequest,
  CreateElicitationResponse,
  RequestPermissionRequest,
  RequestPermissionResponse,
} from "@zed-industries/agent-client-protocol";
import { ownWords } from "../../agent-core/entry/local-agent.ts";
import { terminalDialog } from "../../agent-core/entry/terminal-dialog.ts";
import { visibleText } from "../../agent-core/platform/visible-text.ts";
import { extensionMethods } from "../../agent-core/protocol/extensions.ts";
import { call } from "../../agent-core/protocol/method.ts";
import type { HermesPasswordQuestion } from "../../agent-core/protocol/processes.ts";
import {
  chosenBy,
  permissionChoices,
  permissionResponse,
  plainPermission,
  questionOf,
  questionResponse,
} from "./requests.ts";

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
  return permissionResponse(chosenBy(answer ?? "", choices) ?? rejected);
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

/**
 * While a sign-in waits, each line of the standard input is the address that a browser on another machine was redirected to.
 * The signal ends the reading.
 */
export function pasteSignIn(
  agent: ClientContext,
  sessionId: string,
  { name, signal }: { readonly name: string; readonly signal: AbortSignal },
): void {
  process.stderr.write("hermes: if the browser is on another machine, paste the address of its last page here.\n");
  const paste = async (argument: string): Promise<string> => {
    const { items } = await call(agent, extensionMethods.list, { sessionId });
    const id = items.find((item) => item.kind === "mcp" && item.name.toLowerCase() === name.toLowerCase())?.id ?? name;
    return (await call(agent, extensionMethods.act, { sessionId, id, action: "sign-in", argument })).message;
  };
  createInterface({ input: process.stdin, signal }).on("line", (line) => {
    if (line.trim() === "") return;
    const said = paste(line.trim()).catch(ownWords);
    void said.then((text) => process.stderr.write(`hermes: ${text}\n`));
  });
}
