/** The headless chat: an ACP client in the agent's process, which gets the same as every editor. */
import { accessSync, constants, fstatSync, statSync } from "node:fs";
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
import { MODEL_OPTION } from "../acp/config-options.ts";
import { COMMAND_LINE } from "../acp/connected-client.ts";
import { type AgentService, agentApp } from "../acp/serve.ts";
import { type Environment, homeFolder } from "../config/home.ts";
import { nodeHost } from "../host/node-host.ts";
import { takeEnvironment } from "../host/terminals/command-environment.ts";
import { hasCode, messageOf, UsageError } from "../platform/errors.ts";
import { extensionMethods, openUrlMethod } from "../protocol/extensions.ts";
import { INVALID_PARAMS, onAgentRequest } from "../protocol/handle.ts";
import { call } from "../protocol/method.ts";
import { sessionMethods } from "../protocol/sessions.ts";
import { stillBuilding } from "../sessions/index/session-index.ts";
import { isSessionId } from "../sessions/session-files.ts";
import { type HeadlessOptions, ownWords, type PluginVerb, parseCommandLine, type SkillsLine } from "./command-line.ts";
import type { JobsLine } from "./jobs-command.ts";
import { type UpdatePrinter, updatePrinter } from "./update-printer.ts";
import { VERSION } from "./version.ts";

const INTERRUPTED = 130;
/** Exit code of a wrong command line. */
const MISUSED = 2;

/** Listed sessions when several match. */
const MAX_MATCHES = 15;

/** Runs one prompt to its end. Returns the exit code. */
export async function runHeadless(args: readonly string[]): Promise<number> {
  process.stdout.on("error", endWithoutOutput);
  if (args[0] === "cron" || args[0] === "learning") {
    const code = await manageJobs(args);
    if (code !== undefined) return code;
  }
  const parsed = parseCommandLine(args);
  const problem = placeProblem(parsed);
  if (problem !== undefined) return refuse(problem);
  switch (parsed.kind) {
    case "help":
      process.stdout.write((await import("./help.ts")).HELP);
      return 0;
    case "version":
      process.stdout.write(`${VERSION}\n`);
      return 0;
    case "elsewhere": {
      const { elsewhereText } = await import("./help.ts");
      return refuse({ message: elsewhereText(parsed.command, parsed.words), code: MISUSED });
    }
    case "invalid":
      return refuse({ message: parsed.message, code: MISUSED });
    case "doctor":
      return (await import("./doctor.ts")).printDiagnoses(takeEnvironment(), parsed.cwd);
    case "plugins":
      await reportConfigErrors();
      return managePlugins(parsed.verb, parsed.name);
    case "skills":
      await reportConfigErrors();
      return manageSkills(parsed);
    case "run":
      return runPrompt(parsed.options);
  }
}

type Refusal = { readonly message: string; readonly code: number };

/** Returns the exit code. */
function refuse({ message, code }: Refusal): number {
  process.stderr.write(`hermes: ${message}\n`);
  return code;
}

/** A prompt's own folder is checked by the agent. */
function placeProblem(parsed: ReturnType<typeof parseCommandLine>): Refusal | undefined {
  if (parsed.kind === "help" || parsed.kind === "version") return undefined;
  const gone = currentFolderProblem();
  if (gone !== undefined) return gone;
  const cwd = "cwd" in parsed ? folderProblem(parsed.cwd, { canBeNew: false }) : undefined;
  if (cwd !== undefined) return { message: `--cwd: ${cwd}`, code: MISUSED };
  const needsHome = parsed.kind === "run" || parsed.kind === "plugins" || parsed.kind === "skills";
  return needsHome ? homeProblem() : undefined;
}

/** Relative paths, and Node itself, need a current folder. */
function currentFolderProblem(): Refusal | undefined {
  try {
    process.cwd();
    return undefined;
  } catch {
    return { message: "the current folder no longer exists. Change to another one.", code: 1 };
  }
}

function homeProblem(): Refusal | undefined {
  const problem = folderProblem(homeFolder(process.env), { canBeNew: true });
  if (problem === undefined) return undefined;
  return { message: `the Hermes home ${problem}. Set HERMES_HOME to a folder.`, code: 1 };
}

/** The path and its problem. Undefined for a folder, and for none where a new one can be made. */
function folderProblem(path: string, { canBeNew }: { readonly canBeNew: boolean }): string | undefined {
  try {
    if (!statSync(path).isDirectory()) return `${path} is not a folder`;
    accessSync(path, constants.R_OK | constants.X_OK);
    return undefined;
  } catch (error) {
    if (!hasCode(error, "ENOENT")) return `${path} cannot be used: ${messageOf(error)}`;
    return canBeNew ? undefined : `${path} does not exist`;
  }
}

/** Without a readable config.yaml a list may show what the file disables. */
async function reportConfigErrors(): Promise<void> {
  const { loadConfig } = await import("../config/config.ts");
  const { errors } = await loadConfig(homeFolder(process.env), process.env);
  for (const error of errors) process.stderr.write(`hermes: ${error}\n`);
}

/** A reader such as `head` closes the pipe when it has enough: the work continues without output. A full disk ends it. */
function endWithoutOutput(error: Error): void {
  if (hasCode(error, "EPIPE")) return;
  process.stderr.write(`hermes: the output could not be written: ${messageOf(error)}\n`);
  process.exit(1);
}

/** Returns the exit code. */
async function managePlugins(verb: PluginVerb, name: string): Promise<number> {
  const { listPlugins, switchPlugin } = await import("../plugins/find-plugins.ts");
  const home = homeFolder(takeEnvironment());
  try {
    const lines = verb === "list" ? await listPlugins(home) : [await switchPlugin(home, name, verb === "enable")];
    process.stdout.write(lines.map((line) => `${line}\n`).join(""));
    return 0;
  } catch (error) {
    return refuse({ message: messageOf(error), code: error instanceof UsageError ? MISUSED : 1 });
  }
}

/** Returns the exit code. */
async function manageSkills({ verb, operand, cwd, allowAll }: SkillsLine): Promise<number> {
  const { runSkillsCommand } = await import("./skills-command.ts");
  const say = (line: string): void => void process.stdout.write(`${line}\n`);
  const confirm = async (): Promise<boolean> => {
    if (allowAll) return true;
    const { terminalDialog } = await import("./terminal-dialog.ts");
    const dialog = terminalDialog(process.stdin, process.stdout);
    const answer = await dialog.ask("Install? [y/N] ");
    dialog.close();
    return /^y/i.test(answer ?? "");
  };
  const report = (line: string): void => void process.stderr.write(`${line}\n`);
  return runSkillsCommand({ verb, operand, cwd, environment: takeEnvironment(), say, report, confirm });
}

/** Returns the exit code; undefined when the words are a prompt. */
async function manageJobs(args: readonly string[]): Promise<number | undefined> {
  const gone = currentFolderProblem();
  if (gone !== undefined) return refuse(gone);
  const { parseJobsLine, runJobsCommand } = await import("./jobs-command.ts");
  let line: JobsLine | undefined;
  try {
    line = parseJobsLine(args);
  } catch (error) {
    return refuse({ message: messageOf(error), code: MISUSED });
  }
  if (line === undefined) return undefined;
  const problem = homeProblem();
  if (problem !== undefined) return refuse(problem);
  await reportConfigErrors();
  const { app, dispose } = localAgent();
  const say = (text: string): void => void process.stdout.write(`${text}\n`);
  const report = (text: string): void => void process.stderr.write(`${text}\n`);
  try {
    return await runJobsCommand(app, line, { say, report });
  } finally {
    await dispose();
  }
}

/** An agent in this process. `settings`: variables that replace those of the process. */
function localAgent(settings: Environment = {}): AgentService {
  const log = (line: string): void => void process.stderr.write(`${line}\n`);
  return agentApp({ version: VERSION, environment: { ...takeEnvironment(), ...settings }, local: nodeHost(), log });
}

/** Commands that manage servers, hooks or tools run without a model: a new user may have no key yet. */
function managingSettings({ prompt, isTransient }: HeadlessOptions): Environment {
  return isTransient && prompt !== "/model" ? { HERMES_PROVIDER: "offline" } : {};
}

async function runPrompt(options: HeadlessOptions): Promise<number> {
  const prompt = await promptOf(options);
  if (prompt.length === 0) {
    process.stderr.write("hermes: the prompt is empty. Give one in quotes or on standard input; --help shows more.\n");
    return MISUSED;
  }
  const { app, dispose } = localAgent(managingSettings(options));
  const print = updatePrinter(options.json);
  const page = Promise.withResolvers<void>();
  const us = client({ name: COMMAND_LINE });
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
    return error instanceof RequestError && error.code === INVALID_PARAMS ? MISUSED : 1;
  } finally {
    await dispose();
  }
}

/** A command such as a long test run may write its first line late. Milliseconds. */
const INPUT_NOTE_AFTER_MS = 3_000;
const TYPE_PROMPT = "type a prompt, and end it with Enter and Ctrl+D; hermes --help shows more.";

/** Content of the prompt: the words, and standard input as an attachment. Empty: neither has text. */
async function promptOf({ prompt, isTransient }: HeadlessOptions): Promise<ContentBlock[]> {
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
  { cwd, resume, model, mode, isTransient, prompt: words, page }: HeadlessOptions & Opened,
  prompt: ContentBlock[],
  print: Pick<UpdatePrinter, "end" | "interrupted">,
): Promise<number> {
  await agent.request(methods.agent.initialize, {
    protocolVersion: 1,
    clientInfo: { name: COMMAND_LINE, title: "the command line", version: VERSION },
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
    if (isStopping) process.exit(INTERRUPTED); // does not wait for the end of the turn
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
  if (reason === "cancelled") return INTERRUPTED;
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

/**
 * The session that `--resume` names. `wanted`: an id, `last` for the latest session of this folder, or words of a title.
 * Rejects with an Error that lists the matches when there is not exactly one.
 */
async function findSession(agent: ClientContext, wanted: string, cwd: string): Promise<string> {
  if (isSessionId(wanted)) return wanted;
  if (wanted === "last") {
    const { sessions } = await agent.request(methods.agent.session.list, { cwd });
    const [last] = sessions;
    if (last === undefined) throw new Error(`There is no earlier session in ${cwd}.`);
    return last.sessionId;
  }
  const { titled, building } = await titledWith(agent, wanted);
  const exact = titled.filter(({ title }) => title?.toLowerCase() === wanted.toLowerCase());
  const [found, other] = exact.length === 1 ? exact : titled;
  if (found === undefined) {
    const note = building === undefined ? "" : ` ${stillBuilding(building)}`;
    throw new Error(`There is no session with “${wanted}” in its title.${note}`);
  }
  if (other === undefined) return found.sessionId;
  const lines = titled.map(({ sessionId, title, cwd: where }) => `  ${sessionId}  ${title ?? "Untitled"} (${where})`);
  throw new Error(`Several sessions have “${wanted}” in their titles:\n${lines.join("\n")}`);
}

/** Only a hit in a message has a position. */
async function titledWith(agent: ClientContext, query: string) {
  if (query.trim() === "") return { titled: [], building: undefined };
  const { hits, building } = await call(agent, sessionMethods.search, { query, limit: MAX_MATCHES });
  return { titled: hits.filter(({ position }) => position === undefined), building };
}
