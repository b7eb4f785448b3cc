/** Output of one prompt. */
import { fstatSync } from "node:fs";
import type { SessionNotification, SessionUpdate } from "@zed-industries/agent-client-protocol";

export type UpdatePrinter = {
  update(notification: SessionNotification): void;
  /** Prints a call that needed approval. */
  refused(title: string): void;
  interrupted(): void;
  end(): void;
};

/** `text`: the answer on stdout, the rest on stderr. `answer`: the last message alone. `json`: every update on stdout. */
export type OutputForm = "text" | "answer" | "json";

export function updatePrinter(form: OutputForm): UpdatePrinter {
  return form === "answer" ? answerPrinter() : linePrinter(form === "json");
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
    end() {
      if (answer.trim() !== "") process.stdout.write(`${answer.trimEnd()}\n`);
    },
  };
}

function linePrinter(json: boolean): UpdatePrinter {
  const titles = new Map<string, string>();
  const lines = new ErrorLines();
  const isOneStream = areOneStream();
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
        answer(update.content.text, update.messageId ?? "");
        return;
      }
      const line = lineOf(update, titles);
      if (line !== undefined) note(line, isWait(update));
    },
    refused(title) {
      note(`✗ ${title}: needs approval, and no user is here to approve it (see --yes)`);
    },
    interrupted: () => note("hermes: interrupted."),
    end() {
      lines.finish();
      endLine();
    },
  };
}

/** Both streams go to one terminal, file or pipe, as after `2>&1`. */
function areOneStream(): boolean {
  const [out, errors] = [fstatSync(process.stdout.fd), fstatSync(process.stderr.fd)];
  return process.stdout.isTTY || (out.dev === errors.dev && out.ino === errors.ino);
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
