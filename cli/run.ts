/** Runs a command line. */
import { homeFolder } from "../agent-core/config/home.ts";
import { VERSION } from "../agent-core/entry/version.ts";
import { attempt, hasCode, messageOf, UsageError } from "../agent-core/platform/errors.ts";
import { withOwnCommand } from "../agent-core/platform/own-command.ts";
import { type CommandLine, folderProblem, parseCommandLine } from "./command-line.ts";
import { EXIT } from "./subcommand.ts";
import { subcommands } from "./subcommands.ts";

/** Returns the exit code. */
export async function runHermes(args: readonly string[]): Promise<number> {
  process.stdout.on("error", endWithoutOutput);
  try {
    if (!hasCurrentFolder()) throw new Error("the current folder no longer exists. Change to another one.");
    return await run(await parseCommandLine(args));
  } catch (error) {
    process.stderr.write(`hermes: ${withOwnCommand(messageOf(error))}\n`);
    return error instanceof UsageError ? EXIT.misused : EXIT.failed;
  }
}

async function run(line: CommandLine): Promise<number> {
  switch (line.kind) {
    case "help":
      process.stdout.write(await (await import("./help.ts")).helpText(line.name));
      return EXIT.done;
    case "version":
      process.stdout.write(`${VERSION}\n`);
      return EXIT.done;
    case "run": {
      if (line.command.withoutHome !== true) checkHome();
      const outcome = await line.command.run(line.invocation, subcommands);
      return typeof outcome === "number" ? outcome : (await import("./chat/one-shot.ts")).runSlashCommand(outcome);
    }
  }
}

/** Relative paths, and Node itself, need a current folder. */
function hasCurrentFolder(): boolean {
  return attempt(() => process.cwd() !== "") ?? false;
}

function checkHome(): void {
  const problem = folderProblem(homeFolder(process.env), { canBeNew: true });
  if (problem !== undefined) throw new Error(`the Hermes home ${problem}. Set HERMES_HOME to a folder.`);
}

/** A reader such as `head` closes the pipe when it has enough: the work continues without output. A full disk ends it. */
function endWithoutOutput(error: Error): void {
  if (hasCode(error, "EPIPE")) return;
  process.stderr.write(`hermes: the output could not be written: ${messageOf(error)}\n`);
  process.exit(EXIT.failed);
}
