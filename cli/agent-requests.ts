/** Requests of a subcommand to an agent in this process, by the methods that every editor uses. */
import { type ClientContext, client } from "@zed-industries/agent-client-protocol";
import { endedRunText } from "../agent-core/cron/jobs-text.ts";
import { CLIENT_INFO, connectLocally, localAgent, ownWords } from "../agent-core/entry/local-agent.ts";
import { UsageError } from "../agent-core/platform/errors.ts";
import { cronMethods } from "../agent-core/protocol/cron.ts";
import { onAgentNotification } from "../agent-core/protocol/handle.ts";
import { learningMethods } from "../agent-core/protocol/learning.ts";
import { reportConfigErrors } from "./config-errors.ts";
import { report, say } from "./output.ts";
import { EXIT } from "./subcommand.ts";

/** Result of a request; its line goes to standard output, or as a failure to standard error. */
type Outcome = { readonly ok: boolean; readonly message: string };

/** Returns the exit code. */
export function printOutcome({ ok, message }: Outcome): number {
  if (ok) say(message);
  else report(`hermes: ${message}`);
  return ok ? EXIT.done : EXIT.failed;
}

/** Does the work with a connected agent, and prints ended runs and what is learnt. Returns the exit code; `signal`: Ctrl+C. */
export async function withAgent(work: (agent: ClientContext, signal: AbortSignal) => Promise<number>): Promise<number> {
  await reportConfigErrors();
  const cancel = new AbortController();
  const interrupt = (): void => cancel.abort();
  process.on("SIGINT", interrupt);
  const us = client({ name: CLIENT_INFO.name });
  onAgentNotification(us, cronMethods.finished, ({ params: { run } }) => say(endedRunText(run)));
  onAgentNotification(us, learningMethods.changed, ({ params: { message } }) => {
    if (message !== undefined) report(message);
  });
  try {
    // Notifications about runs and learning go to clients with lists of sessions.
    const capabilities = { _meta: { hermes: { sessionIndex: true } } };
    return await connectLocally(localAgent(), us, { capabilities }, (agent) => work(agent, cancel.signal));
  } catch (error) {
    if (error instanceof UsageError) throw error;
    report(`hermes: ${cancel.signal.aborted ? "interrupted." : ownWords(error)}`);
    return cancel.signal.aborted ? EXIT.interrupted : EXIT.failed;
  } finally {
    process.off("SIGINT", interrupt);
  }
}
