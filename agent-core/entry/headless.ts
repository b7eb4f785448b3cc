/** The headless chat: an ACP client in the agent's process, which gets the same as every editor. */
import { resolve } from "node:path";
import { text } from "node:stream/consumers";
import { parseArgs } from "node:util";
import {
  type ClientContext,
  client,
  methods,
  type SessionNotification,
  type SessionUpdate,
} from "@zed-industries/agent-client-protocol";
import { COMMAND_LINE } from "../acp/connected-client.ts";
import { agentApp } from "../acp/serve.ts";
import { homeFolder } from "../config/home.ts";
import { nodeHost } from "../host/node-host.ts";
import { takeEnvironment } from "../host/terminals/command-environment.ts";
import { hasCode, messageOf } from "../platform/errors.ts";
import { call } from "../protocol/method.ts";
import { sessionMethods } from "../protocol/sessions.ts";
import { stillBuilding } from "../sessions/index/session-index.ts";
import { isSessionId } from "../sessions/session-files.ts";
import type { SkillsCommand, SkillVerb } from "./skills-command.ts";
import { VERSION } from "./version.ts";

const INTERRUPTED = 130;

/** Listed sessions when several match. */
const MAX_MATCHES = 15;

const HELP = `hermes: send one prompt to the Hermes agent from the command line.

  hermes [options] "prompt"     (without a prompt, reads standard input)
  hermes doctor                 check this machine and its configuration, and print how to fix it
  hermes plugins list           list the plugins of the Hermes home
  hermes plugins enable NAME    switch a plugin on (disable NAME: off)
  hermes skills list            list the skills of this folder, of the Hermes home and of Hermes itself
  hermes skills install SOURCE  install skills from a folder, a git address or owner/repository/path (--yes: unasked);
                                also update [NAME], uninstall NAME
  hermes mcp list               list the MCP servers of this folder and of the Hermes home
  hermes mcp allow NAME         allow a server of the workspace; also restart, signin, signout, enable, disable

  --yes          approve every request (blocked commands stay blocked)
  --cwd DIR      work in DIR; default: the current folder
  --resume WHICH continue an earlier session: its id, words of its title, or "last" (in this folder)
  --json         print every session/update as a line of JSON
  --version, --help

The answer goes to standard output, tool calls to standard error.
Exit codes: 0 success, 1 error, 130 interrupted.
`;

/** Runs one prompt to its end. Returns the exit code. */
export async function runHeadless(args: readonly string[]): Promise<number> {
  process.stdout.on("error", ignoreClosedReader);
  const parsed = parseCommandLine(args);
  switch (parsed.kind) {
    case "help":
      process.stdout.write(HELP);
      return 0;
    case "version":
      process.stdout.write(`${VERSION}\n`);
      return 0;
    case "invalid":
      process.stderr.write(`hermes: ${parsed.message}\n`);
      return 1;
    case "doctor":
      return printDiagnoses(parsed.cwd);
    case "plugins":
      return managePlugins(parsed.verb, parsed.name);
    case "skills":
      return manageSkills(parsed);
    case "run":
      return runPrompt(parsed.options);
  }
}

/** A reader such as `head` closes the pipe when it has enough. The work continues without output. */
function ignoreClosedReader(error: Error): void {
  if (!hasCode(error, "EPIPE")) throw error;
}

const marks = { works: "ok", limited: "!", fails: "FAIL" } as const;

/** Returns the exit code: 1 when something fails. */
async function printDiagnoses(cwd: string): Promise<number> {
  const { diagnose } = await import("./doctor.ts");
  const diagnoses = await diagnose(takeEnvironment(), cwd);
  for (const { name, state, text: found, fix } of diagnoses) {
    process.stdout.write(`${marks[state].padEnd(4)}  ${name.padEnd(8)}  ${found}\n`);
    if (fix !== undefined) process.stdout.write(`${"".padEnd(16)}To fix it: ${fix}.\n`);
  }
  return diagnoses.some(({ state }) => state === "fails") ? 1 : 0;
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
    process.stderr.write(`hermes: ${messageOf(error)}\n`);
    return 1;
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
  return runSkillsCommand({ verb, operand, cwd, environment: takeEnvironment(), say, confirm });
}

async function runPrompt(options: HeadlessOptions): Promise<number> {
  const prompt = options.prompt === "" ? (await text(process.stdin)).trim() : options.prompt;
  if (prompt === "") {
    process.stderr.write(`hermes: the prompt is empty.\n${HELP}`);
    return 1;
  }
  const local = nodeHost();
  const { app, dispose } = agentApp({
    version: VERSION,
    environment: takeEnvironment(),
    local,
    log: (line) => process.stderr.write(`${line}\n`),
  });
  const print = updatePrinter(options.json);
  try {
    return await client({ name: COMMAND_LINE })
      .onNotification(methods.client.session.update, asSent, ({ params }) => print.update(params))
      .onRequest(methods.client.session.requestPermission, ({ params }) => {
        const allowed = options.allowAll ? params.options.find(({ kind }) => kind === "allow_once") : undefined;
        if (allowed) return { outcome: { outcome: "selected", optionId: allowed.optionId } };
        print.refused(params.toolCall.title ?? "a tool call");
        return { outcome: { outcome: "cancelled" } };
      })
      .connectWith(app, (agent) => converse(agent, options, prompt, print.end));
  } catch (error) {
    process.stderr.write(`hermes: ${messageOf(error)}\n`);
    return 1;
  } finally {
    await dispose();
  }
}

/** Skips the library's check: it takes as long as printing, and the sender is our own agent. */
function asSent(params: unknown): SessionNotification {
  return params as SessionNotification;
}

async function converse(
  agent: ClientContext,
  { cwd, resume, isTransient }: HeadlessOptions,
  prompt: string,
  end: () => void,
): Promise<number> {
  await agent.request(methods.agent.initialize, {
    protocolVersion: 1,
    clientInfo: { name: COMMAND_LINE, title: "the command line", version: VERSION },
    clientCapabilities: { session: { notices: {} } },
  });
  const sessionId = resume === undefined ? await newSession(agent, cwd) : await resumed(agent, resume, cwd);
  const cancel = (): void => void agent.notify(methods.agent.session.cancel, { sessionId });
  process.on("SIGINT", cancel);
  try {
    const { stopReason } = await agent.request(methods.agent.session.prompt, {
      sessionId,
      prompt: [{ type: "text", text: prompt }],
    });
    end();
    if (isTransient) await agent.request(methods.agent.session.delete, { sessionId });
    return stopReason === "cancelled" ? INTERRUPTED : 0;
  } finally {
    process.off("SIGINT", cancel);
  }
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

type HeadlessOptions = {
  /** Empty: standard input has it. */
  readonly prompt: string;
  readonly allowAll: boolean;
  /** Absolute. */
  readonly cwd: string;
  readonly resume: string | undefined;
  readonly json: boolean;
  /** The session is deleted after its only prompt. */
  readonly isTransient: boolean;
};

type PluginVerb = "list" | "enable" | "disable";

function isPluginVerb(text: string): text is PluginVerb {
  return text === "list" || text === "enable" || text === "disable";
}

type SkillsLine = Pick<SkillsCommand, "verb" | "operand" | "cwd"> & {
  readonly kind: "skills";
  readonly allowAll: boolean;
};

type ParsedCommandLine =
  | { readonly kind: "run"; readonly options: HeadlessOptions }
  | { readonly kind: "doctor"; readonly cwd: string }
  | { readonly kind: "plugins"; readonly verb: PluginVerb; readonly name: string }
  | SkillsLine
  | { readonly kind: "help" }
  | { readonly kind: "version" }
  | { readonly kind: "invalid"; readonly message: string };

function parseCommandLine(args: readonly string[]): ParsedCommandLine {
  try {
    const { values, positionals } = parseArgs({
      args: [...args],
      allowPositionals: true,
      options: {
        yes: { type: "boolean", default: false },
        cwd: { type: "string", default: "." },
        resume: { type: "string" },
        json: { type: "boolean", default: false },
        version: { type: "boolean", default: false },
        help: { type: "boolean", default: false },
      },
    });
    if (values.help) return { kind: "help" };
    if (values.version) return { kind: "version" };
    if (positionals.length === 1 && positionals[0] === "doctor") return { kind: "doctor", cwd: resolve(values.cwd) };
    const managed = managingLine(positionals, { cwd: resolve(values.cwd), allowAll: values.yes });
    if (managed !== undefined) return managed;
    const { yes: allowAll, resume, json } = values;
    const slashCommand = mcpCommandOf(positionals);
    const prompt = slashCommand ?? positionals.join(" ");
    const isTransient = slashCommand !== undefined && resume === undefined;
    return { kind: "run", options: { prompt, allowAll, cwd: resolve(values.cwd), resume, json, isTransient } };
  } catch (error) {
    return { kind: "invalid", message: messageOf(error) };
  }
}

/** `hermes plugins …` and `hermes skills …`; undefined for a prompt. */
function managingLine(
  positionals: readonly string[],
  options: Pick<SkillsLine, "cwd" | "allowAll">,
): ParsedCommandLine | undefined {
  const [command, verb = "list", name = ""] = positionals;
  if (positionals.length > 3) return undefined;
  if (command === "plugins" && isPluginVerb(verb)) {
    if (verb === "list" || name !== "") return { kind: "plugins", verb, name };
    return { kind: "invalid", message: `plugins ${verb} needs a name; hermes plugins list shows the names` };
  }
  if (command === "skills" && isSkillVerb(verb)) {
    const isComplete = verb === "list" || verb === "update" || name !== "";
    if (isComplete) return { kind: "skills", verb, operand: name, ...options };
    return { kind: "invalid", message: `skills ${verb} needs a ${verb === "install" ? "source" : "name"}` };
  }
  return undefined;
}

const SKILL_VERBS: readonly SkillVerb[] = ["list", "install", "update", "uninstall"];

function isSkillVerb(verb: string): verb is SkillVerb {
  return SKILL_VERBS.some((known) => known === verb);
}

const MCP_VERBS = ["list", "allow", "restart", "signin", "signout", "enable", "disable"];
/** Server, and one of its tools. */
const MAX_MCP_WORDS = 4;

/** Slash command for `hermes mcp …`; undefined for a prompt. */
function mcpCommandOf([command, verb = "list", ...rest]: readonly string[]): string | undefined {
  if (command !== "mcp" || !MCP_VERBS.includes(verb) || rest.length + 2 > MAX_MCP_WORDS) return undefined;
  return ["/mcp", verb, ...rest, "--wait"].join(" ");
}

type UpdatePrinter = {
  update(notification: SessionNotification): void;
  /** Prints a call that needed approval. */
  refused(title: string): void;
  end(): void;
};

/** Prints the answer on stdout and the rest on stderr, or every update as JSON on stdout. */
function updatePrinter(json: boolean): UpdatePrinter {
  const titles = new Map<string, string>();
  const lines = new ErrorLines();
  let printed = false;
  // One write for many tokens: a write costs more than the agent's work for a token.
  let gathered = "";
  const flush = (): void => {
    const text = gathered;
    gathered = "";
    if (text !== "") process.stdout.write(text);
  };
  const print = (text: string): void => {
    lines.finish();
    if (gathered === "") setImmediate(flush);
    gathered += text;
  };
  const note = (line: string, replaceable = false): void => {
    flush(); // both streams may be one terminal
    lines.write(line, replaceable);
  };
  return {
    update(notification) {
      if (json) {
        print(`${JSON.stringify(notification)}\n`);
        return;
      }
      const { update } = notification;
      if (update.sessionUpdate === "agent_message_chunk" && update.content.type === "text") {
        printed = true;
        print(update.content.text);
        return;
      }
      const line = lineOf(update, titles);
      if (line !== undefined) note(line, isWait(update));
    },
    refused(title) {
      note(`✗ ${title}: needs approval, and no user is here to approve it (see --yes)`);
    },
    end() {
      lines.finish();
      if (printed) print("\n");
    },
  };
}

/** Lines on stderr. On a terminal the next line replaces a replaceable one, such as that of a wait. */
class ErrorLines {
  #isOpen = false as boolean;

  write(line: string, replaceable: boolean): void {
    const stays = !replaceable || !process.stderr.isTTY;
    if (stays) this.finish();
    process.stderr.write(stays ? `${line}\n` : `\r\u001b[K${line}`);
    this.#isOpen = !stays;
  }

  /** Keeps a replaceable line. */
  finish(): void {
    if (this.#isOpen) process.stderr.write("\n");
    this.#isOpen = false;
  }
}

function isWait({ _meta }: SessionUpdate): boolean {
  return "retry" in Object(_meta?.["hermes"]);
}

function lineOf(update: SessionUpdate, titles: Map<string, string>): string | undefined {
  if (update.sessionUpdate === "notice") return `! ${update.title}`;
  if (update.sessionUpdate !== "tool_call" && update.sessionUpdate !== "tool_call_update") return undefined;
  const title = update.title ?? titles.get(update.toolCallId) ?? update.toolCallId;
  titles.set(update.toolCallId, title);
  if (update.status === "completed") return `✓ ${title}`;
  return update.status === "failed" ? `✗ ${title}` : undefined;
}
