/** The hub: skills from folders and git repositories, installed into the home after the user saw what they contain. */
import { hash } from "node:crypto";
import { cp, mkdir, readdir, rename, rm } from "node:fs/promises";
import { basename, dirname, join, relative, sep } from "node:path";
import * as z from "zod";
import { readJsonFile, replaceFile } from "../config/home-file.ts";
import { hasCode, messageOf } from "../platform/errors.ts";
import { withLock } from "../platform/locks/file-lock.ts";
import { makeFolder } from "../platform/make-folder.ts";
import { visibleText } from "../platform/visible-text.ts";
import { hashOfFolder, OFFICIAL, type Quarantined, quarantine } from "./quarantine.ts";
import { HUB_CATEGORY } from "./skill-library.ts";
import { scanPlace } from "./skill-places.ts";

const LOCK_FILE = "hub.lock.json";
const QUARANTINE = join(".hub", "quarantine");
const ARCHIVE = ".archive";
/** Characters of a content hash that the user types to confirm. */
const SHORT_HASH = 8;

const lockSchema = z.object({
  skills: z.record(
    z.string(),
    z.object({
      /** Address that the user gave. */
      source: z.string(),
      /** Content at the time of the installation. */
      hash: z.string(),
      /** ISO time. */
      installedAt: z.string(),
    }),
  ),
});

type HubLock = z.infer<typeof lockSchema>;

/** Skills in quarantine that wait for the user's confirmation. */
type SkillOffer = Quarantined & {
  /** Hash over all contents: a confirmation covers exactly these. */
  readonly id: string;
  readonly source: string;
};

const waitingSchema = z.object({ source: z.string(), id: z.string(), only: z.array(z.string()).exactOptional() });

class SkillHub {
  readonly #skills: string;
  readonly #cwd: string;

  /** `homeSkills`: folder of the home's skills, absolute; may not exist. Relative sources start at `cwd`. */
  constructor(homeSkills: string, cwd: string) {
    this.#skills = homeSkills;
    this.#cwd = cwd;
  }

  /** Installed skills by name. A damaged file counts as empty. */
  async lock(): Promise<HubLock["skills"]> {
    const { data } = lockSchema.safeParse(await readJsonFile(join(this.#skills, LOCK_FILE)));
    return Object.assign(Object.create(null), data?.skills); // a skill may be called "constructor"
  }

  /** Fetches and checks the skills of a source; `only`: those with these names. Rejects with an Error in one line. */
  async fetch(source: string, signal: AbortSignal, only?: readonly string[]): Promise<SkillOffer> {
    const folder = join(this.#skills, QUARANTINE, hash("sha256", source).slice(0, 16));
    makeFolder(dirname(folder), 0o700);
    const found = await quarantine(source, { folder, cwd: this.#cwd, signal });
    const skills = only === undefined ? found.skills : found.skills.filter(({ name }) => only.includes(name));
    const id = hash("sha256", skills.map((skill) => `${skill.name} ${skill.hash}`).join("\n"));
    await replaceFile(`${folder}.json`, JSON.stringify({ source, id, ...(only && { only }) }));
    return { ...found, skills, id, source };
  }

  /** Installs the shown skills. Resolves to their names; rejects with an Error in one line when they changed since. */
  async confirm(id: string, signal: AbortSignal): Promise<readonly string[]> {
    const waiting = await this.#waiting(id);
    if (waiting === undefined)
      throw new Error(`No skills with the id ${id} wait for your confirmation. Install them again to get an id.`);
    const offer = await this.fetch(waiting.source, signal, waiting.only);
    if (!offer.id.startsWith(id)) {
      throw new Error(`${waiting.source} has changed since you saw it. Install it again to see the new contents.`);
    }
    await withLock(join(this.#skills, `${LOCK_FILE}.lock`), () => this.#install(offer));
    return offer.skills.map(({ name }) => name);
  }

  /** Moves an installed skill to the archive. Rejects with an Error in one line when the hub did not install it. */
  async uninstall(name: string): Promise<void> {
    const { [name]: installed, ...others } = await this.lock();
    if (installed === undefined) throw new Error(`The hub did not install a skill ${JSON.stringify(name)}.`);
    await this.#archive(name);
    await this.#writeLock(others);
  }

  /** True when the user or the agent changed an installed skill. */
  async isChanged(name: string): Promise<boolean> {
    const installed = (await this.lock())[name];
    return installed !== undefined && (await hashOfFolder(this.#folderOf(name))) !== installed.hash;
  }

  async #waiting(id: string): Promise<z.infer<typeof waitingSchema> | undefined> {
    const folder = join(this.#skills, QUARANTINE);
    for (const name of await readdir(folder).catch(() => [])) {
      const { data } = waitingSchema.safeParse(name.endsWith(".json") ? await readJsonFile(join(folder, name)) : null);
      if (data !== undefined && id.length >= SHORT_HASH && data.id.startsWith(id)) return data;
    }
    return undefined;
  }

  async #install({ skills, source }: SkillOffer): Promise<void> {
    const lock = await this.lock();
    const { skills: present } = await scanPlace({ source: "home", folder: this.#skills, shown: "home" });
    const taken = skills.find(({ name }) => present.some((other) => other.name === name) && lock[name] === undefined);
    if (taken !== undefined) {
      throw new Error(
        `The home has its own skill ${taken.name}, which the hub does not replace. Rename or delete yours first.`,
      );
    }
    const installedAt = new Date().toISOString();
    const added = await Promise.all(
      skills.map(async ({ name, folder, hash }) => {
        const target = this.#folderOf(name);
        const fresh = `${target}.new`;
        await rm(fresh, { recursive: true, force: true });
        await mkdir(dirname(target), { recursive: true, mode: 0o700 });
        await cp(folder, fresh, { recursive: true, filter: (path) => basename(path) !== ".git" });
        await this.#archive(name);
        await rename(fresh, target);
        return [name, { source, hash, installedAt }] as const;
      }),
    );
    await this.#writeLock({ ...lock, ...Object.fromEntries(added) });
    await rm(join(this.#skills, QUARANTINE), { recursive: true, force: true });
  }

  /** Moves the earlier folder to the archive first. */
  async #archive(name: string): Promise<void> {
    const archived = join(this.#skills, ARCHIVE, `${name}-${Date.now()}`);
    await mkdir(dirname(archived), { recursive: true, mode: 0o700 });
    await rename(this.#folderOf(name), archived).catch((error: unknown) => {
      if (!hasCode(error, "ENOENT")) throw error; // it is not there yet, or no longer
    });
  }

  async #writeLock(skills: HubLock["skills"]): Promise<void> {
    await replaceFile(join(this.#skills, LOCK_FILE), `${JSON.stringify({ skills }, undefined, 2)}\n`);
  }

  #folderOf(name: string): string {
    return join(this.#skills, HUB_CATEGORY, name);
  }
}

/** Contents of an offer, for the user: the skills, what they may run, and what was refused. */
function offerText({ skills, refusals, source }: SkillOffer): string {
  const lines = skills.map(({ name, description, files, programs }) => {
    const runs = programs.length === 0 ? "no programs" : `programs that the agent may run: ${programs.join(", ")}`;
    return `- ${name}: ${visibleText(description)} (${files} ${files === 1 ? "file" : "files"}; ${visibleText(runs)})`;
  });
  const refused = refusals.map(({ name, reason }) => `- refused: ${visibleText(name)}: ${visibleText(reason)}`);
  return [`From ${visibleText(source)}:`, ...lines, ...refused].join("\n");
}

/** Offers of newer contents, and one line for each installed skill without one. */
async function findUpdates(
  hub: SkillHub,
  name: string,
  signal: AbortSignal,
): Promise<{ readonly offers: readonly SkillOffer[]; readonly notes: readonly string[] }> {
  const installed = Object.entries(await hub.lock()).filter(([each]) => name === "" || each === name);
  const offers: SkillOffer[] = [];
  const none = `No skill ${name === "" ? "" : `"${name}" `}was installed by this command.`;
  const notes: string[] = installed.length === 0 ? [none] : [];
  for (const [each, { source, hash }] of installed) {
    try {
      if (await hub.isChanged(each)) {
        notes.push(`${each}: changed here since its installation, so it is not updated.`);
        continue;
      }
      const offer = await hub.fetch(source, signal, [each]);
      if (offer.skills.some((skill) => skill.hash !== hash)) offers.push(offer);
      else notes.push(`${each}: ${offer.skills.length === 0 ? "no longer in its source, or refused" : "up to date"}.`);
    } catch (error) {
      notes.push(`${each}: ${messageOf(error)}`);
    }
  }
  return { offers, notes };
}

/** Verbs that search the sources and change installed skills. */
export type HubVerb = "search" | "install" | "confirm" | "update" | "uninstall";

export type HubUse = {
  /** Folder of the home's skills, absolute. Relative sources start at `cwd`. */
  readonly homeSkills: string;
  readonly cwd: string;
  /** Default: `DEFAULT_SOURCES`. */
  readonly sources?: readonly string[] | undefined;
  readonly signal: AbortSignal;
  /** Takes each line for the user. */
  readonly say: (line: string) => void;
  /** Command that installs the skill at an address. */
  readonly install: (address: string) => string;
  /** Resolves to true when the user agrees to the shown offer. Undefined: the user sends its id in a command. */
  readonly agrees?: () => Promise<boolean>;
};

/**
 * Runs a verb of `/skills` or of `hermes skills`. Resolves to false when nothing was found, installed or removed. Rejects
 * with an Error in one line.
 */
export async function runHubVerb(verb: HubVerb, operand: string, use: HubUse): Promise<boolean> {
  const { homeSkills, cwd, signal, say } = use;
  const hub = new SkillHub(homeSkills, cwd);
  switch (verb) {
    case "search":
      return searchSkills(operand, use);
    case "install":
      return offer(hub, await hub.fetch(operand, signal), use);
    case "confirm":
      say(`Installed: ${(await hub.confirm(operand, signal)).join(", ")}.`);
      return true;
    case "update": {
      const { offers, notes } = await findUpdates(hub, operand, signal);
      for (const note of notes) say(note);
      for (const each of offers) await offer(hub, each, use);
      return operand === "" || (await hub.lock())[operand] !== undefined;
    }
    case "uninstall":
      await hub.uninstall(operand);
      say(`Uninstalled ${operand}. Its files are in ${join(homeSkills, ARCHIVE)}.`);
      return true;
  }
}

async function offer(hub: SkillHub, found: SkillOffer, { say, agrees, signal }: HubUse): Promise<boolean> {
  say(offerText(found));
  if (found.skills.length === 0) return false;
  if (agrees === undefined) {
    say(`\nTo install: \`/skills confirm ${found.id.slice(0, SHORT_HASH)}\``);
    return true;
  }
  const isAgreed = await agrees();
  say(isAgreed ? `Installed: ${(await hub.confirm(found.id, signal)).join(", ")}.` : "Nothing was installed.");
  return isAgreed;
}

/** Sources without `skills.hub_sources` in config.yaml: those in the package, and the public skills of the format's authors. */
const DEFAULT_SOURCES: readonly string[] = [OFFICIAL, "anthropics/skills/skills"];
/** Listed skills; more are a reason for another word. */
const MAX_FOUND = 20;

const FOLDER = join(".hub", "search");

/** One line for each skill, with its install command, and one for each source that failed. False: no source answered. */
async function searchSkills(operand: string, use: HubUse): Promise<boolean> {
  const { sources = DEFAULT_SOURCES, signal, say } = use;
  const words = operand.split(/\s+/).filter((word) => word !== "");
  const found = await Promise.allSettled(sources.map((source) => searchSource(source, words, use)));
  signal.throwIfAborted();
  const failures = found.flatMap((each) => (each.status === "rejected" ? [messageOf(each.reason)] : []));
  const skills = found.flatMap((each) => (each.status === "fulfilled" ? each.value : []));
  for (const line of skills.slice(0, MAX_FOUND)) say(line);
  if (skills.length > MAX_FOUND) say(`${skills.length - MAX_FOUND} more: add a word to the search.`);
  if (skills.length === 0 && failures.length < sources.length) say(`No skill in ${sources.join(", ")} matches.`);
  for (const failure of failures) say(failure);
  return failures.length < sources.length;
}

async function searchSource(
  source: string,
  words: readonly string[],
  { homeSkills, cwd, signal, install }: HubUse,
): Promise<readonly string[]> {
  const folder = join(homeSkills, FOLDER, hash("sha256", source).slice(0, 16));
  try {
    const { skills, address } = await quarantine(source, { folder, cwd, signal });
    return skills
      .filter(({ name, description }) => {
        const text = `${name} ${description}`.toLowerCase();
        return words.every((word) => text.includes(word.toLowerCase()));
      })
      .map(({ name, description, folder: inner }) => {
        const place = relative(folder, inner).split(sep).join("/");
        return `${name}: ${visibleText(description)} Install it with: ${install(address(place))}`;
      });
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
