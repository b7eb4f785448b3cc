/** `--check`: which model the configuration leads to, and whether it answers. */
import { AIAgent } from "../agent/ai-agent.ts";
import { configuredAgent } from "../agent/configured-agent.ts";
import type { Environment } from "../config/home.ts";

/** Long enough for a cold local model to say a word. */
const CHECK_TIMEOUT_MS = 30_000;

/** Prints one line; gives the exit code: 0 when the model answered, else 1. */
export async function checkSetup(environment: Environment): Promise<number> {
  const say = (line: string): boolean => process.stderr.write(`${line}\n`);
  try {
    const { options, warnings } = await configuredAgent(environment, "acp");
    for (const warning of warnings) say(warning);
    const agent = new AIAgent({ ...options, enabledToolsets: [], maxIterations: 1 });
    const signal = AbortSignal.timeout(CHECK_TIMEOUT_MS);
    const { stopReason, fault } = await agent.runConversation({ userMessage: "help", signal });
    if (fault !== undefined || stopReason === "cancelled") {
      say(fault?.message ?? `The model ${agent.model.model} did not answer within ${CHECK_TIMEOUT_MS / 1000} s.`);
      return 1;
    }
    say(`The model ${agent.model.model} answers.`);
    return 0;
  } catch (error) {
    say(error instanceof Error ? error.message : String(error));
    return 1;
  }
}
