/** The interactive session as plain lines, for a terminal without cursor movements and for screen readers. */
import { createInterface } from "node:readline";
import { ownWords } from "../../agent-core/entry/local-agent.ts";
import { EXIT } from "../subcommand.ts";
import { promptBlocks } from "./attachments.ts";
import { type ChatEvents, type ChosenSession, withChatAgent } from "./chat-agent.ts";
import { permissionChoices, permissionResponse, plainPermission, questionOf, questionResponse } from "./requests.ts";
import { updatePrinter } from "./update-printer.ts";

export type PlainOptions = ChosenSession & { readonly allowAll: boolean };

/** Runs until the end of the input or `/quit`. Returns the exit code. */
export async function runPlain({ allowAll, ...chosen }: PlainOptions): Promise<number> {
  const lines = createInterface({ input: process.stdin, terminal: false });
  const input = lines[Symbol.asyncIterator]();
  const say = (text: string): void => void process.stdout.write(`${text}\n`);
  const ask = async (question: string): Promise<string | undefined> => {
    process.stdout.write(question);
    const { done, value } = await input.next();
    return done === true ? undefined : value.trim();
  };
  const printer = updatePrinter(false);
  const events: ChatEvents = {
    update: (notification) => printer.update(notification),
    note: say,
    async permission(request) {
      const once = request.options.find(({ kind }) => kind === "allow_once")?.optionId;
      if (allowAll && once !== undefined) return permissionResponse(once);
      const choices = permissionChoices(request.options);
      say(plainPermission(request));
      const key = await ask(`${choices.map((choice) => `${choice.key} = ${choice.name}`).join(", ")}: `);
      return permissionResponse(choices.find((choice) => choice.key === key)?.value ?? "reject");
    },
    async question(request) {
      const question = questionOf(request);
      say([question.message, ...question.choices.map((choice, index) => `  ${index + 1}  ${choice}`)].join("\n"));
      return questionResponse(question, (await ask("> ")) || undefined);
    },
  };
  try {
    return await withChatAgent(events, async (agent) => {
      const { sessionId } = await agent.open(chosen);
      const interrupt = (): void => agent.cancel(sessionId);
      process.on("SIGINT", interrupt);
      for (let line = await ask("> "); line !== undefined && !/^\/(?:quit|exit)$/.test(line); line = await ask("> ")) {
        if (line === "") continue;
        await agent.prompt(sessionId, promptBlocks(line, chosen.cwd)).catch((error: unknown) => say(ownWords(error)));
        printer.end();
      }
      process.off("SIGINT", interrupt);
      return EXIT.done;
    });
  } finally {
    lines.close();
  }
}
