/** The skills that a session can use: found in their places, filtered for the session, and read as data for the model. */
import { existsSync, statSync } from "node:fs";
import { platform } from "node:os";
import { basename, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { readFrontMatter } from "../config/front-matter.ts";
import { Switches } from "../config/switches.ts";
import { KeyedQueue } from "../platform/keyed-queue.ts";
import { wrapData } from "../prompt/injection-scan.ts";
import type { ReviewOutcome } from "../sessions/outcome-entries.ts";
import type { ToolNames } from "./skill.ts";
import { doubtAbout, listSkillFiles, readProcedure, readSkillFile, type SkillText } from "./skill-files.ts";
import {
  COMMAND_FOLDERS,
  externalPlaces,
  type FoundSkills,
  isInside,
  projectPlaces,
  type Skill,
  type SkillFailure,
  type SkillPlace,
  scanPlace,
  skillFile,
} from "./skill-places.ts";
import { changeRecord, readRecords, recordOf, type SkillRecord, type SkillRecords } from "./skill-records.ts";

declare const __SKILLS__: unknown;

export const HUB_CATEGORY = "hub";
/** Category of the skills that learning writes. */
export const LEARNT_CATEGORY = "learnt";

/** Use of a skill, for the session's journal. */
export type SkillUse = {
  readonly name: string;
  readonly version: string;
  /** `offered`: listed in the prompt; `loaded`: read by the model, or named by the user. */
  readonly how: "offered" | "loaded";
};

export type SkillLibraryOptions = {
  /** Folder of the home's skills, absolute; may not exist. */
  readonly homeSkills: string;
  /** Workspace folders, absolute. */
  readonly roots: readonly string[];
  /** False until the user trusts the workspace. Until then its skills are not read. */
  readonly trusted: () => boolean;
  /** `skills.external_dirs` of config.yaml. */
  readonly externalFolders: readonly string[];
  /** `skills.disabled` of config.yaml. */
  readonly disabled: readonly string[];
  /** `skills.hub_sources` of config.yaml. */
  readonly hubSources?: readonly string[] | undefined;
  /** Names that no command file may have, because a command of Hermes has them. */
  readonly reservedNames?: readonly string[];
  /** False: learnt skills are not read, and what learning says about others does not count. */
  readonly useLearnt?: boolean;
  /** Folders of plugins, absolute. */
  readonly pluginFolders: () => readonly string[];
  /** Enabled tools of the session. */
  readonly tools: () => ToolNames;
  /** Variables that the session's commands get. */
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly onUse: (use: SkillUse) => void;
  readonly onDefect: (message: string) => void;
  /** Milliseconds since 1970. */
  readonly now: () => number;
};

/** A skill with its state in the session. */
export type KnownSkill = Skill & {
  readonly record: SkillRecord;
  /** The user or config.yaml switched it off. */
  readonly isOff: boolean;
  /** Reason why this session cannot use it, as a part of a sentence; undefined for a usable one. */
  readonly unusable: string | undefined;
  /** Place of a skill with the same name that it hides. */
  readonly hides: string | undefined;
  /** Reason why no model is offered it here, as sessions showed. The user can name it, and enable it for good. */
  readonly doubt?: string;
};

export type KnownSkills = { readonly skills: readonly KnownSkill[]; readonly failures: readonly SkillFailure[] };

type ReviewedTurn = {
  readonly skills: readonly string[];
  readonly changedPaths: ReadonlySet<string>;
  /** Lines that the user kept, less those that the user undid or retyped. */
  balance: number;
  isSuccess: boolean;
};

export class SkillLibrary {
  readonly #options: SkillLibraryOptions;
  #loading: Promise<KnownSkills> | undefined;
  /** Skills whose text reached the model in the running turn. */
  readonly #usedInTurn = new Set<string>();
  readonly #writes = new KeyedQueue();
  /** The last turn with skills, when it succeeded. */
  #reviewed: ReviewedTurn | undefined;
  /** No turn followed the one in `#reviewed`. */
  #isLatest: boolean = false;

  constructor(options: SkillLibraryOptions) {
    this.#options = options;
  }

  /** Folder of the home's skills, absolute; may not exist. */
  get homeFolder(): string {
    return this.#options.homeSkills;
  }

  /** Date of the session's clock, as YYYY-MM-DD in UTC. */
  get today(): string {
    return new Date(this.#options.now()).toISOString().slice(0, 10);
  }

  /** All skills of the session, by precedence, then by name. Reads only files that changed. Never rejects. */
  load(): Promise<KnownSkills> {
    this.#loading ??= this.#load().finally(() => {
      this.#loading = undefined;
    });
    return this.#loading;
  }

  /** Skills that the session may use. */
  async offered(): Promise<readonly KnownSkill[]> {
    const { skills } = await this.load();
    return skills.filter((skill) => !skill.isOff && skill.unusable === undefined);
  }

  /** The skill with this name, usable or not. */
  async find(name: string): Promise<KnownSkill | undefined> {
    return (await this.load()).skills.find((skill) => skill.name === name);
  }

  /**
   * Text of a skill as data for the model, with the paths of its other files. `part`: all of SKILL.md, or only the procedure
   * without front matter. `argument`: text that follows the name of a command. Counts as a use.
   */
  async read(skill: Skill, how: SkillUse["how"], part: "whole" | "procedure", argument?: string): Promise<SkillText> {
    const read = readProcedure(skill);
    if (!read.ok) return read;
    const isCommand = skill.commandFile !== undefined;
    const files = isCommand ? [] : await listSkillFiles(skill.folder);
    this.#usedInTurn.add(skill.name);
    this.#options.onUse({ name: skill.name, version: skill.version, how });
    const procedure = part === "whole" ? read.text : (await readFrontMatter(read.text)).body;
    const called = isCommand && argument !== undefined;
    const filled = called ? (await commandFiles()).withArguments(procedure, argument) : procedure;
    const text = filled
      .replaceAll("$ARGUMENTS", () => argument ?? "$ARGUMENTS")
      .replaceAll(/\$\{CLAUDE_SKILL_DIR\}/g, () => skill.folder);
    return { ok: true, text: wrapData("skill", skill.name, [text, ...this.#notes(skill, files)].join("\n\n")) };
  }

  /** Text of another file of a skill, as data for the model. */
  async readFile(skill: Skill, path: string): Promise<SkillText> {
    const read = readSkillFile(skill, path);
    return read.ok ? { ok: true, text: wrapData("skill_file", `${skill.name}/${path}`, read.text) } : read;
  }

  /** Switches a skill on or off, for all sessions. Rejects when writing fails. */
  async setOff(name: string, isOff: boolean): Promise<void> {
    await (await Switches.of(dirname(this.#options.homeSkills))).set(`skill:${name}`, () => ({ isOn: !isOff }));
  }

  /** Counts the uses of a turn. `changedPaths`: files that it edited, absolute. */
  async endTurn(succeeded: boolean, changedPaths: ReadonlySet<string>): Promise<void> {
    const skills = [...this.#usedInTurn];
    this.#usedInTurn.clear();
    this.#isLatest = skills.length > 0;
    if (skills.length === 0) return;
    this.#reviewed = succeeded ? { skills, changedPaths, balance: 0, isSuccess: true } : undefined;
    const lastUsed = new Date(this.#options.now()).toISOString();
    await this.#change(skills, (record) => ({
      ...record,
      uses: record.uses + 1,
      successes: record.successes + (succeeded ? 1 : 0),
      lastUsed,
    }));
  }

  /** Counts the user's decision on an edit. The turn of the edit is no success while most of its lines are undone. */
  async review({ path, outcome, lines }: ReviewOutcome): Promise<void> {
    const turn = this.#reviewed;
    if (!turn?.changedPaths.has(path)) return;
    turn.balance += outcome === "kept" ? lines : -lines;
    const isSuccess = turn.balance >= 0;
    if (turn.isSuccess === isSuccess) return;
    turn.isSuccess = isSuccess;
    await this.#addSuccesses(turn.skills, isSuccess ? 1 : -1);
  }

  /** The user took the last turn back, which is not a success. */
  async takeBack(): Promise<void> {
    const turn = this.#reviewed;
    if (!this.#isLatest || turn === undefined) return;
    this.#reviewed = undefined;
    if (turn.isSuccess) await this.#addSuccesses(turn.skills, -1);
  }

  #addSuccesses(skills: readonly string[], change: 1 | -1): Promise<void> {
    return this.#change(skills, (record) => ({ ...record, successes: Math.max(0, record.successes + change) }));
  }

  /** Never rejects. */
  async #change(names: readonly string[], change: (record: SkillRecord) => SkillRecord): Promise<void> {
    const { homeSkills, onDefect } = this.#options;
    const write = async (): Promise<void> => {
      for (const name of names) await changeRecord(homeSkills, name, change);
    };
    await this.#writes
      .run("", write)
      .catch((error: unknown) => onDefect(`Uses of skills are not counted: ${String(error)}`));
  }

  #notes({ folder, variables }: Skill, files: readonly string[]): readonly string[] {
    const { environment } = this.#options;
    const unset = variables.filter((name) => !environment[name]);
    return [
      ...(files.length > 0 ? [`Its files, in ${folder}: ${files.join(", ")}`] : []),
      ...(unset.length > 0 ? [`It needs environment variables that are not set: ${unset.join(", ")}`] : []),
    ];
  }

  #places(): readonly SkillPlace[] {
    const { homeSkills, roots, trusted, externalFolders, pluginFolders } = this.#options;
    return [
      ...(trusted() ? projectPlaces(roots) : []),
      { source: "home", folder: homeSkills, shown: "home" },
      ...externalPlaces(externalFolders, dirname(homeSkills)),
      ...pluginFolders().map((folder): SkillPlace => ({ source: "plugin", folder, shown: `plugin ${folder}` })),
    ];
  }

  async #load(): Promise<KnownSkills> {
    const { homeSkills, roots, trusted, disabled, reservedNames = [], useLearnt = true } = this.#options;
    const commandFolders = roots.flatMap((root) => COMMAND_FOLDERS.map(({ folder }) => join(root, folder)));
    const [found, commands, records, switches] = await Promise.all([
      Promise.all(this.#places().map(scanPlace)),
      trusted() && commandFolders.some((folder) => existsSync(folder))
        ? (await commandFiles()).projectCommands(roots, reservedNames)
        : [],
      readRecords(homeSkills),
      Switches.of(dirname(homeSkills)),
    ]);
    const isOff = (name: string): boolean => switches.get(`skill:${name}`).isOn === false || disabled.includes(name);
    const used = useLearnt ? found : found.map(withoutLearnt);
    const bundled = { skills: await bundledSkills(), failures: [] };
    const { skills, failures, hidden } = firstOfEachName([...used, ...commands, bundled]);
    return {
      skills: await Promise.all(
        skills.map(async (skill) => {
          const known = await this.#known(skill, records);
          const isSure = !useLearnt || switches.get(`skill:${skill.name}`).isOn === true;
          const doubt = isSure ? undefined : doubtHere(known, roots);
          const standing = doubt === undefined ? {} : { doubt, isForUser: true };
          return { ...known, ...standing, hides: hidden.get(skill.name), isOff: isOff(skill.name) };
        }),
      ),
      failures,
    };
  }

  async #known(skill: Skill, records: SkillRecords): Promise<Omit<KnownSkill, "hides" | "isOff">> {
    const foreign = unusableReason(skill, this.#options.tools()) ?? foreignProject(skill, this.#options.roots);
    return {
      ...skill,
      record: recordOf(records, skill.name),
      unusable: foreign ?? (await doubtAbout(skill)),
    };
  }
}

/** Loaded for projects with commands alone. */
const commandFiles = () => import("./command-files.ts");

type Precedence = FoundSkills & { readonly hidden: ReadonlyMap<string, string> };

function firstOfEachName(found: readonly FoundSkills[]): Precedence {
  const first = new Map<string, Skill>();
  const hidden = new Map<string, string>();
  const failures: SkillFailure[] = found.flatMap((each) => each.failures);
  for (const skill of found.flatMap(({ skills }) => skills)) {
    const earlier = first.get(skill.name);
    if (earlier === undefined) {
      first.set(skill.name, skill);
    } else if (earlier.place === skill.place) {
      const reason = `another one has the same name: ${earlier.commandFile === undefined ? earlier.folder : skillFile(earlier)}`;
      failures.push({ name: skill.name, path: skillFile(skill), reason, line: 1, source: skill.source });
    } else if (!hidden.has(skill.name)) {
      hidden.set(skill.name, skill.place);
    }
  }
  return { skills: [...first.values()], failures, hidden };
}

function withoutLearnt({ skills, failures }: FoundSkills): FoundSkills {
  const isLearnt = (skill: Skill): boolean => basename(dirname(skill.folder)) === LEARNT_CATEGORY;
  return { skills: skills.filter((skill) => skill.source !== "home" || !isLearnt(skill)), failures };
}

/** Doubt of a session in these folders about a skill that nobody edited since. */
function doubtHere(skill: Omit<KnownSkill, "hides" | "isOff">, roots: readonly string[]): string | undefined {
  const doubts = Object.entries(skill.record.doubts ?? {}).toSorted(([, one], [, other]) => other.at - one.at);
  const [, doubt] = doubts.find(([project]) => roots.some((root) => isInside(root, project))) ?? [];
  const edited = doubt && statSync(skillFile(skill), { throwIfNoEntry: false })?.mtimeMs;
  return doubt !== undefined && doubt.at > (edited ?? 0) ? doubt.reason : undefined;
}

function foreignProject({ project }: Skill, roots: readonly string[]): string | undefined {
  if (project === undefined) return undefined;
  const isHere = roots.some((root) => isInside(root, project) || isInside(project, root));
  return isHere ? undefined : `it is for the project ${project}`;
}

const PLATFORMS: Readonly<Record<string, readonly string[]>> = {
  darwin: ["macos", "darwin", "mac"],
  linux: ["linux"],
  win32: ["windows", "win32"],
};

/** Reason why the skill is not for this system; undefined when it is. */
export function foreignPlatform({ platforms }: Pick<Skill, "platforms">): string | undefined {
  const own = PLATFORMS[platform()] ?? [platform()];
  const isHere = platforms.length === 0 || platforms.some((name) => own.includes(name));
  return isHere ? undefined : `it is for ${platforms.join(", ")}`;
}

function unusableReason(skill: Skill, enabled: ToolNames): string | undefined {
  const { requires, fallbackFor } = skill;
  const foreign = foreignPlatform(skill);
  if (foreign !== undefined) return foreign;
  const lacks =
    requires.toolsets.find((name) => !enabled.toolsets.includes(name)) ??
    requires.tools.find((name) => !enabled.tools.includes(name));
  if (lacks !== undefined) return `it needs ${lacks}, which is not enabled`;
  const has =
    fallbackFor.toolsets.find((name) => enabled.toolsets.includes(name)) ??
    fallbackFor.tools.find((name) => enabled.tools.includes(name));
  return has === undefined ? undefined : `it replaces ${has}, which is enabled`;
}

async function bundledSkills(): Promise<readonly Skill[]> {
  const { bundled } = await import("./bundled.gen.ts");
  const root = bundledFolder();
  const place = { author: undefined, source: "bundled", place: "bundled" } as const;
  return bundled.map((facts) => ({ ...facts, ...place, folder: join(root, facts.name) }));
}

/** Folder of the skills that the package contains. */
function bundledFolder(): string {
  const inner = typeof __SKILLS__ === "string" ? __SKILLS__ : "./bundled";
  return fileURLToPath(new URL(inner, import.meta.url));
}
