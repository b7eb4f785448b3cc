/** Lines of a subcommand, and its question. */
import { UsageError } from "../agent-core/platform/errors.ts";

export function say(line: string): void {
  process.stdout.write(`${line}\n`);
}

export function report(line: string): void {
  process.stderr.write(`${line}\n`);
}

/** Throws a UsageError without a terminal. */
export async function agrees(question: string): Promise<boolean> {
  if (!process.stdin.isTTY) throw new UsageError(`${question} Add --yes: there is no terminal to ask at`);
  const { terminalDialog } = await import("../agent-core/entry/terminal-dialog.ts");
  const dialog = terminalDialog(process.stdin, process.stderr);
  const answer = await dialog.ask(`${question} [y/N] `).finally(() => dialog.close());
  return /^y/i.test(answer ?? "");
}
