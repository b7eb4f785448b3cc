/** Problems of config.yaml, for commands that read it without a session. */
import { loadConfig } from "../agent-core/config/config.ts";
import { homeFolder } from "../agent-core/config/home.ts";

/** Without a readable config.yaml a list may show what the file disables. */
export async function reportConfigErrors(): Promise<void> {
  const { errors } = await loadConfig(homeFolder(process.env), process.env);
  for (const error of errors) process.stderr.write(`hermes: ${error}\n`);
}
