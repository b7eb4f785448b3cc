/** `hermes skills`: lists the skills, and installs, updates and uninstalls those of the hub. */
import { configuredAgent } from "../../agent-core/agent/configured-agent.ts";
import { type Environment, homeFolder, skillsFolder } from "../../agent-core/config/home.ts";
import { takeEnvironment } from "../../agent-core/host/terminals/command-environment.ts";
import { messageOf } from "../../agent-core/platform/errors.ts";
import { visibleText } from "../../agent-core/platform/visible-text.ts";
import {
  DEFAULT_SOURCES,
  findUpdates,
  offerText,
  SkillHub,
  type SkillOffer,
  searchSkills,
} from "../../agent-core/skills/skill-hub.ts";
import { foreignPlatform, SkillLibrary } from "../../agent-core/skills/skill-library.ts";

import { reportConfigErrors } from "../config-errors.ts";
import { CWD, subcommand, YES } from "../subcommand.ts";

export type SkillsCommand = {
  readonly verb: SkillVerb;
  /** Source or name; empty where the verb needs none. */
  readonly operand: string;
  /** Absolute. */
  readonly cwd: string;
  readonly environment: Environment;
  readonly say: (line: string) => void;
  /** Takes the line about a failure. */
  readonly report: (line: string) => void;
  /** True when the user agrees to the installation that `say` has shown. */
  readonly confirm: () => Promise<boolean>;
};

/** Agrees to an installation, unasked with `--yes`. */
async function asksUser(): Promise<boolean> {
  const { terminalDialog } = await import("../../agent-core/entry/terminal-dialog.ts");
  const dialog = terminalDialog(process.stdin, process.stdout);
  const answer = await dialog.ask("Install? [y/N] ");
  dialog.close();
  return /^y/i.test(answer ?? "");
}

const needs = "a name; hermes skills list shows the names";
const verbs = {
  list: { summary: "list the skills of this folder, of the Hermes home and of Hermes itself" },
  search: { summary: "search the sources of the hub (skills.hub_sources in config.yaml)", operands: "[WORDS…]" },
  install: {
    summary: "install skills from a folder, a git address or owner/repository/path",
    operands: "SOURCE",
    needs: "a source",
  },
  update: { summary: "update the skills that the hub installed", operands: "[NAME]" },
  uninstall: { summary: "remove a skill that the hub installed", operands: "NAME", needs },
};
export type SkillVerb = keyof typeof verbs;

export const command = subcommand({
  verbs,
  options: { cwd: CWD, yes: { ...YES, verbs: ["install", "update"], summary: "install without asking" } },
  examples: [
    ["skills search test", "search the sources of the hub"],
    ["skills install official/bisect-regression", "install a skill that comes with Hermes"],
    ["skills install anthropics/skills/skills/pdf", "install a skill from GitHub"],
  ],
  async run({ verb, operands, values: { cwd, yes } }) {
    await reportConfigErrors();
    return runSkillsCommand({
      ...{ verb, cwd, operand: operands.join(" "), environment: takeEnvironment() },
      say: (line) => void process.stdout.write(`${line}\n`),
      report: (line) => void process.stderr.write(`${line}\n`),
      confirm: () => (yes ? Promise.resolve(true) : asksUser()),
    });
  },
});

/** Returns the exit code. */
export async function runSkillsCommand(command: SkillsCommand): Promise<number> {
  const { verb, operand, cwd, environment, say, report } = command;
  const hub = new SkillHub(skillsFolder(homeFolder(environment)), cwd);
  const { signal } = new AbortController();
  try {
    switch (verb) {
      case "list":
        return await list(command);
      case "search":
        return await search(command, signal);
      case "install":
        return await install(hub, await hub.fetch(operand, signal), command);
      case "update": {
        if (operand !== "" && (await hub.lock())[operand] === undefined) {
          throw new Error(`The hub did not install a skill ${JSON.stringify(operand)}.`);
        }
        const { offers, notes } = await findUpdates(hub, operand, signal);
        for (const note of notes) say(note);
        for (const offer of offers) await install(hub, offer, command);
        return 0;
      }
      case "uninstall":
        await hub.uninstall(operand);
        say(`Uninstalled ${operand}.`);
        return 0;
    }
  } catch (error) {
    report(`hermes: ${messageOf(error)}`);
    return 1;
  }
}

async function install(hub: SkillHub, offer: SkillOffer, { say, confirm }: SkillsCommand): Promise<number> {
  say(offerText(offer));
  if (offer.skills.length === 0) return 1;
  if (!(await confirm())) {
    say("Nothing was installed.");
    return 1;
  }
  say(`Installed: ${(await hub.confirm(offer.id, new AbortController().signal)).join(", ")}.`);
  return 0;
}

async function search({ operand, cwd, environment, say }: SkillsCommand, signal: AbortSignal): Promise<number> {
  const { options } = await configuredAgent(environment, "cli");
  const { hubSources: sources = DEFAULT_SOURCES } = options.skills || {};
  const words = operand.split(/\s+/).filter((word) => word !== "");
  const homeSkills = skillsFolder(homeFolder(environment));
  const { ok, lines } = await searchSkills({ words, sources, homeSkills, cwd, signal });
  for (const line of lines) say(line);
  return ok ? 0 : 1;
}

/** Prints all skills, usable in a session or not, and those that do not load. */
async function list({ cwd, environment, say }: SkillsCommand): Promise<number> {
  const { options } = await configuredAgent(environment, "cli");
  const { externalFolders = [], disabled = [] } = options.skills || {};
  const library = new SkillLibrary({
    externalFolders,
    disabled,
    environment,
    homeSkills: skillsFolder(homeFolder(environment)),
    roots: [cwd],
    trusted: () => true,
    pluginFolders: () => [],
    tools: () => ({ toolsets: [], tools: [] }),
    onUse: () => undefined,
    onDefect: say,
    now: Date.now,
  });
  const { skills, failures } = await library.load();
  for (const skill of skills) {
    const { name, place, isOff, description } = skill;
    const facts = [place, isOff ? "off" : undefined, foreignPlatform(skill)].filter((fact) => fact !== undefined);
    say(`${name} (${facts.join(", ")}): ${visibleText(description)}`);
  }
  for (const { path, reason } of failures) say(`not loaded: ${visibleText(path)}: ${visibleText(reason)}`);
  return 0;
}
