/** One prompt: an ACP client in the agent's process, which gets the same as every editor. */
import { fstatSync } from "node:fs";
import { text } from "node:stream/consumers";
import {
  type ClientContext,
  type ContentBlock,
  client,
  methods,
  RequestError,
  type SessionNotification,
  type StopReason,
} from "@zed-industries/agent-client-protocol";
import { MODEL_OPTION } from "../../agent-core/acp/config-options.ts";
import type { Environment } from "../../agent-core/config/home.ts";
import { CLIENT_INFO, localAgent, ownWords } from "../../agent-core/entry/local-agent.ts";
import { extensionMethods, openUrlMethod } from "../../agent-core/protocol/extensions.ts";
import { INVALID_PARAMS, onAgentRequest } from "../../agent-core/protocol/handle.ts";
import { call } from "../../agent-core/protocol/method.ts";
import { EXIT } from "../subcommand.ts";
import { findSession } from "./find-session.ts";
import { type UpdatePrinter, updatePrinter } from "./update-printer.ts";

export type PromptOptions = {
  /** Empty: standard input has it. */
  readonly prompt: string;
  readonly allowAll: boolean;
  /** Absolute. */
  readonly cwd: string;
  readonly resume: string | undefined;
  readonly json: boolean;
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
  options: Pick<PromptOptions, "cwd"> & Partial<Pick<PromptOptions, "allowAll" | "json">>,
): Promise<number> {
  const session = { resume: undefined, model: undefined, mode: undefined, isTransient: true };
  return runPrompt({ allowAll: false, json: false, ...options, ...session, prompt });
}

/** Commands that manage servers, hooks or tools run without a model: a new user may have no key yet. */
function managingSettings({ prompt, isTransient }: PromptOptions): Environment {
  return isTransient && prompt !== "/model" ? { HERMES_PROVIDER: "offline" } : {};
}

/** Runs one prompt to its end. Returns the exit code. */
export async function runPrompt(options: PromptOptions): Promise<number> {
  const prompt = await promptOf(options);
  if (prompt.length === 0) {
    process.stderr.write("hermes: the prompt is empty. Give one in quotes or on standard input; --help shows more.\n");
    return EXIT.misused;
  }
  const { app, dispose } = localAgent(managingSettings(options));
  const print = updatePrinter(options.json);
  const page = Promise.withResolvers<void>();
  const us = client({ name: CLIENT_INFO.name });
  onAgentRequest(us, openUrlMethod, ({ params: { url } }) => {
    process.stderr.write(`hermes: open ${url} in a browser.\n`);
    page.resolve();
    return { opened: true };
  });
  try {
    return await us
      .onNotification(methods.client.session.update, asSent, ({ params }) => print.update(params))
      .onRequest(methods.client.session.requestPermission, ({ params }) => {
        const allowed = options.allowAll ? params.options.find(({ kind }) => kind === "allow_once") : undefined;
        if (allowed) return { outcome: { outcome: "selected", optionId: allowed.optionId } };
        print.refused(params.toolCall.title ?? "a tool call");
        return { outcome: { outcome: "cancelled" } };
      })
      .connectWith(app, (agent) => converse(agent, { ...options, page: page.promise }, prompt, print));
  } catch (error) {
    process.stderr.write(`hermes: ${ownWords(error)}\n`);
    return error instanceof RequestError && error.code === INVALID_PARAMS ? EXIT.misused : 1;
  } finally {
    await dispose();
  }
}

/** A command such as a long test run may write its first line late. Milliseconds. */
const INPUT_NOTE_AFTER_MS = 3_000;
const TYPE_PROMPT = "type a prompt, and end it with Enter and Ctrl+D; hermes --help shows more.";

/** Content of the prompt: the words, and standard input as an attachment. Empty: neither has text. */
async function promptOf({ prompt, isTransient }: PromptOptions): Promise<ContentBlock[]> {
  const words: ContentBlock[] = prompt === "" ? [] : [{ type: "text", text: prompt }];
  if (prompt !== "" && (isTransient || !hasPipedInput())) return words;
  const isTyped = process.stdin.isTTY;
  const line = isTyped ? TYPE_PROMPT : "waiting for the end of standard input …";
  const note = (): void => void process.stderr.write(`hermes: ${line}\n`);
  const timer = setTimeout(note, isTyped ? 0 : INPUT_NOTE_AFTER_MS);
  const input = await text(process.stdin).finally(() => clearTimeout(timer));
  if (input.trim() === "") return words;
  if (prompt === "") return [{ type: "text", text: input.trim() }];
  return [...words, { type: "resource", resource: { uri: "stdin", mimeType: "text/plain", text: input } }];
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
  { cwd, resume, model, mode, isTransient, prompt: words, page }: PromptOptions & Opened,
  prompt: ContentBlock[],
  print: Pick<UpdatePrinter, "end" | "interrupted">,
): Promise<number> {
  await agent.request(methods.agent.initialize, {
    protocolVersion: 1,
    clientInfo: CLIENT_INFO,
    clientCapabilities: { session: { notices: {} }, _meta: { hermes: { openUrl: true } } },
  });
  const sessionId = resume === undefined ? await newSession(agent, cwd) : await resumed(agent, resume, cwd);
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
    return exitCode(stopReason);
  } finally {
    for (const name of STOPS) process.off(name, cancel);
    reading.abort();
    if (isTransient) await agent.request(methods.agent.session.delete, { sessionId });
  }
}

/** Reasons why an answer is not complete. */
const INCOMPLETE: Partial<Record<StopReason, string>> = {
  max_tokens: 'the model reached its limit of tokens. Continue with: hermes --continue "go on"',
  max_turn_requests: 'the turn reached its limit of steps. Continue with: hermes --continue "go on"',
  refusal: "the model refused to answer. Word the prompt differently, or choose another model (--model)",
};

function exitCode(reason: StopReason): number {
  if (reason === "cancelled") return EXIT.interrupted;
  const problem = INCOMPLETE[reason];
  if (problem !== undefined) process.stderr.write(`hermes: ${problem}.\n`);
  return problem === undefined ? 0 : 1;
}

async function newSession(agent: ClientContext, cwd: string): Promise<string> {
  return (await agent.request(methods.agent.session.new, { cwd, mcpServers: [] })).sessionId;
}

async function resumed(agent: ClientContext, wanted: string, cwd: string): Promise<string> {
  const sessionId = await findSession(agent, wanted, cwd);
  await agent.request(methods.agent.session.resume, { sessionId, cwd, mcpServers: [] });
  return sessionId;
}
