/** One command of the agent as our own child. */
import { type CreateTerminalRequest, RequestError } from "@zed-industries/agent-client-protocol";
import type { OutputListener } from "../../agent-core/platform/children/output-flow.ts";
import { type Child, startChild } from "../../agent-core/platform/children/start-child.ts";
import { messageOf } from "../../agent-core/platform/errors.ts";
import type { TerminalRequest } from "./terminal-request.ts";

/** Rejects with an error of the protocol when it cannot be started. */
export async function startAgentChild(
  { command, args = [], cwd, env = [] }: CreateTerminalRequest,
  { input, outputFile }: TerminalRequest,
  onOutput: OutputListener,
): Promise<Child> {
  const variables = Object.fromEntries(env.map(({ name, value }) => [name, value]));
  const request = { program: command, args, cwd: cwd ?? undefined, env: variables, input, outputFile, onOutput };
  const child = await startChild(request).catch(refuse);
  return { ...child, exit: child.exit.catch(refuse) };
}

/** The agent is told in words what would otherwise be "internal error". */
export function refuse(error: unknown): never {
  throw RequestError.internalError(undefined, messageOf(error));
}
