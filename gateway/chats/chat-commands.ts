/** Commands that the gateway answers by itself; the agent gets the others. */
import { messageOf } from "../../agent-core/platform/errors.ts";
import type { IncomingMessage } from "../adapters/adapter.ts";
import type { AgentLink } from "../agent-link.ts";
import type { Rank } from "../who-may.ts";
import type { ChatSession } from "./chat-session.ts";
import { answerIn, type Questions } from "./questions.ts";

export type CommandCall = {
  readonly message: IncomingMessage;
  /** Words after the command. */
  readonly argument: string;
  readonly rank: Rank;
  readonly answersForOthers: boolean;
  readonly chat: ChatSession;
  readonly agent: AgentLink;
  readonly questions: Questions;
  /** Makes this chat the one for messages that name none. */
  readonly setHome: () => void;
};

/** The answer as Markdown; undefined when there is nothing to say. */
type Command = (call: CommandCall) => string | undefined | Promise<string | undefined>;

/**
 * Commands of the agent that change permissions, run servers, or reach sessions of others. The owner gives them at the machine.
 */
const AT_THE_MACHINE = new Set(
  "mode grants import export mcp hooks plugins skills tools learning report checkpoint carry-out".split(" "),
);

const HELP = `\`/new\` begins a new session, \`/resume\` lists earlier ones
\`/stop\` stops the turn, \`/status\` shows what runs
\`/approve [session]\`, \`/deny\` answer a question
\`/retry\`, \`/undo\`, \`/compress\`, \`/model\`, \`/title\`, \`/usage\` work on the session
\`/whoami\` shows your id, \`/sethome\` makes this the chat for messages without one
\`/NAME words\` uses a skill`;

const commands: Readonly<Record<string, Command>> = {
  start: () => "Hello. Write what you need; `/help` lists the commands.",
  help: () => HELP,
  new: newSession,
  reset: newSession,
  stop: ({ chat }) => (chat.stop() ? undefined : "Nothing is running."),
  whoami: ({ message: { user, chat }, rank }) =>
    `Your id is \`${user}\`, this chat's is \`${chat}\`. You are ${rank === "admin" ? "an admin" : "a user"}.`,
  status: ({ chat }) => {
    const { sessionId, platform } = chat.record;
    const state = chat.isBusy ? `A turn runs, and ${chat.waiting} messages wait.` : "Nothing runs.";
    return `${state} ${sessionId === undefined ? "No session yet." : `Session \`${sessionId}\` on ${platform}.`}`;
  },
  approve: (call) => answer(call, /^(?:session|always)$/i.test(call.argument) ? ["session"] : ["once"]),
  deny: (call) => answer(call, ["reject", "skip"]),
  sethome: ({ setHome, rank }) => {
    if (rank !== "admin") return "Only an admin can do this.";
    setHome();
    return "Messages that name no chat come here from now on.";
  },
  resume,
};

async function newSession({ chat }: CommandCall): Promise<string> {
  await chat.reset();
  return "A new session begins with your next message.";
}

function answer(
  { questions, chat, message, answersForOthers }: CommandCall,
  wanted: readonly string[],
): string | undefined {
  const open = questions.of(chat.record.key, message.user, answersForOthers);
  const option = open?.options.find(({ value }) => wanted.includes(value));
  if (open === undefined || open.kind !== "approval" || option === undefined) return "There is no question to answer.";
  open.answer(option.value, option.label);
  return undefined;
}

/** Sessions of this chat alone: others may belong to other people. */
async function resume({ argument, chat, agent }: CommandCall): Promise<string> {
  const { earlier } = chat.record;
  if (earlier.length === 0) return "This chat has no earlier session.";
  const titles = await agent.titles(earlier).catch(() => ({}) as Readonly<Record<string, string>>);
  const wanted = earlier[Number(argument) - 1];
  if (wanted !== undefined) {
    await chat.reset(wanted);
    return `Continuing “${titles[wanted] || wanted}”.`;
  }
  const lines = earlier.map((id, index) => `${index + 1}. ${titles[id] || id}`);
  return `${lines.join("\n")}\n\n\`/resume 1\` continues the first one.`;
}

/** The command of a text, and the words after it. Undefined for other texts. */
export function commandIn(text: string): { readonly name: string; readonly argument: string } | undefined {
  const [, name, argument = ""] = /^\/([a-z][\w-]*)(?:\s+([\s\S]*))?$/i.exec(text.trim()) ?? [];
  return name === undefined ? undefined : { name: name.toLowerCase(), argument: argument.trim() };
}

/** Runs a command. Returns false for one of the agent, and for an ordinary text. */
export async function runCommand(name: string, call: CommandCall): Promise<boolean> {
  const { chat } = call;
  if (AT_THE_MACHINE.has(name)) {
    chat.say(`\`/${name}\` does not work from a chat. Give it in the editor or in a terminal.`);
    return true;
  }
  const command = Object.hasOwn(commands, name) ? commands[name] : undefined;
  if (command === undefined) return false;
  const text = await Promise.resolve(command(call)).catch(messageOf);
  if (text !== undefined) chat.say(text);
  return true;
}

/** Answers an open question of the model with a text. False when none waits for this person. */
export function answerWithText({
  questions,
  chat,
  message,
  answersForOthers,
}: Omit<CommandCall, "argument" | "agent" | "setHome">): boolean {
  const open = questions.of(chat.record.key, message.user, answersForOthers);
  if (open?.kind !== "question" || message.text === "") return false;
  open.answer(answerIn(message.text, open.options), message.text.slice(0, 60));
  return true;
}
