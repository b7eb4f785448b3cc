/** One conversation with an agent in this process, as a client of ACP in memory. */
import type { StopReason } from "@zed-industries/agent-client-protocol";
import type { Environment } from "../agent-core/config/home.ts";
import { localAgent, ownWords, type TaskOptions } from "../agent-core/entry/local-agent.ts";
import { VERSION } from "../agent-core/entry/version.ts";
import { call } from "../agent-core/protocol/method.ts";
import {
  commandMethod,
  type HermesCommandEnd,
  type HermesTrajectory,
  trajectoryMethod,
} from "../agent-core/protocol/trajectory.ts";
import { inUnattendedSession } from "../agent-core/protocol/unattended-session.ts";

const INFO = { name: "hermes-batch", title: "a batch", version: VERSION };

export type SessionRun = {
  /** Folder of the session, absolute. */
  readonly cwd: string;
  readonly environment: Environment;
  readonly prompt: string;
  readonly task: TaskOptions;
  readonly log: (line: string) => void;
  /** Called after the answer, while the session is open. */
  readonly inspect?: ((end: Omit<SessionEnd, "denied">, run: RunCommand) => Promise<void>) | undefined;
};

/** Runs a command where the agent's commands run. */
export type RunCommand = (command: string, signal?: AbortSignal) => Promise<HermesCommandEnd>;

export type SessionEnd = {
  readonly trajectory: HermesTrajectory;
  readonly stopReason: string;
  /** Reason of a failure, in one line. */
  readonly error: string | undefined;
  readonly denied: readonly string[];
};

/** Runs a prompt to its end. Rejects with an Error in one line when no session can be opened, and with the signal's reason. */
export async function runSession(options: SessionRun, signal: AbortSignal): Promise<SessionEnd> {
  const { environment, task, log, cwd, inspect } = options;
  const { app, dispose } = localAgent(environment, log, { task });
  try {
    return await inUnattendedSession(
      app,
      {
        info: INFO,
        cwd,
        async work(agent, sessionId, prompt) {
          signal.throwIfAborted();
          const end = await ended(prompt(options.prompt));
          const whole = { ...end, trajectory: await call(agent, trajectoryMethod, { sessionId }) };
          const run: RunCommand = (command, ends = signal) =>
            call(agent, commandMethod, { sessionId, command }, { cancellationSignal: ends });
          if (end.error === undefined && !signal.aborted) await inspect?.(whole, run);
          return whole;
        },
      },
      signal,
    );
  } finally {
    await dispose();
  }
}

async function ended(turn: Promise<StopReason>): Promise<Pick<SessionEnd, "stopReason" | "error">> {
  try {
    return { stopReason: await turn, error: undefined };
  } catch (error) {
    return { stopReason: "error", error: ownWords(error).split("\n", 1)[0] };
  }
}
