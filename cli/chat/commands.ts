/** Slash commands of the terminal itself; all others are the agent's. */
import { wrapTextWithAnsi } from "@earendil-works/pi-tui";
import type { AvailableCommand } from "@zed-industries/agent-client-protocol";
import { visibleText } from "../../agent-core/platform/visible-text.ts";
import type { HermesContext } from "../../agent-core/protocol/sessions.ts";
import type { ChatView } from "./chat-view.ts";
import { captured, runOnTerminal } from "./outside.ts";
import { changeTheme } from "./pickers.ts";
import { THEMES } from "./theme.ts";
import type { Block } from "./transcript.ts";

/** Widest column of names. Cells. */
const MAX_NAME = 22;
/** Narrowest column of descriptions; below it, a description is under its name. Cells. */
const MIN_TEXT = 24;
const KEYS =
  "Tab completes · ↑ earlier messages · Shift+Tab next mode · Esc stops · Ctrl+O whole outputs · Ctrl+G $EDITOR · Ctrl+D leaves";

/** The session as a command of the terminal may use it. */
export type ChatControls = {
  readonly cwd: string;
  readonly view: ChatView;
  /** The terminal's and the agent's. */
  readonly commands: readonly AvailableCommand[];
  note(text: string, mark?: "info" | "warning" | "error"): void;
  say(block: Block): void;
  /** `wanted`: as `--resume`; undefined: a new session. */
  open(wanted: string | undefined): Promise<void>;
  pickSession(): Promise<void>;
  attach(image: string): void;
  context(): Promise<HermesContext>;
  askBeside(question: string): Promise<void>;
  startBackground(prompt: string): Promise<void>;
  /** Gives the terminal to another program. */
  outside<T>(work: () => Promise<T>): Promise<T>;
  edit(): Promise<void>;
  queue(text: string): void;
  showTranscript(): Promise<void>;
  listBackground(): void;
  stop(): void;
  leave(): void;
};

type TerminalCommand = Omit<AvailableCommand, "input"> & {
  readonly hint?: string;
  run(argument: string, chat: ChatControls): Promise<void> | void;
};

const commands: readonly TerminalCommand[] = [
  { name: "help", description: "List the commands", run: (_, chat) => chat.say(commandList(chat.commands)) },
  { name: "new", description: "Begin a new session", run: (_, chat) => chat.open(undefined) },
  { name: "clear", description: "Begin a new session", run: (_, chat) => chat.open(undefined) },
  { name: "reset", description: "Begin a new session", run: (_, chat) => chat.open(undefined) },
  { name: "sessions", description: "Choose an earlier session", run: (_, chat) => chat.pickSession() },
  {
    name: "resume",
    description: "Go on with an earlier session",
    hint: "[its id, words of its title, or last]",
    run: (wanted, chat) => (wanted === "" ? chat.pickSession() : chat.open(wanted)),
  },
  {
    name: "copy",
    description: "Copy the last answer",
    run(_, chat) {
      const { transcript, screen } = chat.view;
      if (transcript.lastAnswer === "") return chat.note("There is no answer yet.");
      // OSC 52: the terminal's own clipboard, also over ssh.
      screen.terminal.write(`\u001b]52;c;${Buffer.from(transcript.lastAnswer).toString("base64")}\u0007`);
      chat.note("The last answer is in the clipboard.");
    },
  },
  {
    name: "image",
    description: "Attach a picture to the next message",
    hint: "PATH",
    run: (path, chat) => (path === "" ? chat.note("Type /image PATH.") : chat.attach(path)),
  },
  { name: "diff", description: "Show the changes of the folder", hint: "[staged]", run: showDiff },
  {
    name: "context",
    description: "Show the contents of the model's window",
    async run(_, chat) {
      chat.say(coloured(contextText(await chat.context())));
    },
  },
  {
    name: "btw",
    description: "Ask beside the conversation; nothing of it is kept",
    hint: "QUESTION",
    run: (question, chat) => (question === "" ? chat.note("Type /btw QUESTION.") : chat.askBeside(question)),
  },
  {
    name: "background",
    description: "Run a prompt in a session of its own, beside this one",
    hint: "PROMPT",
    run: (prompt, chat) => (prompt === "" ? chat.listBackground() : chat.startBackground(prompt)),
  },
  {
    name: "setup",
    description: "Choose a provider and a model, in questions",
    async run(_, chat) {
      await chat.outside(() => runOnTerminal(process.execPath, [process.argv[1] ?? "", "setup"], chat.cwd));
      await chat.open(undefined);
    },
  },
  { name: "editor", description: "Write the message in $EDITOR", run: (_, chat) => chat.edit() },
  {
    name: "theme",
    description: "Choose the colours",
    hint: `[${THEMES.join(" | ")}]`,
    async run(name, chat) {
      const line = await changeTheme(chat.view, name);
      if (line !== undefined) chat.note(line);
    },
  },
  {
    name: "verbose",
    description: "Show whole outputs and thoughts, or fold them again",
    run(_, chat) {
      const { transcript } = chat.view;
      transcript.isVerbose = !transcript.isVerbose;
      chat.note(transcript.isVerbose ? "Outputs and thoughts are shown whole." : "Outputs and thoughts are folded.");
    },
  },
  { name: "transcript", description: "Read the whole session in a pager", run: (_, chat) => chat.showTranscript() },
  {
    name: "queue",
    description: "Send a message after the running turn",
    hint: "MESSAGE",
    run: (text, chat) => (text === "" ? chat.note("Type /queue MESSAGE.") : chat.queue(text)),
  },
  { name: "stop", description: "Stop the running turn", run: (_, chat) => chat.stop() },
  { name: "quit", description: "Leave", run: (_, chat) => chat.leave() },
  { name: "exit", description: "Leave", run: (_, chat) => chat.leave() },
];

/** The terminal's commands, then those of the agent that have other names. */
export function withTerminalCommands(agents: readonly AvailableCommand[]): readonly AvailableCommand[] {
  const own = commands.map(({ name, description, hint }) => ({
    name,
    description,
    ...(hint !== undefined && { input: { hint } }),
  }));
  return [...own, ...agents.filter(({ name }) => !commands.some((each) => each.name === name))];
}

type Found =
  | { readonly kind: "own"; readonly command: TerminalCommand; readonly argument: string }
  /** The whole line, with the full name of the agent's command. */
  | { readonly kind: "agent"; readonly text: string }
  | { readonly kind: "ambiguous"; readonly names: readonly string[] };

/** The command that a line means; a beginning that only one name has is enough. Undefined for an ordinary message. */
export function findCommand(text: string, all: readonly AvailableCommand[]): Found | undefined {
  const [, word, argument = ""] = /^\/([a-z][\w:.-]*)(?:\s+([\s\S]*))?$/.exec(text) ?? [];
  if (word === undefined) return undefined;
  const named = all.filter(({ name }) => name.startsWith(word));
  const [first] = named.some(({ name }) => name === word) ? named.filter(({ name }) => name === word) : named;
  if (first === undefined) return { kind: "agent", text };
  if (first.name !== word && named.length > 1) return { kind: "ambiguous", names: named.map(({ name }) => `/${name}`) };
  const command = commands.find(({ name }) => name === first.name);
  if (command !== undefined) return { kind: "own", command, argument: argument.trim() };
  return { kind: "agent", text: `/${first.name}${argument === "" ? "" : ` ${argument}`}` };
}

async function showDiff(argument: string, chat: ChatControls): Promise<void> {
  const scope = argument === "staged" ? ["--cached"] : [];
  const colour = process.env["NO_COLOR"] ? "--no-color" : "--color=always";
  const { ok, output: text } = await captured("git", ["diff", colour, ...scope], chat.cwd);
  if (!ok) throw new Error(`git failed: ${text.trim()}`);
  if (text.trim() === "") chat.note("There are no changes.");
  else chat.say(coloured(text));
}

/** Lines that may have colours. */
function coloured(text: string): Block {
  return ({ width }) => ["", ...wrapTextWithAnsi(text.trimEnd(), width)];
}

function contextText({ used, window: size, parts, models }: HermesContext): string {
  const rows = parts
    .filter(({ tokens }) => tokens > 0)
    .map(({ part, tokens }) => {
      const cells = Math.max(1, Math.round((tokens / Math.max(1, used)) * 30));
      return `  ${part.padEnd(14)} ${String(tokens).padStart(8)}  ${"█".repeat(cells)}`;
    });
  const cost = models.map(({ model, inputTokens, outputTokens, costUsd }) => {
    const dollars = costUsd === undefined ? "" : `, $${costUsd.toFixed(3)}`;
    return `  ${model}: ${inputTokens} tokens in, ${outputTokens} out${dollars}`;
  });
  return [`  ${used} of ${size} tokens`, ...rows, ...cost].join("\n");
}

/** One row for all names with the same description, with its first sentence alone. */
function commandList(commands: readonly AvailableCommand[]): Block {
  const firstOf = (text: string): string => visibleText(text.split(/(?<=\.)\s/)[0] ?? "").replace(/\.$/, "");
  const rows = [...Map.groupBy(commands, ({ description }) => firstOf(description))].map(
    ([text, named]) => [named.map(({ name }) => `/${visibleText(name)}`).join(" "), text] as const,
  );
  return ({ theme, width }) => {
    const column = Math.min(MAX_NAME, Math.max(...rows.map(([names]) => names.length))) + 2;
    const isWide = width - column >= MIN_TEXT;
    const indent = " ".repeat(isWide ? column : 4);
    const lines = rows.flatMap(([names, text]) => {
      const [first = "", ...rest] = wrapTextWithAnsi(text, width - indent.length);
      const isBeside = isWide && names.length < column - 1;
      const head = isBeside
        ? [`${theme.accent(names.padEnd(column))}${first}`]
        : [theme.accent(names), `${indent}${first}`];
      return [...head, ...rest.map((line) => `${indent}${line}`)];
    });
    return ["", ...lines, "", ...wrapTextWithAnsi(theme.dim(KEYS), width)];
  };
}
