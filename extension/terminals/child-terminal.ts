/** Runs a command as a child process, which gives its whole output and exit code, and shows it in a terminal of its own. */
import { type CreateTerminalRequest, RequestError } from "@zed-industries/agent-client-protocol";
import * as vscode from "vscode";
import { ASKS_FOR_SECRET, KEYS } from "../../agent-core/platform/ansi.ts";
import type { OutputListener } from "../../agent-core/platform/children/output-flow.ts";
import { type Child, startChild } from "../../agent-core/platform/children/start-child.ts";
import { messageOf } from "../../agent-core/platform/errors.ts";
import { visibleText } from "../../agent-core/platform/visible-text.ts";
import { readMeta } from "../../agent-core/protocol/method.ts";
import { HermesTerminalMeta } from "../../agent-core/protocol/processes.ts";
import type { OutputRing } from "./output-ring.ts";

/** Time within which a second Ctrl+C kills the command. */
const SECOND_INTERRUPT_MS = 2_000;

const CTRL_C = "\u0003";
const CTRL_D = "\u0004";

export type ShownCommand = Pick<Child, "tree" | "exit" | "kill"> & {
  readonly terminal: vscode.Terminal;
  /** Types text where the user sees it; gives the reason when that fails. */
  type(text: string): Promise<string | undefined>;
};

/** `ring` and `show` get the output, in addition to the agent's file. Rejects with an error of the protocol when the start fails. */
export async function startInChildTerminal(
  request: CreateTerminalRequest,
  ring: OutputRing,
  show: (text: string) => void,
): Promise<ShownCommand> {
  const details = detailsOf(request);
  let early = "";
  let print = (text: string): void => {
    early += text;
  };
  const child = await startAgentChild(request, details, (bytes, text) => {
    ring.add(bytes);
    print(details.hasPty ? text : text.replace(/\r?\n/g, "\r\n"));
    show(text);
  });
  const screen = new Screen(screenInput(child, details));
  screen.note(`$ ${visibleText(details.title).replaceAll("\n", "\r\n  ")}`);
  screen.print(early);
  print = (text) => screen.print(text);
  const terminal = vscode.window.createTerminal({
    name: `Hermes: ${visibleText(details.title).slice(0, 40)}`,
    pty: screen,
    iconPath: new vscode.ThemeIcon("sparkle"),
  });
  const exit = child.exit.then((ended) => {
    screen.over();
    screen.print("\r\n");
    const how = ended.signal
      ? vscode.l10n.t("ended by {0}", ended.signal)
      : vscode.l10n.t("exit code {0}", ended.exitCode ?? "?");
    screen.note(`[${how}]`);
    return ended;
  });
  exit.catch((error: Error) => screen.note(error.message)); // `exit` rejects for its caller too
  return {
    terminal,
    tree: child.tree,
    exit,
    type: (text) => (details.hasPty ? child.write(text) : typeLine(text, child, screen, ring.openLine())),
    kill: () => child.kill(),
  };
}

/** The agent's own details of a terminal; without `outputFile` the output is not stored. */
type Details = Omit<HermesTerminalMeta, "outputFile"> & Partial<Pick<HermesTerminalMeta, "outputFile">>;

function detailsOf(request: CreateTerminalRequest): Details {
  const ours = readMeta(HermesTerminalMeta, request._meta);
  return ours ?? { title: commandLine(request), input: "none", hasPty: false };
}

/** Command line for the user: of `sh -c LINE`, the line. */
function commandLine({ command, args = [] }: CreateTerminalRequest): string {
  return args[0] === "-c" && args.length === 2 ? (args[1] ?? command) : [command, ...args].join(" ");
}

/** Rejects with the message of the error, where the protocol would say "internal error". */
function refuse(error: unknown): never {
  throw RequestError.internalError(undefined, messageOf(error));
}

/** Rejects with an error of the protocol when the start fails. */
async function startAgentChild(
  { command, args = [], cwd, env = [] }: CreateTerminalRequest,
  { input, outputFile, hasWholeEnvironment }: Details,
  onOutput: OutputListener,
): Promise<Child> {
  const variables = Object.fromEntries(env.map(({ name, value }) => [name, value]));
  const request = { program: command, args, cwd: cwd ?? undefined, input, outputFile, onOutput };
  const child = await startChild({ ...request, env: variables, inherits: !hasWholeEnvironment }).catch(refuse);
  return { ...child, exit: child.exit.catch(refuse) };
}

/** `openLine` is the last line of output. The answer to a question for a secret is not shown. */
async function typeLine(text: string, child: Child, screen: Screen, openLine: string): Promise<string | undefined> {
  if (text === CTRL_C) {
    child.interrupt();
    return undefined;
  }
  const ends = text.endsWith(CTRL_D);
  const typed = ends ? text.slice(0, -1) : text;
  const echo = ASKS_FOR_SECRET.test(openLine) ? typed.replace(/[^\r\n]/g, "") : typed;
  screen.print(`\u001b[2m${echo.replace(/\r?\n/g, "\r\n")}\u001b[0m`);
  const failure = await child.write(typed);
  if (ends) child.endInput();
  return failure;
}

function screenInput(child: Child, { input, hasPty }: Details): ScreenInput {
  let interruptedAt = Number.NEGATIVE_INFINITY;
  return {
    kind: hasPty ? "raw" : inputKinds[input],
    send: (text) => void child.write(text),
    end: () => child.endInput(),
    interrupt() {
      const now = performance.now();
      if (now - interruptedAt < SECOND_INTERRUPT_MS) void child.kill();
      else child.interrupt();
      interruptedAt = now;
    },
  };
}

const inputKinds = { none: "none", open: "line" } as const;

/** Receivers of what the user types. */
type InputEvents = {
  /** Sends input to the program. */
  send(text: string): void;
  /** Ctrl+C. */
  interrupt(): void;
  /** Ctrl+D on an empty line. */
  end(): void;
};

/** `line`: read by lines from a pipe; `raw`: a pseudo-terminal of its own; `none`: the program has no input. */
type ScreenInput = InputEvents & { readonly kind: "none" | "line" | "raw" };

/** Shows the output, also from before the opening, and edits the line that the user types. */
class Screen implements vscode.Pseudoterminal {
  readonly #writes = new vscode.EventEmitter<string>();
  readonly #input: ScreenInput;
  readonly #line: LineInput;
  #early: string | undefined = "";
  #isOver: boolean = false;
  #isHintShown: boolean = false;

  readonly onDidWrite = this.#writes.event;

  constructor(input: ScreenInput) {
    this.#input = input;
    this.#line = new LineInput({ ...input, echo: (text) => this.print(text) });
  }

  /** Prints text with carriage returns. */
  print(text: string): void {
    if (this.#early === undefined) this.#writes.fire(text);
    else this.#early += text;
  }

  /** Prints a dimmed line of ours. */
  note(text: string): void {
    this.print(`\u001b[2m${text}\u001b[0m\r\n`);
  }

  /** Ignores keys after the command's end. */
  over(): void {
    this.#isOver = true;
  }

  open(): void {
    const early = this.#early ?? "";
    this.#early = undefined;
    this.#writes.fire(early);
  }

  /** VS Code's event reports the closing, also of a terminal that was never drawn. */
  close(): void {
    this.#isOver = true;
  }

  handleInput(data: string): void {
    if (this.#isOver) return;
    if (this.#input.kind === "raw") this.#input.send(data);
    else if (this.#input.kind === "line") this.#line.type(data);
    else if (data === "\u0003") this.#input.interrupt();
    else if (!this.#isHintShown) {
      this.#isHintShown = true;
      this.note(vscode.l10n.t("This command takes no input. Ctrl+C stops it."));
    }
  }
}

/** `echo` shows typed text. */
type LineInputEvents = InputEvents & { echo(text: string): void };

const ERASE_CELL = "\b \b";

export class LineInput {
  readonly #events: LineInputEvents;
  /** Characters of the current line. */
  #line: string[] = [];

  constructor(events: LineInputEvents) {
    this.#events = events;
  }

  /** Handles one key, or pasted text. */
  type(data: string): void {
    for (const [key] of data.matchAll(KEYS)) this.#key(key);
  }

  #key(key: string): void {
    switch (key) {
      case "\r":
      case "\n":
      case "\r\n":
        this.#events.echo("\r\n");
        this.#flush("\n");
        break;
      case "\u007f":
      case "\b":
        if (this.#line.pop() !== undefined) this.#events.echo(ERASE_CELL);
        break;
      case "\u0015": // Ctrl+U
        this.#events.echo(ERASE_CELL.repeat(this.#line.length));
        this.#line = [];
        break;
      case "\u0003":
        this.#line = [];
        this.#events.echo("^C\r\n");
        this.#events.interrupt();
        break;
      case "\u0004":
        if (this.#line.length > 0) this.#flush("");
        else this.#events.end();
        break;
      default:
        if (key !== "\t" && /^\p{Cc}/u.test(key)) return;
        this.#line.push(key);
        this.#events.echo(key);
    }
  }

  #flush(ending: string): void {
    this.#events.send(this.#line.join("") + ending);
    this.#line = [];
  }
}
