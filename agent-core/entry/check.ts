/** `--check`: which model the configuration leads to, and whether it answers. */
import { AIAgent } from "../agent/ai-agent.ts";
import { type ConfiguredAgent, configuredAgent } from "../agent/configured-agent.ts";
import { ModelDirectory } from "../agent/model-directory.ts";
import type { Environment } from "../config/home.ts";
import { messageOf } from "../platform/errors.ts";
import { settingsOf } from "../providers/choice.ts";

/** Long enough for a cold local model to say a word. */
const CHECK_TIMEOUT_MS = 30_000;

/** Prints one line; gives the exit code: 0 when the model answered, else 1. */
export async function checkSetup(environment: Environment): Promise<number> {
  const say = (line: string): void => void process.stderr.write(`${line}\n`);
  try {
    const configured = await configuredAgent(environment, "acp");
    for (const warning of configured.warnings) say(warning);
    const agent = new AIAgent({
      ...configured.options,
      ...(await model(configured, say)),
      enabledToolsets: [],
      maxIterations: 1,
    });
    const signal = AbortSignal.timeout(CHECK_TIMEOUT_MS);
    const { stopReason, fault } = await agent.runConversation({ userMessage: "help", signal });
    if (fault !== undefined || stopReason === "cancelled") {
      say(fault?.message ?? `The model ${agent.model.model} did not answer within ${CHECK_TIMEOUT_MS / 1000} s.`);
      return 1;
    }
    say(`The model ${agent.model.model} answers.`);
    return 0;
  } catch (error) {
    say(messageOf(error));
    return 1;
  }
}

/** As a session would begin: what answers on this machine counts when nothing is configured. Throws when there is none. */
async function model(configured: ConfiguredAgent, log: (line: string) => void): Promise<ReturnType<typeof settingsOf>> {
  const directory = new ModelDirectory({ home: configured.options.home ?? "", log });
  directory.configure(configured);
  const resolution = await directory.automatic();
  if (!resolution.ok) throw new Error(resolution.message);
  return settingsOf(resolution.model);
}
