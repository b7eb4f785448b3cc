/** The skills of a session, as an extension: the prompt's index, slash commands, and the list for people. */
import { messageOf } from "../platform/errors.ts";
import { oneLine } from "../platform/one-line.ts";
import { visibleText } from "../platform/visible-text.ts";
import type { HermesExtensionAction, HermesExtensionItem } from "../protocol/extensions.ts";
import type { HubVerb } from "./skill-hub.ts";
import { skillIndex } from "./skill-index.ts";
import { type KnownSkill, type KnownSkills, SkillLibrary, type SkillLibraryOptions } from "./skill-library.ts";
import { isForUser, type SkillFailure, skillFile } from "./skill-places.ts";

/** Skills that one message may begin with: `/first /second what to do`. */
const MAX_STACKED = 5;
const COMMAND = /^\s*\/([a-z0-9-]+)(?=\s|$)/;
/** Part of a description in the list of slash commands. Characters. */
const COMMAND_CHARS = 120;

const NAMED = "The user asked for this skill by name. Follow it for this message:";

/** A slash command. Undefined as its answer: the message is a prompt. */
type SkillCommand = {
  readonly name: string;
  readonly description: string;
  readonly hint: string;
  run(argument: string, signal: AbortSignal): Promise<string> | undefined;
};

export class SessionSkills {
  readonly name = "skills";
  readonly library: SkillLibrary;
  readonly #options: SkillLibraryOptions;
  readonly #listeners: (() => void)[] = [];
  #loaded: Promise<void> | undefined;
  #known: KnownSkills = { skills: [], failures: [] };
  #commands: readonly SkillCommand[];

  constructor(options: SkillLibraryOptions) {
    this.#options = options;
    this.library = new SkillLibrary(options);
    this.#commands = [this.#listCommand()];
  }

  /** Skills that did not load at the last scan. */
  get failures(): readonly SkillFailure[] {
    return this.#known.failures;
  }

  /** Settles when the last reading in the background has ended. Reads the skills if nothing has. Never rejects. */
  loaded(): Promise<void> {
    this.#loaded ??= this.#read();
    return this.#loaded;
  }

  commands(): readonly SkillCommand[] {
    return this.#commands;
  }

  async promptText(): Promise<string | undefined> {
    await this.loaded();
    // A model that has to search for skill_view first reads no index.
    if (this.#options.tools().requested?.includes("skill_view") === false) return undefined;
    return skillIndex(this.#offered().filter((skill) => !isForUser(skill)));
  }

  /** The skills that a message names. The model reads the others by their descriptions. */
  async attach(message: string): Promise<string | undefined> {
    if (!COMMAND.test(message)) return undefined;
    await this.refresh();
    const { named, argument } = this.#namedIn(message);
    if (named.length === 0) return undefined;
    const texts: string[] = [];
    for (const skill of named) {
      const read = await this.library.read(skill, "loaded", "procedure", argument);
      texts.push(read.ok ? read.text : `[The skill ${skill.name} is left out: ${read.reason}. Tell the user.]`);
    }
    return [NAMED, ...texts].join("\n");
  }

  onChange(listener: () => void): void {
    this.#listeners.push(listener);
  }

  items(): readonly HermesExtensionItem[] {
    const { skills, failures } = this.#known;
    return [...skills.map(skillItem), ...failures.map(failureItem)];
  }

  async act(id: string, action: HermesExtensionAction): Promise<string> {
    const name = id.replace(/^skill:/, "");
    return this.#setOff(name, action === "disable");
  }

  warmUp(): void {
    void this.loaded();
  }

  trust(): void {
    this.#loaded = this.#read();
  }

  /** Counts the uses of a turn that has ended, and reads the skills for the next one. */
  async endTurn(succeeded: boolean, changedPaths: ReadonlySet<string>): Promise<void> {
    await this.library.endTurn(succeeded, changedPaths);
    this.#loaded = this.#read();
  }

  /** Reads the skills again, as far as they changed. */
  async refresh(): Promise<void> {
    const before = stateOf(this.#known);
    this.#known = await this.library.load();
    if (stateOf(this.#known) === before) return;
    this.#commands = [this.#listCommand(), ...this.#offered().map(skillCommand)];
    for (const listener of this.#listeners) listener();
  }

  async #read(): Promise<void> {
    try {
      await this.refresh();
    } catch (error) {
      this.#options.onDefect(`The skills cannot be read: ${messageOf(error)}`);
    }
  }

  #offered(): readonly KnownSkill[] {
    return this.#known.skills.filter((skill) => !skill.isOff && skill.unusable === undefined);
  }

  /** The skills at the start of a message, and the text after their names. */
  #namedIn(message: string): { readonly named: readonly KnownSkill[]; readonly argument: string } {
    const named: KnownSkill[] = [];
    let rest = message;
    while (named.length < MAX_STACKED) {
      const [command, name] = COMMAND.exec(rest) ?? [];
      const skill = this.#offered().find((candidate) => candidate.name === name);
      if (command === undefined || skill === undefined || named.includes(skill)) break;
      named.push(skill);
      rest = rest.slice(command.length);
    }
    return { named, argument: rest.trim() };
  }

  #listCommand(): SkillCommand {
    return {
      name: "skills",
      description: "List the skills, switch them on and off, search, install and update them",
      hint: "[enable NAME | disable NAME | search WORDS | install SOURCE | update | uninstall NAME]",
      run: (argument, signal) => this.#runCommand(argument, signal),
    };
  }

  async #runCommand(argument: string, signal: AbortSignal): Promise<string> {
    const [verb = "", ...rest] = argument.split(/\s+/);
    const operand = rest.join(" ");
    switch (verb) {
      case "":
      case "list":
        await this.refresh();
        return listText(this.#known);
      case "enable":
      case "disable":
        await this.refresh();
        return this.#setOff(operand, verb === "disable");
      case "search":
      case "install":
      case "confirm":
      case "update":
      case "uninstall":
        return operand === "" && verb !== "search" && verb !== "update"
          ? USAGE
          : this.#runHubVerb(verb, operand, signal);
      default:
        return USAGE;
    }
  }

  async #runHubVerb(verb: HubVerb, operand: string, signal: AbortSignal): Promise<string> {
    const { runHubVerb } = await import("./skill-hub.ts");
    const { homeSkills, roots, hubSources: sources } = this.#options;
    const lines: string[] = [];
    const install = (address: string): string => `\`/skills install ${address}\``;
    const say = (line: string): void => void lines.push(verb === "search" ? `- ${line}` : line);
    const use = { homeSkills, cwd: roots[0] ?? homeSkills, sources, signal, say, install };
    await runHubVerb(verb, operand, use).catch((error: unknown) => {
      signal.throwIfAborted();
      say(messageOf(error));
    });
    await this.refresh();
    return lines.join("\n");
  }

  async #setOff(name: string, isOff: boolean): Promise<string> {
    const skill = this.#known.skills.find((candidate) => candidate.name === name);
    if (skill === undefined) return `There is no skill ${JSON.stringify(name)}. \`/skills\` lists them.`;
    if (!isOff && this.#options.disabled.includes(name)) return `config.yaml switches ${name} off: skills.disabled.`;
    await this.library.setOff(name, isOff);
    await this.refresh();
    return isOff ? `The skill ${name} is off, in all sessions.` : `The skill ${name} is on.`;
  }
}

const USAGE =
  "Usage: `/skills [enable NAME | disable NAME | search WORDS | install SOURCE | confirm ID | update [NAME] | uninstall NAME]`";

/** Text that changes with everything that clients are shown. */
function stateOf({ skills, failures }: KnownSkills): string {
  const shown = skills.map(({ folder, description, isOff, unusable, record, doubt }) => {
    return [folder, description, isOff, unusable, record, doubt];
  });
  return JSON.stringify([shown, failures]);
}

/** The message stays as the user wrote it; the skill's text follows as data. */
function skillCommand({ name, description }: KnownSkill): SkillCommand {
  return { name, description: oneLine(description, COMMAND_CHARS), hint: "what to do", run: () => undefined };
}

function skillItem(skill: KnownSkill): HermesExtensionItem {
  const { name, place, description, isOff, unusable, doubt } = skill;
  const detail = [usesText(skill), ...(unusable === undefined ? [] : [unusable]), description].join(" · ");
  const shown = { name, source: place, detail: visibleText(detail), path: skillFile(skill) };
  const state = isOff || unusable !== undefined ? "off" : "on";
  const more = doubt === undefined ? [] : (["enable"] as const);
  return { id: `skill:${name}`, kind: "skill", state, ...shown, actions: isOff ? ["enable"] : [...more, "disable"] };
}

function failureItem({ name, path, reason, source }: SkillFailure): HermesExtensionItem {
  const error = visibleText(reason).replaceAll("\n", " ");
  const shown = { name: visibleText(name), source, detail: path, error, path };
  return { id: `skill-failure:${path}`, kind: "skill", state: "failed", ...shown, actions: [] };
}

function usesText({ record: { uses, successes, lastUsed }, doubt }: KnownSkill): string {
  if (doubt !== undefined) return `not offered to the model: ${doubt}`;
  if (uses === 0) return "never used";
  const day = lastUsed === undefined ? "" : `, last on ${lastUsed.slice(0, 10)}`;
  return `used ${uses === 1 ? "once" : `${uses} times`}, ${successes} with success${day}`;
}

function listText({ skills, failures }: KnownSkills): string {
  const lines = skills.map((skill) => {
    const { name, place, author, hides, description, isOff, unusable } = skill;
    const facts = [
      place,
      ...(author === undefined ? [] : [`by ${visibleText(author)}`]),
      usesText(skill),
      ...(hides === undefined ? [] : [`hides the one of: ${hides}`]),
      ...(isOff ? ["off"] : []),
      ...(unusable === undefined ? [] : [unusable]),
    ];
    return `- \`/${name}\` ${visibleText(description)} (${facts.join("; ")})`;
  });
  const broken = failures.map(({ path, reason }) => `- \`${visibleText(path)}\`: ${visibleText(reason)}`);
  const failed = broken.length === 0 ? [] : ["", "Not loaded:", "", ...broken];
  return [`Skills: ${skills.length}`, "", ...lines, ...failed].join("\n");
}
