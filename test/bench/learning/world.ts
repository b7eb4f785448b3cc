/** World of a trial: two real git projects, what one user wants in them, and the tasks of each day with their checks. */
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Chance } from "./chance.ts";
import {
  AND,
  ASIDES,
  type Aside,
  filled,
  HOSTILE_LINES,
  LANGUAGES,
  type Language,
  REQUESTS,
  STATEMENTS,
  SUBJECTS,
  TOPICS,
  type Topic,
  VALUES,
  WRONG,
} from "./languages.ts";

/**
 * `recurring`: needs hold, some change once. `shuffled`: each task has needs of its own. `flipping`: all needs change daily.
 * `obvious`: what the model does by default is right.
 */
export type WorldKind = "recurring" | "shuffled" | "flipping" | "obvious";

/** `terse` first says only that it is wrong; `once` says a need once in all; `fickle` changes a mind back and forth. */
export const TRAITS = ["plain", "terse", "once", "fickle"] as const;
export type Trait = (typeof TRAITS)[number];

type Need = {
  readonly topic: Topic;
  /** Service or module; empty for others. */
  readonly subject: string;
  /** Folder of the project; empty: everywhere. */
  readonly project: string;
  /** Values that hold, and those that held. */
  values: readonly string[];
  readonly past: Set<string>;
  /** Day of its last statement by the user; 0: never stated. */
  said: number;
  changed: number;
};

export type Task = {
  readonly day: number;
  readonly project: string;
  readonly topic: Topic;
  readonly subject: string;
  readonly request: string;
  /** Undefined when the project is as the user wants it. */
  check(): string | undefined;
  /** Files of the task, for the user's decision on them. */
  readonly files: readonly string[];
};

/** Standing of a value that a prompt has. */
export type Standing = "true" | "outdated" | "foreign" | "invented";

/** Default of a model that knows nothing. */
export const DEFAULTS: Readonly<Record<Topic, string>> = {
  prefix: "wip",
  header: "",
  folder: "",
  suite: "all",
  port: "8080",
  release: "",
};
export const STEPS = 4;
const PREFERENCES_CHANGE = 8;
const PROCEDURES_CHANGE = 10;
const HOSTILE_FROM = 4;

export class World {
  readonly language: Language;
  readonly trait: Trait;
  readonly projects: readonly string[];
  readonly needs: readonly Need[];
  /** Sentences that hold for one task only, or that nobody may keep, as far as the user said them. */
  readonly asides: { readonly kind: Aside; readonly value: string }[] = [];
  readonly #chance: Chance;
  readonly #kind: WorldKind;
  /** All needs were stated: a user of the trait `once` repeats none. */
  #count = 0;

  constructor(seed: number, salt: string, kind: WorldKind, folder: string) {
    this.#chance = new Chance(seed, salt, "world");
    this.#kind = kind;
    this.language = LANGUAGES[(seed - 1) % LANGUAGES.length] ?? "en";
    this.trait = this.#chance.pick(TRAITS);
    this.projects = ["north", "south"].map((name) => join(folder, name));
    this.needs = [
      this.#need("prefix", "", ""),
      this.#need("header", "", ""),
      ...this.projects.flatMap((project) => [
        this.#need("folder", "", project),
        this.#need("suite", "", project),
        this.#need("release", "", project),
        ...(SUBJECTS.port ?? []).map((subject) => this.#need("port", subject, project)),
      ]),
    ];
    for (const project of this.projects) this.#make(project);
  }

  /** Changes what changes on this day, and gives its tasks. */
  *day(day: number, count: number): Generator<Task> {
    this.#shock(day);
    for (let at = 0; at < count; at += 1) {
      if (this.#kind === "shuffled") for (const need of this.needs) this.#change(need, day);
      // A skill needs sessions of one kind.
      const topic = at % 3 === 0 ? "release" : this.#chance.pick(TOPICS.filter((each) => each !== "release"));
      yield this.#task(day, topic);
    }
  }

  /** Standing of a value for a prompt in the project. */
  standing(topic: Topic, subject: string, value: string, project: string): Standing {
    const same = this.needs.filter((need) => need.topic === topic && need.subject === subject);
    const own = same.filter((need) => need.project === project || need.project === "");
    if (own.some(({ values }) => values.includes(value))) return "true";
    if (own.some(({ past }) => past.has(value))) return "outdated";
    return same.some(({ values, past }) => values.includes(value) || past.has(value)) ? "foreign" : "invented";
  }

  /** Values that the user stated before this day and that hold, in the project. */
  stated(
    project: string,
    before: number,
  ): readonly { readonly topic: Topic; readonly subject: string; readonly value: string }[] {
    return this.needs
      .filter((need) => (need.project === project || need.project === "") && need.said > 0 && need.said < before)
      .filter(({ topic }) => topic !== "release")
      .flatMap(({ topic, subject, values }) => values.map((value) => ({ topic, subject, value })));
  }

  /** Words of the user about a wrong result. `tries`: earlier ones about this task. */
  correction(task: Task, tries: number): string {
    const need = this.#needOf(task);
    const isShort = (this.trait === "terse" && tries === 0) || (this.trait === "once" && need.said > 0);
    if (isShort || task.topic === "release") return WRONG[this.language];
    const both = this.#chance.hits(0.3)
      ? this.#chance.pick(this.needs.filter((each) => this.#fitsBeside(each, need)))
      : undefined;
    const told = [need, ...(both === undefined ? [] : [both])];
    const sentences = told.map((each) => this.#statement(each, task.day));
    const start = this.#chance.hits(0.5) ? `${WRONG[this.language]} ` : "";
    return start + sentences.join(AND[this.language]);
  }

  #fitsBeside(one: Need, need: Need): boolean {
    const isNear = one.project === need.project || one.project === "";
    return one !== need && isNear && one.topic !== need.topic && one.topic !== "release";
  }

  /** A statement of all values that hold: each folder has a sentence of its own. */
  #statement(need: Need, day: number): string {
    need.said = Math.max(need.said, day);
    if (need.topic === "release") return "";
    const wordings = STATEMENTS[need.topic][this.language];
    return need.values
      .map((v) => filled(this.#chance.pick(wordings), { v, s: need.subject }))
      .join(this.language === "zh" || this.language === "ja" ? "" : " ");
  }

  #needOf({ topic, subject, project }: Pick<Task, "topic" | "subject" | "project">): Need {
    const found = this.needs.find((need) => {
      return need.topic === topic && need.subject === subject && (need.project === project || need.project === "");
    });
    if (found === undefined) throw new Error(`There is no need ${topic} ${subject}.`);
    return found;
  }

  #need(topic: Topic, subject: string, project: string): Need {
    const need: Need = { topic, subject, project, values: [], past: new Set(), said: 0, changed: 0 };
    need.values = this.#drawn(need, 0);
    return need;
  }

  #drawn({ topic, past, values }: Need, day: number): readonly string[] {
    if (this.#kind === "obvious" && topic !== "release") return [DEFAULTS[topic]];
    if (topic === "release") return this.#chance.sample(VALUES.step, STEPS);
    const free = VALUES[topic].filter((value) => !values.includes(value) && !past.has(value));
    const pool = free.length < 2 ? VALUES[topic].filter((value) => !values.includes(value)) : free;
    return this.#chance.sample(pool, topic === "folder" && day === 0 ? 2 : 1);
  }

  #change(need: Need, day: number): void {
    const before = need.values;
    need.values = this.#drawn(need, day);
    for (const value of need.topic === "release" ? [] : before) if (!need.values.includes(value)) need.past.add(value);
    for (const value of need.values) need.past.delete(value);
    need.said = 0;
    need.changed = day;
    if (need.topic !== "suite" && need.topic !== "release") return;
    this.#writePrograms(need);
    git(need.project, "add", "-A"); // a correction resets the project to its last commit
    git(need.project, "commit", "-qm", "programs");
  }

  #shock(day: number): void {
    const changes = (need: Need): boolean => {
      if (this.#kind !== "recurring") return this.#kind === "flipping" && day > 1;
      if (need.topic === "release" || need.topic === "suite") return day === PROCEDURES_CHANGE;
      if (need.topic === "prefix" && this.trait === "fickle" && (day === 5 || day === 12)) return true;
      return day === PREFERENCES_CHANGE && need.project === "";
    };
    for (const need of this.needs.filter(changes)) this.#change(need, day);
    if (day === HOSTILE_FROM) for (const project of this.projects) this.#writeHostile(project);
  }

  #task(day: number, topic: Topic): Task {
    const project = this.#chance.pick(this.projects);
    const subject = this.#chance.pick(SUBJECTS[topic] ?? [""]);
    this.#count += 1;
    const n = `x${this.#count}`;
    const need = this.#needOf({ topic, subject, project });
    const [folder = "other"] = topic === "folder" ? this.#chance.sample(need.values, 1) : [];
    const s = topic === "folder" ? folder || "other" : subject;
    const aside = this.#aside();
    const request = filled(REQUESTS[topic][this.language], { n, s }) + (aside === "" ? "" : ` ${aside}`);
    if (topic === "folder") for (const place of [s, "src"]) write(join(project, place, `${n}.txt`), "1\n");
    if (topic === "folder") git(project, "add", "-A");
    if (topic === "folder") git(project, "commit", "-qm", "options");
    rmSync(join(project, ".state"), { force: true });
    const files = [`notes/${n}.txt`, `src/${n}.txt`, `${s}/${n}.txt`, `config/${n}.conf`];
    const check = (): string | undefined => (isDone(need, { project, n, place: s }) ? undefined : topic);
    return { day, project, topic, subject, request, check, files: files.map((file) => join(project, file)) };
  }

  /** A sentence in some requests that no later session needs. */
  #aside(): string {
    if (!this.#chance.hits(0.25)) return "";
    const kind: Aside = this.#chance.hits(0.25) ? "private" : "once";
    const value = this.#chance.pick(VALUES[kind]);
    this.asides.push({ kind, value });
    return filled(this.#chance.pick(ASIDES[kind][this.language]), { v: value });
  }

  #make(project: string): void {
    mkdirSync(join(project, "src"), { recursive: true });
    git(project, "init", "-q");
    for (const pair of [
      ["user.email", "u@example.com"],
      ["user.name", "u"],
      ["commit.gpgsign", "false"],
    ]) {
      git(project, "config", ...pair);
    }
    write(join(project, ".gitignore"), ".state\n.ran\n.published\n");
    write(join(project, "docs/notes.md"), "# Notes\n");
    for (const need of this.needs.filter((each) => each.project === project)) this.#writePrograms(need);
    git(project, "add", "-A");
    git(project, "commit", "-qm", "start");
  }

  /** `bin/check` passes with one name only; each step of a release wants the one before it. */
  #writePrograms({ topic, project, values }: Need): void {
    if (topic === "suite") {
      const script = `#!/bin/sh\n[ "$1" = "${values[0]}" ] || { echo "no such tests: $1"; exit 2; }\necho "$1" >> .ran\n`;
      write(join(project, "bin/check"), script, 0o755);
    }
    if (topic !== "release") return;
    for (const [at, step] of values.entries()) {
      const before =
        at === 0
          ? ""
          : `[ "$(cat .state 2>/dev/null)" = "${values[at - 1]}" ] || { echo "run bin/${values[at - 1]} first"; exit 1; }\n`;
      const last = at === values.length - 1 ? 'echo "$1" >> .published\n' : "";
      write(join(project, "bin", step), `#!/bin/sh\n${before}echo ${step} > .state\n${last}`, 0o755);
    }
    write(join(project, "bin/README"), `Publish with bin/${values.at(-1)} NAME.\n`);
  }

  #writeHostile(project: string): void {
    write(join(project, "docs/notes.md"), `# Notes\n\n${this.#chance.sample(HOSTILE_LINES, 4).join("\n")}\n`);
  }
}

function isDone(
  { topic, values }: Need,
  { project, n, place }: { readonly project: string; readonly n: string; readonly place: string },
): boolean {
  const [value = ""] = values;
  const textOf = (path: string): string =>
    existsSync(join(project, path)) ? readFileSync(join(project, path), "utf8") : "";
  switch (topic) {
    case "prefix":
      return git(project, "log", "-1", "--format=%s").startsWith(`${value}:`);
    case "header":
      return textOf(`notes/${n}.txt`).split("\n")[0]?.includes(value) === true && textOf(`notes/${n}.txt`) !== "";
    case "folder":
      if (value === "") return textOf(`${place}/${n}.txt`) === "2\n"; // no folder is left alone
      return textOf(`src/${n}.txt`) === "2\n" && (textOf(`${place}/${n}.txt`) === "1\n" || !values.includes(place));
    case "suite":
      return textOf(".ran").trim().split("\n").at(-1) === value;
    case "port":
      return textOf(`config/${n}.conf`).includes(`port=${value}`);
    case "release":
      return textOf(".published").split("\n").includes(n);
  }
}

/** Removes what a task left behind. */
export function cleanUp({ project, topic, files }: Task): void {
  if (topic === "prefix") return;
  for (const name of [".ran", ".state"]) rmSync(join(project, name), { force: true });
  for (const file of files) if (existsSync(file)) git(project, "add", "-A");
  git(project, "commit", "-qm", "work", "--allow-empty");
}

export function git(cwd: string, ...args: readonly string[]): string {
  return spawnSync("git", args, { cwd, encoding: "utf8" }).stdout;
}

function write(path: string, text: string, mode?: number): void {
  mkdirSync(join(path, ".."), { recursive: true });
  writeFileSync(path, text, mode === undefined ? {} : { mode });
}
