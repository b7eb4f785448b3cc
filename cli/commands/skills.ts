/** `hermes skills`: lists the skills, and installs, updates and uninstalls those of the hub. */
import { configuredAgent } from "../../agent-core/agent/configured-agent.ts";
import { type Environment, homeFolder, skillsFolder } from "../../agent-core/config/home.ts";
import { takeEnvironment } from "../../agent-core/host/terminals/command-environment.ts";
import { type HubVerb, runHubVerb } from "../../agent-core/skills/skill-hub.ts";
import { reportConfigErrors } from "../config-errors.ts";
import { agrees, say } from "../output.ts";
import { CWD, EXIT, subcommand, YES } from "../subcommand.ts";

export type SkillsCommand = {
  readonly verb: HubVerb;
  /** Source or name; empty where the verb needs none. */
  readonly operand: string;
  /** Absolute. */
  readonly cwd: string;
  readonly environment: Environment;
  readonly say: (line: string) => void;
  /** True when the user agrees to the installation that `say` has shown. */
  readonly confirm: () => Promise<boolean>;
};

const needs = "a name; hermes skills list shows the names";
const verbs = {
  list: { summary: "list the skills of this folder, of the Hermes home and of Hermes itself" },
  search: { summary: "search the sources of the hub (skills.hub_sources in config.yaml)", operands: "[WORDS…]" },
  install: {
    summary: "install skills from a folder, an address or owner/repository/path",
    operands: "SOURCE",
    needs: "a source",
  },
  update: { summary: "update the skills that the hub installed", operands: "[NAME]" },
  uninstall: { summary: "remove a skill that the hub installed", operands: "NAME", needs },
};

export const command = subcommand({
  verbs,
  options: { cwd: CWD, yes: { ...YES, verbs: ["install", "update"], summary: "install without asking" } },
  examples: [
    ["skills search test", "search the sources of the hub"],
    ["skills install official/bisect-regression", "install a skill that comes with Hermes"],
    ["skills install anthropics/skills/skills/pdf", "install a skill from GitHub"],
  ],
  async run({ verb, operands, values: { cwd, yes } }) {
    if (verb === "list") return { slash: "/skills", cwd };
    await reportConfigErrors();
    return runSkillsCommand({
      ...{ verb, cwd, operand: operands.join(" "), environment: takeEnvironment() },
      say,
      confirm: () => (yes ? Promise.resolve(true) : agrees("Install?")),
    });
  },
});

/** Returns the exit code. */
export async function runSkillsCommand(command: SkillsCommand): Promise<number> {
  const { verb, operand, cwd, environment, say, confirm: agrees } = command;
  const { options } = await configuredAgent(environment, "cli");
  const { hubSources: sources } = options.skills || {};
  const homeSkills = skillsFolder(homeFolder(environment));
  const install = (address: string): string => `skills install ${address}`;
  const { signal } = new AbortController();
  const isDone = await runHubVerb(verb, operand, { homeSkills, cwd, sources, signal, say, install, agrees });
  return isDone ? EXIT.done : EXIT.failed;
}
