/** Output of one prompt. */
import { fstatSync } from "node:fs";
import type { SessionNotification, SessionUpdate } from "@zed-industries/agent-client-protocol";
import { withOwnCommand } from "../../agent-core/platform/own-command.ts";

export type UpdatePrinter = {
  update(notification: SessionNotification): void;
  /** Prints a call that needed approval. */
  refused(title: string): void;
  interrupted(): void;
  /** The agent's advice as the user of a shell can follow it. */
  forShell(text: string): string;
  end(): void;
};

/** `text`: the answer on stdout, the rest on stderr. `answer`: the last message. `json`: all updates but lists of commands; `deltas`: all, in pieces. */
export type OutputForm = "text" | "answer" | "json" | "deltas";

/** `own`: the slash command that a subcommand of its name runs. Then the answer is the agent's own words, too. */
export function updatePrinter(form: OutputForm, own: string | undefined): UpdatePrinter {
  if (form === "answer") return answerPrinter();
  return form === "json" ? joiningPrinter(linePrinter(true, own)) : linePrinter(form === "deltas", own);
}

/** `commands`: undefined before the list of commands has come. */
function forShell(text: string, commands: readonly string[] | undefined, own: string | undefined): string {
  const typed = text.replace(/`\/([\w-]+)((?: [^`]*)?)`/g, (whole, name: string, rest: string) => {
    if (own?.split(" ", 1)[0] === `/${name}`) return `\`hermes ${name}${rest}\``;
    const isCommand = commands?.includes(name) ?? true;
    return own === undefined && isCommand ? `\`hermes -c "/${name}${rest}"\`` : whole;
  });
  return withOwnCommand(typed);
}

/** Prints a message or a thought once, when something else follows its last piece. */
function joiningPrinter(print: UpdatePrinter): UpdatePrinter {
  let open: SessionNotification | undefined;
  const close = (): void => {
    if (open !== undefined) print.update(open);
    open = undefined;
  };
  return {
    ...print,
    update(next) {
      if (next.update.sessionUpdate === "available_commands_update") return; // the longest line, before all others
      const [before, after] = [open && pieceOf(open), pieceOf(next)];
      if (before?.key !== after?.key) close();
      if (after === undefined) return print.update(next);
      const text = `${open === undefined ? "" : (before?.text ?? "")}${after.text}`;
      open = { ...next, update: { ...after.update, content: { type: "text", text } } };
    },
    end() {
      close();
      print.end();
    },
  };
}

/** Undefined for an update that is no piece of a text. */
function pieceOf({ update }: SessionNotification) {
  if (update.sessionUpdate !== "agent_message_chunk" && update.sessionUpdate !== "agent_thought_chunk")
    return undefined;
  const { sessionUpdate, messageId, content } = update;
  return content.type === "text" ? { key: `${sessionUpdate} ${messageId}`, text: content.text, update } : undefined;
}

function answerPrinter(): UpdatePrinter {
  let message: unknown;
  let answer = "";
  return {
    update({ update }) {
      if (update.sessionUpdate !== "agent_message_chunk" || update.content.type !== "text") return;
      if (update.messageId !== message) answer = "";
      message = update.messageId;
      answer += update.content.text;
    },
    refused: () => undefined,
    interrupted: () => undefined,
    forShell: withOwnCommand,
    end() {
      if (answer.trim() !== "") process.stdout.write(`${answer.trimEnd()}\n`);
    },
  };
}

function linePrinter(json: boolean, own: string | undefined): UpdatePrinter {
  let commands: readonly string[] | undefined;
  const typed = (text: string): string => forShell(text, commands ?? [], own);
  const titles = new Map<string, string>();
  const lines = new ErrorLines();
  // One terminal, file or pipe, as after `2>&1`.
  const [out, errors] = [fstatSync(process.stdout.fd), fstatSync(process.stderr.fd)];
  const isOneStream = process.stdout.isTTY || (out.dev === errors.dev && out.ino === errors.ino);
  let lastMessage: unknown;
  /** The line of the answer at the cursor has no end yet. */
  let isOpen = false;
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
  const endLine = (): void => {
    if (isOpen) print("\n");
    isOpen = false;
  };
  const answer = (text: string, message: unknown): void => {
    if (lastMessage !== undefined && message !== lastMessage) {
      endLine();
      print("\n"); // an empty line between two messages
    }
    lastMessage = message;
    print(text);
    isOpen = !text.endsWith("\n");
  };
  const note = (line: string, replaceable = false): void => {
    if (isOneStream) endLine();
    flush();
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
        answer(own === undefined ? update.content.text : typed(update.content.text), update.messageId ?? "");
        return;
      }
      if (update.sessionUpdate === "available_commands_update")
        commands = update.availableCommands.map(({ name }) => name);
      const line =
        update.sessionUpdate === "notice" ? `! ${forShell(update.title, commands, own)}` : lineOf(update, titles);
      if (line !== undefined) note(line, "retry" in Object(update._meta?.["hermes"]));
    },
    refused(title) {
      note(`✗ ${title}: needs approval, and no user is here to approve it (see --yes)`);
    },
    interrupted: () => note("hermes: interrupted."),
    forShell: typed,
    end() {
      lines.finish();
      endLine();
    },
  };
}

/** Lines on stderr. On a terminal the next line replaces a replaceable one, such as that of a wait. */
class ErrorLines {
  #isOpen: boolean = false;

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

function lineOf(update: SessionUpdate, titles: Map<string, string>): string | undefined {
  if (update.sessionUpdate !== "tool_call" && update.sessionUpdate !== "tool_call_update") return undefined;
  const title = update.title ?? titles.get(update.toolCallId) ?? update.toolCallId;
  titles.set(update.toolCallId, title);
  if (update.status === "completed") return `✓ ${title}`;
  return update.status === "failed" ? `✗ ${title}` : undefined;
}
