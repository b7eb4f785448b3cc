/** The slash commands: a message that begins with `/name` runs the command and does not reach the model. */
import type { AvailableCommand } from "@zed-industries/agent-client-protocol";
import type { CommandAnswer, ExtensionCommand } from "../../agent/extensions.ts";
import { UsageError } from "../../platform/errors.ts";
import { nearName } from "../../platform/names.ts";
import { commandIn } from "../../protocol/conversation.ts";
import { titleLine } from "../../sessions/titles.ts";
import type { Command, CommandSession } from "./command.ts";
import { carryOut, grants, mode, status } from "./permission-commands.ts";

const SYNTAX =
  '`/cron`, `/cron pause|resume|run|remove JOB`, or `/cron create SCHEDULE PROMPT`; a schedule is `30m`, `every 2h`, `"0 9 * * 1-5"` or `2026-11-24T09:00`';

const MAX_TITLE_CHARS = 200;

/** Without a running turn, the message is an ordinary prompt. */
function sendAsPrompt(message: string): ReturnType<Command["run"]> {
  return message === "" ? "Add a message after the command." : { ask: message };
}

/** In the order in which editors list them. */
const commands: readonly Command[] = [
  carryOut,
  {
    name: "checkpoint",
    description: "List your messages as checkpoints, or restore files and conversation to one",
    hint: "restore N [files|conversation|both] [confirm] | undo",
    run: async (argument, session) => (await import("./restore-answers.ts")).answerCheckpoint(argument, session),
  },
  {
    name: "worktree",
    description: "List worktrees of sessions, make one, or end the one of this session",
    hint: "new NAME | merge | rebase | branch | patch | discard",
    run: async (argument, session) => (await import("../worktree-requests.ts")).answerWorktree(argument, session),
  },
  {
    name: "compress",
    description: "Summarise older messages now",
    hint: "what the summary must keep",
    run: async (argument, session) => (await import("./model-answers.ts")).answerCompress(argument, session),
  },
  {
    name: "cron",
    description: "Show planned jobs, create, pause, resume, run or remove one",
    hint: "[create SCHEDULE PROMPT | pause | resume | run | remove JOB]",
    async run(argument, { jobs, cwd, signal }) {
      if (jobs === undefined) return "A planned job cannot change jobs.";
      const { jobsText, requestIn } = await import("../../cron/jobs-text.ts");
      if (argument === "" || argument === "list") return `${jobsText(await jobs.state())}\n\nType ${SYNTAX}.`;
      const request = requestIn(argument);
      return request === undefined ? `Type ${SYNTAX}.` : (await jobs.act(request, cwd, signal)).message;
    },
  },
  {
    name: "export",
    description: "Export this session to a file",
    hint: "[md | json] [path]",
    run: async (argument, session) => (await import("./history-answers.ts")).answerExport(argument, session),
  },
  {
    name: "goal",
    description: "Pursue a goal over turns, judged after each one; show, pause, resume or clear it, or set its turns",
    hint: "TEXT | pause | resume | clear | budget N",
    run: (argument, session) => session.goal.answer(argument),
  },
  grants,
  {
    name: "help",
    description: "List the commands",
    async run(_argument, session) {
      await session.agent.settleExtensions(session.signal);
      const lines = [...commands, ...session.agent.setup.extensions.commands()].map(
        ({ name, description, hint }) => `- \`/${name}${hint ? ` ${hint}` : ""}\` ${description}`,
      );
      return [
        "Describe a task: the agent reads and edits files and runs commands in this workspace.",
        "",
        ...lines,
        "",
        `Mode: \`${session.mode}\`. Model: \`${session.agent.setup.models.current.model}\`.`,
      ].join("\n");
    },
  },
  {
    name: "import",
    description: "Import the sessions of an original Hermes Agent home",
    hint: "path of state.db or its folder; default: the Hermes home",
    run: async (argument, session) => (await import("./history-answers.ts")).answerImport(argument, session),
  },
  {
    name: "learning",
    description: "Show what was learnt and what waits for you; keep, undo, forget or pin it; switch learning on or off",
    hint: "[keep | undo | forget | pin ID | on | off | run]",
    run: async (argument, session) => (await import("./learning-answers.ts")).answerLearning(argument, session),
  },
  {
    name: "memory",
    description: "Show the memory, or undo a change of it",
    hint: "undo [ID], or remove TEXT",
    run: async (argument, session) => (await import("./memory-answers.ts")).answerMemory(argument, session),
  },
  mode,
  {
    name: "model",
    description: "List the available models, or switch to one",
    hint: "name or part of a name",
    run: async (argument, session) => (await import("./model-answers.ts")).answerModel(argument, session),
  },
  {
    name: "new",
    description: "Start a new conversation: the model forgets this one, the journal keeps it",
    run(_argument, { agent, restores }) {
      const [first] = restores.points();
      if (first === undefined) return "This session has no messages yet.";
      restores.rewindTo(agent.transcript[0]?.position ?? first.position);
      return "A new conversation starts here. Files are unchanged.";
    },
  },
  {
    name: "queue",
    description: "Send a message after the running turn",
    hint: "message",
    run: sendAsPrompt,
  },
  {
    name: "report",
    description: "Show the health report: what got worse, success, errors and cost",
    async run(_argument, { learning: access }) {
      const [{ reportText }, [newest]] = await Promise.all([
        import("../../learning/stored-reports.ts"),
        access.reports(1),
      ]);
      return newest === undefined
        ? "There is no health report yet. The first one is written after a day with sessions; `/learning run` writes it now."
        : reportText(newest);
    },
  },
  {
    name: "resume",
    description: "Continue an earlier conversation in this session",
    hint: "last | id | words of the title",
    run: async (argument, session) => (await import("./history-answers.ts")).answerResume(argument, session),
  },
  {
    name: "retry",
    description: "Discard the last answer and ask again",
    run: async (_argument, session) => (await import("./restore-answers.ts")).answerRetry(session),
  },
  status,
  {
    name: "steer",
    description: "Send a message into the running turn",
    hint: "message",
    run: sendAsPrompt,
  },
  {
    name: "stop",
    description: "Stop the running turn",
    run: () => "Nothing is running.",
  },
  {
    name: "title",
    description: "Show or set the title of this session",
    hint: "new title",
    run(argument, { agent }) {
      if (argument === "")
        return agent.session.title === undefined ? "This session has no title yet." : `Title: ${agent.session.title}`;
      const title = titleLine(argument.slice(0, MAX_TITLE_CHARS));
      if (title === "") return "The title has no visible characters. Type another one.";
      agent.session.setTitle(title);
      return `Title: ${title}`;
    },
  },
  {
    name: "tools",
    description: "List the agent's tools",
    async run(_argument, { agent, signal }) {
      await agent.settleExtensions(signal);
      return agent.setup.catalogue.callable.map(({ name }) => `- \`${name}\``).join("\n");
    },
  },
  {
    name: "undo",
    description: "Undo your last message and everything after it, in conversation and files",
    run: async (_argument, session) => (await import("./restore-answers.ts")).answerUndo(session),
  },
  {
    name: "usage",
    description: "Show the tokens and cost of this session and of today",
    run: async (_argument, session) => (await import("./model-answers.ts")).answerUsage(session),
  },
];

/**
 * The command's answer; undefined when `text` is an ordinary message, such as one with words after an unknown command.
 * Throws a UsageError for a wrong command.
 */
export async function runCommand(text: string, session: CommandSession): Promise<CommandAnswer | undefined> {
  const { name, argument } = commandIn(text);
  const command = commands.find((candidate) => candidate.name === name);
  if (command !== undefined) {
    const isMeant = argument === "" || command.hint !== undefined || command.name === "stop";
    if (!isMeant) throw new UsageError(`Nothing was done: \`/${command.name}\` takes no words after it.`);
    return command.run(argument, session);
  }
  if (name === undefined) return undefined;
  await session.agent.settleExtensions(session.signal);
  const further = session.agent.setup.extensions.commands().find((candidate) => candidate.name === name);
  if (further !== undefined) return further.run(argument, session.signal);
  if (argument === "") throw new UsageError(unknownCommand(name, session));
  return undefined;
}

function unknownCommand(name: string, { agent }: CommandSession): string {
  const near = nearName(name, [...reservedNames, ...agent.setup.extensions.commands().map((each) => each.name)]);
  const hint = near === undefined ? "`/help` lists the commands." : `Did you mean \`/${near}\`?`;
  return `There is no command \`/${name}\`. ${hint}`;
}

const commandNames: readonly string[] = commands.map(({ name }) => name);

/** Names that no plugin's command and no command file may have: those of built-in commands and of the extensions' lists. */
export const reservedNames: readonly string[] = [...commandNames, "plugins", "mcp", "hooks", "skills"];

/** The built-in commands, then those of extensions. A built-in command hides an extension's command with the same name. */
export function availableCommands(further: readonly ExtensionCommand[]): AvailableCommand[] {
  return [...commands, ...further.filter(({ name }) => !commandNames.includes(name))].map(
    ({ name, description, hint }) => ({
      name,
      description,
      ...(hint !== undefined && { input: { hint } }),
    }),
  );
}
