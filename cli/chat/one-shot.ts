/** One prompt: an ACP client in the agent's process, which gets the same as every editor. */
import { fstatSync, writeFileSync } from "node:fs";
import {
  type ContentBlock,
  type NewSessionResponse,
  RequestError,
  type StopReason,
} from "@zed-industries/agent-client-protocol";
import { MODEL_OPTION } from "../../agent-core/acp/config-options.ts";
import type { Environment } from "../../agent-core/config/home.ts";
import { ownWords } from "../../agent-core/entry/local-agent.ts";
import { withOwnCommand } from "../../agent-core/platform/own-command.ts";
import { INVALID_PARAMS } from "../../agent-core/protocol/handle.ts";
import { EXIT, type SlashLine } from "../subcommand.ts";
import { type ChatAgent, type ChatEvents, type ChosenSession, withChatAgent } from "./chat-agent.ts";
import type { LineDialog } from "./line-requests.ts";
import { type OutputForm, type UpdatePrinter, updatePrinter } from "./update-printer.ts";

/** Value of the model's option for the built-in interpreter. */
const OFFLINE = "offline";

export type PromptOptions = ChosenSession & {
  /** Empty: standard input has it. */
  readonly prompt: string;
  readonly allowAll: boolean;
  readonly form: OutputForm;
  /** Paths of pictures. */
  readonly images: readonly string[];
  /** Variables of this start alone. */
  readonly settings: Environment;
  /** File that gets the tokens and the cost as JSON. */
  readonly usageFile: string | undefined;
  /** The session is deleted after its only prompt. */
  readonly isTransient: boolean;
};

/** Runs a slash command in a session that is deleted after it. Returns the exit code. */
export function runSlashCommand({ slash: prompt, json, ...options }: SlashLine): Promise<number> {
  const none = { images: [], settings: {}, usageFile: undefined, isTransient: true };
  return runPrompt({ allowAll: false, form: json ? "json" : "text", ...options, ...none, prompt });
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
  const print = updatePrinter(options.form, options.isTransient ? options.prompt : undefined);
  const page = Promise.withResolvers<void>();
  const seen: Seen = { hasWorked: false, refusal: REFUSED };
  const work = (agent: ChatAgent): Promise<number> =>
    converse(agent, { ...options, page: page.promise, seen }, prompt, print);
  const events: ChatEvents = {
    update(params) {
      const { update } = params;
      if (update.sessionUpdate === "tool_call") seen.hasWorked = true;
      const filter = update.sessionUpdate === "notice" ? FILTERED.exec(update.title)?.[1] : undefined;
      seen.refusal = filter ?? seen.refusal;
      if (filter === undefined || options.form === "json" || options.form === "deltas") print.update(params);
    },
    async permission(params) {
      const allowed = options.allowAll ? params.options.find(({ kind }) => kind === "allow_once") : undefined;
      if (allowed) return { outcome: { outcome: "selected", optionId: allowed.optionId } };
      if (canAsk(options)) return (await import("./line-requests.ts")).permissionByLine(params, await dialog());
      print.refused(params.toolCall.title ?? "a tool call");
      return { outcome: { outcome: "cancelled" } };
    },
    question: async (params) => (await import("./line-requests.ts")).questionByLine(params, await dialog()),
    password: async (question) =>
      (await import("./line-requests.ts")).passwordByLine(question, process.stdin, process.stderr),
    openPage(url) {
      process.stderr.write(`hermes: open ${url} in a browser.\n`);
      page.resolve();
    },
  };
  const hermes = { openUrl: true, ...(canAsk(options) && { grants: true, passwords: true }) };
  const capabilities = {
    session: { notices: {} },
    ...(canAsk(options) && { elicitation: { form: {} } }),
    _meta: { hermes },
  };
  try {
    return await withChatAgent(events, work, settingsOf(options), capabilities);
  } catch (error) {
    print.end();
    process.stderr.write(`hermes: ${print.forShell(ownWords(error))}\n`);
    return error instanceof RequestError && error.code === INVALID_PARAMS ? EXIT.misused : 1;
  }
}

/** A user is at the terminal, and standard input is not the prompt. */
function canAsk({ form, prompt }: Pick<PromptOptions, "form" | "prompt">): boolean {
  return form === "text" && prompt !== "" && process.stdin.isTTY && process.stderr.isTTY;
}

async function dialog(): Promise<LineDialog> {
  return (await import("./line-requests.ts")).keyDialog(process.stdin, process.stderr);
}

/** Content of the prompt: the words, and standard input as an attachment. Empty: neither has text. */
async function promptOf({ prompt, isTransient, images, cwd }: PromptOptions): Promise<ContentBlock[]> {
  const silenceMs = inputSilenceMs({ prompt, isTransient });
  if (silenceMs === 0 && images.length === 0) return [{ type: "text", text: prompt }];
  const { promptBlocks, withInput } = await import("./attachments.ts");
  const pictures = promptBlocks("", cwd, images);
  return silenceMs > 0 ? withInput(prompt, pictures, silenceMs) : [{ type: "text", text: prompt }, ...pictures];
}

/** Limit of the wait for the first byte from a pipe or a file. Milliseconds. */
const SILENT_INPUT_MS = 10_000;
/** Programs that start others, and ssh, give them a socket: they leave it open, or write at once. Milliseconds. */
const SILENT_SOCKET_MS = 300;

/** 0 for standard input that is not read. */
function inputSilenceMs({ prompt, isTransient }: Pick<PromptOptions, "prompt" | "isTransient">): number {
  if (prompt === "" || isTransient) return prompt === "" ? SILENT_INPUT_MS : 0;
  try {
    const stats = fstatSync(0);
    if (stats.isSocket()) return SILENT_SOCKET_MS;
    return stats.isFIFO() || stats.isFile() ? SILENT_INPUT_MS : 0;
  } catch {
    return 0; // closed
  }
}

/** `hermes mcp signin NAME`, which waits for the end of the sign-in. */
const SIGN_IN = /^\/mcp (?:signin|login) (.+) --wait$/;

/** Signals of Ctrl-C, and of `timeout`. */
const STOPS = ["SIGINT", "SIGTERM"] as const;

async function converse(
  agent: ChatAgent,
  { page, seen, ...options }: PromptOptions & { readonly page: Promise<void> } & { readonly seen: Readonly<Seen> },
  prompt: ContentBlock[],
  print: Pick<UpdatePrinter, "end" | "interrupted">,
): Promise<number> {
  const { model, isTransient, prompt: words } = options;
  const opened = await agent.open(options, 0);
  const { sessionId } = opened;
  let isStopping = false;
  // One handler for all signals: in a moment without one, the next signal would end the process before its line.
  const cancel = (): void => {
    if (isStopping) process.exit(EXIT.interrupted); // does not wait for the end of the turn
    isStopping = true;
    print.interrupted();
    agent.cancel(sessionId);
  };
  for (const name of STOPS) process.on(name, cancel);
  const reading = new AbortController();
  const server = SIGN_IN.exec(words)?.[1];
  // The user has the address to open before.
  const paste = async (name: string): Promise<void> => {
    const [{ pasteSignIn }] = await Promise.all([import("./line-requests.ts"), page]);
    pasteSignIn(agent.client, sessionId, { name, signal: reading.signal });
  };
  if (server !== undefined) void paste(server);
  try {
    const stopReason = await agent.prompt(sessionId, prompt);
    print.end();
    await writeUsage(agent, sessionId, options.usageFile);
    const code = exitCode(stopReason, seen);
    if (isModel(opened.configOptions) || isTransient || model !== undefined || words.startsWith("/")) return code;
    process.stderr.write(withOwnCommand("hermes: no language model answered. hermes setup chooses one.\n"));
    return seen.hasWorked ? code : EXIT.failed; // the built-in interpreter carries out what it understands
  } finally {
    for (const name of STOPS) process.off(name, cancel);
    reading.abort();
    if (isTransient) await agent.delete(sessionId);
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
  const why = reason === "refusal" ? `${refusal}. ` : "";
  if (problem !== undefined) process.stderr.write(withOwnCommand(`hermes: ${why}${problem}.\n`));
  return problem === undefined ? EXIT.done : EXIT.failed;
}

/** True when a language model answers, and not the built-in interpreter that stands in for a missing one. */
function isModel(options: NewSessionResponse["configOptions"]): boolean {
  const chosen = options?.find(({ id }) => id === MODEL_OPTION)?.currentValue;
  return chosen !== OFFLINE || process.env["HERMES_PROVIDER"] === OFFLINE;
}

async function writeUsage(agent: ChatAgent, sessionId: string, file: string | undefined): Promise<void> {
  if (file === undefined) return;
  const { used, window: size, models } = await agent.context(sessionId);
  writeFileSync(file, `${JSON.stringify({ sessionId, used, window: size, models }, undefined, 2)}\n`);
}
