/** The interactive session as plain lines, for a terminal without cursor movements and for screen readers. */
import { createInterface } from "node:readline";
import type { Environment } from "../../agent-core/config/home.ts";
import { ownWords } from "../../agent-core/entry/local-agent.ts";
import { visibleText } from "../../agent-core/platform/visible-text.ts";
import { EXIT } from "../subcommand.ts";
import { promptBlocks } from "./attachments.ts";
import { type ChatEvents, type ChosenSession, withChatAgent } from "./chat-agent.ts";
import { permissionByLine, questionByLine } from "./line-requests.ts";
import { permissionResponse } from "./requests.ts";
import { updatePrinter } from "./update-printer.ts";

export type PlainOptions = ChosenSession & { readonly allowAll: boolean; readonly settings: Environment };

/** Runs until the end of the input or `/quit`. Returns the exit code. */
export async function runPlain({ allowAll, settings, ...chosen }: PlainOptions): Promise<number> {
  const lines = createInterface({ input: process.stdin, terminal: false });
  const input = lines[Symbol.asyncIterator]();
  const say = (text: string): void => void process.stdout.write(`${text}\n`);
  const ask = async (question: string): Promise<string | undefined> => {
    process.stdout.write(question);
    const { done, value } = await input.next();
    return done === true ? undefined : value.trim();
  };
  const printer = updatePrinter("text", "");
  const dialog = { say, key: ask, line: ask };
  const events: ChatEvents = {
    update: (notification) => printer.update(notification),
    openPage: (url) => say(`Open ${url} in a browser.`),
    log: say,
    permission(request) {
      const once = request.options.find(({ kind }) => kind === "allow_once")?.optionId;
      return allowAll && once !== undefined
        ? Promise.resolve(permissionResponse(once))
        : permissionByLine(request, dialog);
    },
    question: (request) => questionByLine(request, dialog),
    async password({ prompt, command }) {
      if (!process.stdin.isTTY) return null;
      say(`A password is needed by: ${visibleText(command)}`);
      process.stdin.setRawMode(true); // nothing that is typed shows
      const typed = (await ask(`${visibleText(prompt).trim()} `)) ?? "";
      process.stdin.setRawMode(false);
      const isPlain = !/\p{Cc}/u.test(typed);
      say(isPlain ? "" : "That held a control key, so it was not used.");
      return isPlain && typed !== "" ? typed : null;
    },
  };
  try {
    return await withChatAgent(
      events,
      async (agent) => {
        const { sessionId } = await agent.open(chosen);
        const interrupt = (): void => agent.cancel(sessionId);
        process.on("SIGINT", interrupt);
        for (;;) {
          const line = await ask("> ");
          if (line === undefined || /^\/(?:quit|exit)$/.test(line)) break;
          if (line === "") continue;
          await agent.prompt(sessionId, promptBlocks(line, chosen.cwd)).catch((error: unknown) => say(ownWords(error)));
          printer.end();
        }
        process.off("SIGINT", interrupt);
        return EXIT.done;
      },
      settings,
    );
  } finally {
    lines.close();
  }
}
