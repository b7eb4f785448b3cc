/** One prompt: an ACP client in the agent's process, which gets the same as every editor. */
import { once } from "node:events";
import { fstatSync, writeFileSync } from "node:fs";
import { text } from "node:stream/consumers";
import { setTimeout as wait } from "node:timers/promises";
import {
  type ClientContext,
  type ContentBlock,
  client,
  methods,
  type NewSessionResponse,
  RequestError,
  type ResumeSessionResponse,
  type SessionNotification,
  type StopReason,
} from "@zed-industries/agent-client-protocol";
import { MODEL_OPTION } from "../../agent-core/acp/config-options.ts";
import type { Environment } from "../../agent-core/config/home.ts";
import { CLIENT_INFO, localAgent, ownWords } from "../../agent-core/entry/local-agent.ts";
import { extensionMethods, openUrlMethod } from "../../agent-core/protocol/extensions.ts";
import { INVALID_PARAMS, onAgentRequest } from "../../agent-core/protocol/handle.ts";
import { call } from "../../agent-core/protocol/method.ts";
import { passwordMethod } from "../../agent-core/protocol/processes.ts";
import { sessionMethods } from "../../agent-core/protocol/sessions.ts";
import { EXIT } from "../subcommand.ts";
import type { LineDialog } from "./line-requests.ts";
import { type OutputForm, type UpdatePrinter, updatePrinter } from "./update-printer.ts";

/** Value of the model's option for the built-in interpreter. */
const OFFLINE = "offline";

export type PromptOptions = {
  /** Empty: standard input has it. */
  readonly prompt: string;
  readonly allowAll: boolean;
  /** Absolute. */
  readonly cwd: string;
  readonly resume: string | undefined;
  readonly form: OutputForm;
  /** Paths of pictures. */
  readonly images: readonly string[];
  /** Variables of this start alone. */
  readonly settings: Environment;
  /** File that gets the tokens and the cost as JSON. */
  readonly usageFile: string | undefined;
  /** Default: the session's. */
  readonly model: string | undefined;
  /** Default: the session's. */
  readonly mode: string | undefined;
  /** The session is deleted after its only prompt. */
  readonly isTransient: boolean;
};

/** Runs a slash command in a session that is deleted after it. Returns the exit code. */
export function runSlashCommand(
  prompt: string,
  { json = false, ...options }: Pick<PromptOptions, "cwd"> & { readonly allowAll?: boolean; readonly json?: boolean },
): Promise<number> {
  const session = { resume: undefined, model: undefined, mode: undefined, isTransient: true };
  const none = { images: [], settings: {}, usageFile: undefined };
  return runPrompt({ allowAll: false, form: json ? "json" : "text", ...options, ...session, ...none, prompt });
}

/** Commands that manage servers, hooks or tools run without a model: a new user may have no key yet. */
function settingsOf({ prompt, isTransient, settings }: PromptOptions): Environment {
  return isTransient && prompt !== "/model" ? { ...settings, HERMES_PROVIDER: "offline" } : settings;
}

/** Runs one prompt to its end. Returns the exit code. */
export async function runPrompt(options: PromptOptions): Promise<number> {
  const prompt = await promptOf(options);
  if (prompt.length === 0) {
    process.stderr.write("hermes: the prompt is empty. Give one in quotes or on standard input; --help shows more.\n");
    return EXIT.misused;
  }
  const { app, dispose } = localAgent(settingsOf(options));
  const print = updatePrinter(options.form);
  const page = Promise.withResolvers<void>();
  const us = client({ name: CLIENT_INFO.name });
  onAgentRequest(us, openUrlMethod, ({ params: { url } }) => {
    process.stderr.write(`hermes: open ${url} in a browser.\n`);
    page.resolve();
    return { opened: true };
  });
  onAgentRequest(us, passwordMethod, async ({ params }) => ({
    password: await (await import("./line-requests.ts")).passwordByLine(params, process.stdin, process.stderr),
  }));
  const seen: Seen = { hasWorked: false, refusal: REFUSED };
  try {
    return await us
      .onNotification(methods.client.session.update, asSent, ({ params }) => {
        const { update } = params;
        if (update.sessionUpdate === "tool_call") seen.hasWorked = true;
        const filter = update.sessionUpdate === "notice" ? FILTERED.exec(update.title)?.[1] : undefined;
        seen.refusal = filter ?? seen.refusal;
        if (filter === undefined || options.form === "json") print.update(params);
      })
      .onRequest(methods.client.session.requestPermission, async ({ params }) => {
        const allowed = options.allowAll ? params.options.find(({ kind }) => kind === "allow_once") : undefined;
        if (allowed) return { outcome: { outcome: "selected", optionId: allowed.optionId } };
        if (canAsk(options)) return (await import("./line-requests.ts")).permissionByLine(params, await dialog());
        print.refused(params.toolCall.title ?? "a tool call");
        return { outcome: { outcome: "cancelled" } };
      })
      .onRequest(methods.client.elicitation.create, async ({ params }) =>
        (await import("./line-requests.ts")).questionByLine(params, await dialog()),
      )
      .connectWith(app, (agent) => converse(agent, { ...options, page: page.promise, seen }, prompt, print));
  } catch (error) {
    process.stderr.write(`hermes: ${ownWords(error)}\n`);
    return error instanceof RequestError && error.code === INVALID_PARAMS ? EXIT.misused : 1;
  } finally {
    await dispose();
  }
}

/** A user is at the terminal, and standard input is not the prompt. */
function canAsk({ form, prompt }: Pick<PromptOptions, "form" | "prompt">): boolean {
  return form === "text" && prompt !== "" && process.stdin.isTTY && process.stderr.isTTY;
}

async function dialog(): Promise<LineDialog> {
  return (await import("./line-requests.ts")).keyDialog(process.stdin, process.stderr);
}

/** A command such as a long test run may write its first line late. Milliseconds. */
const INPUT_NOTE_AFTER_MS = 3_000;
/** A program that starts others may leave their standard input open and write nothing. Milliseconds. */
const SILENT_INPUT_MS = 10_000;
const TYPE_PROMPT = "type a prompt, and end it with Enter and Ctrl+D; hermes --help shows more.";

/** Content of the prompt: the words, and standard input as an attachment. Empty: neither has text. */
async function promptOf({ prompt, isTransient, images, cwd }: PromptOptions): Promise<ContentBlock[]> {
  const pictures = images.length === 0 ? [] : (await import("./attachments.ts")).promptBlocks("", cwd, images);
  const words: ContentBlock[] = prompt === "" ? [] : [{ type: "text", text: prompt }, ...pictures];
  if (prompt !== "" && (isTransient || !hasPipedInput())) return words;
  const isTyped = process.stdin.isTTY;
  const line = isTyped ? TYPE_PROMPT : "waiting for the end of standard input …";
  const note = (): void => void process.stderr.write(`hermes: ${line}\n`);
  const timer = setTimeout(note, isTyped ? 0 : INPUT_NOTE_AFTER_MS);
  const input = await (prompt === "" ? text(process.stdin) : begunInput()).finally(() => clearTimeout(timer));
  if (input.trim() === "") return words;
  if (prompt === "") return [{ type: "text", text: input.trim() }, ...pictures];
  return [...words, { type: "resource", resource: { uri: "stdin", mimeType: "text/plain", text: input } }];
}

/** Standard input beside a prompt, which starts without it when nothing comes. */
async function begunInput(): Promise<string> {
  const { stdin } = process;
  const begun = once(stdin, "readable");
  const silent = new AbortController();
  const waiting = wait(SILENT_INPUT_MS, true, { signal: silent.signal }).catch(() => false);
  if (await Promise.race([begun.then(() => false), waiting])) {
    stdin.destroy();
    process.stderr.write(
      `hermes: nothing came on standard input in ${SILENT_INPUT_MS / 1_000} s: starting without it.\n`,
    );
    return "";
  }
  silent.abort();
  return text(stdin);
}

/** True for a pipe or a file. A socket is not read: programs that start others, and ssh, leave it open. */
function hasPipedInput(): boolean {
  try {
    const stats = fstatSync(0);
    return stats.isFIFO() || stats.isFile();
  } catch {
    return false; // closed
  }
}

type Opened = { readonly page: Promise<void> };

/**
 * While `hermes mcp signin NAME` waits, each line of the standard input is the address that a browser on another machine
 * was redirected to. `page` settles when the user has the address to open; the signal ends the reading.
 */
async function pasteSignIn(
  agent: ClientContext,
  sessionId: string,
  { page, prompt, signal }: Opened & { readonly prompt: string; readonly signal: AbortSignal },
): Promise<void> {
  const name = /^\/mcp (?:signin|login) (.+) --wait$/.exec(prompt)?.[1];
  if (name === undefined) return;
  await page;
  process.stderr.write("hermes: if the browser is on another machine, paste the address of its last page here.\n");
  const { createInterface } = await import("node:readline");
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

/** Skips the library's check: it takes as long as printing, and the sender is our own agent. */
function asSent(params: unknown): SessionNotification {
  return params as SessionNotification;
}

/** Signals of Ctrl-C, and of `timeout`. */
const STOPS = ["SIGINT", "SIGTERM"] as const;

async function converse(
  agent: ClientContext,
  { page, seen, ...options }: PromptOptions & Opened & { readonly seen: Readonly<Seen> },
  prompt: ContentBlock[],
  print: Pick<UpdatePrinter, "end" | "interrupted">,
): Promise<number> {
  await agent.request(methods.agent.initialize, {
    protocolVersion: 1,
    clientInfo: CLIENT_INFO,
    clientCapabilities: {
      session: { notices: {} },
      ...(canAsk(options) && { elicitation: { form: {} } }),
      _meta: { hermes: { openUrl: true, ...(canAsk(options) && { grants: true, passwords: true }) } },
    },
  });
  const { cwd, resume, model, mode, isTransient, prompt: words } = options;
  const { sessionId, isModel } =
    resume === undefined ? await newSession(agent, cwd) : await resumed(agent, resume, cwd);
  if (mode !== undefined) await agent.request(methods.agent.session.setMode, { sessionId, modeId: mode });
  if (model !== undefined) {
    await agent.request(methods.agent.session.setConfigOption, { sessionId, configId: MODEL_OPTION, value: model });
  }
  let isStopping = false;
  // One handler for all signals: in a moment without one, the next signal would end the process before its line.
  const cancel = (): void => {
    if (isStopping) process.exit(EXIT.interrupted); // does not wait for the end of the turn
    isStopping = true;
    print.interrupted();
    void agent.notify(methods.agent.session.cancel, { sessionId });
  };
  for (const name of STOPS) process.on(name, cancel);
  const reading = new AbortController();
  void pasteSignIn(agent, sessionId, { page, prompt: words, signal: reading.signal });
  try {
    const { stopReason } = await agent.request(methods.agent.session.prompt, { sessionId, prompt });
    print.end();
    await writeUsage(agent, sessionId, options.usageFile);
    const isAnswered = isModel || seen.hasWorked; // the built-in interpreter carries out what it understands
    if (isAnswered || isTransient || model !== undefined || words.startsWith("/")) return exitCode(stopReason, seen);
    process.stderr.write("hermes: no language model answered. hermes setup chooses one.\n");
    return EXIT.failed;
  } finally {
    for (const name of STOPS) process.off(name, cancel);
    reading.abort();
    if (isTransient) await agent.request(methods.agent.session.delete, { sessionId });
  }
}

/** Facts of a turn's updates; `refusal` says who refused the prompt. */
type Seen = { hasWorked: boolean; refusal: string };
const REFUSED = "the model refused to answer";
/** A content filter that ended a turn, with advice for a conversation. */
const FILTERED = /^(.*)\. Take your last message back with \/undo/s;

/** Reasons why an answer is not complete. */
const INCOMPLETE: Partial<Record<StopReason, string>> = {
  max_tokens: 'the model reached its limit of tokens. Continue with: hermes --continue "go on"',
  max_turn_requests: 'the turn reached its limit of steps. Continue with: hermes --continue "go on"',
  refusal: "Word the prompt differently, or choose another model (--model)",
};

function exitCode(reason: StopReason, { refusal }: Seen): number {
  if (reason === "cancelled") return EXIT.interrupted;
  const problem = INCOMPLETE[reason];
  if (problem !== undefined) process.stderr.write(`hermes: ${reason === "refusal" ? `${refusal}. ` : ""}${problem}.\n`);
  return problem === undefined ? 0 : 1;
}

/** `isModel`: a language model answers, not the built-in interpreter that stands in for a missing one. */
type StartedSession = { readonly sessionId: string; readonly isModel: boolean };

async function newSession(agent: ClientContext, cwd: string): Promise<StartedSession> {
  const { sessionId, configOptions } = await agent.request(methods.agent.session.new, { cwd, mcpServers: [] });
  return { sessionId, isModel: isModel(configOptions) };
}

async function resumed(agent: ClientContext, wanted: string, cwd: string): Promise<StartedSession> {
  const { findSession } = await import("./find-session.ts");
  const sessionId = await findSession(agent, wanted, cwd);
  const place = { sessionId, cwd, mcpServers: [] };
  const response = await agent.request(methods.agent.session.resume, place);
  const { configOptions } = response as ResumeSessionResponse; // the sender is our own agent
  return { sessionId, isModel: isModel(configOptions) };
}

function isModel(options: NewSessionResponse["configOptions"]): boolean {
  const chosen = options?.find(({ id }) => id === MODEL_OPTION)?.currentValue;
  return chosen !== OFFLINE || process.env["HERMES_PROVIDER"] === OFFLINE;
}

async function writeUsage(agent: ClientContext, sessionId: string, file: string | undefined): Promise<void> {
  if (file === undefined) return;
  const { used, window: size, models } = await call(agent, sessionMethods.context, { sessionId });
  writeFileSync(file, `${JSON.stringify({ sessionId, used, window: size, models }, undefined, 2)}\n`);
}
