/** Record of a walk through a command: its findings, and the simple commands that they belong to. */
import type { Finding, GrantForm, Level, Reach } from "../command-effect.ts";
import { type Arg, isKnown } from "./arg.ts";

export type CommandPart = {
  /** The command's words; undefined when one of them is not known. */
  readonly words: readonly string[] | undefined;
  /** Known text of its standard input: code for an interpreter, statements for a database. */
  readonly input: string | undefined;
  readonly program: string;
  /** Folders that the command may run in; undefined when they are not known. */
  readonly folders: readonly string[] | undefined;
  readonly level: Level;
  readonly readOnly: boolean;
  readonly grant: GrantForm;
  readonly reach: Reach;
  /** Asks a service for what it knows, with words that are all known. */
  readonly looks: boolean;
  /** Runs unread code of the project, which its words may choose. */
  readonly runsProject: boolean;
  /** Scripts that the command runs and whose text is read. */
  readonly scripts: readonly ReadScript[];
};

export type ReadScript = { readonly path: string; readonly text: string };

/** Commands and substitutions that one verdict examines; a person decides on a command with more. */
const MAX_STEPS = 1000;
/** Levels of code in code (`sh -c`, `eval`, aliases, functions). */
const MAX_DEPTH = 16;
/** Nested code that one verdict reads in total (UTF-16 units). */
export const MAX_CODE = 200_000;
/** Words that one verdict examines, after expansion. No real command line has as many. */
const MAX_WORDS = 5000;

type OpenPart = {
  -readonly [Key in keyof Omit<CommandPart, "level" | "readOnly" | "grant" | "scripts">]: CommandPart[Key];
} & {
  readonly findings: Finding[];
  readonly scripts: ReadScript[];
  changes: boolean;
};

/** Thrown when a command expands into more than can be judged in time. */
export class TooMuchToJudge extends Error {
  constructor() {
    super("the command expands into too many steps");
    this.name = "TooMuchToJudge";
  }
}

export class Recorder {
  readonly findings: Finding[] = [];
  /** Effects outside of every simple command, which no grant covers: redirections into files, sensitive variables. */
  readonly outsideCommands = { asks: false as boolean, changes: false as boolean };
  /** Real paths that the command itself writes, links or deletes; a path that is not known is empty. */
  readonly writes = new Set<string>();
  /** Secret files of the workspace that the command may print without naming them. */
  readonly reachedSecrets = new Set<string>();
  /** Some of them come out of a repository, where no sandbox can hide them. */
  printsHistory = false as boolean;
  /** It prints a file that is not known before it runs. */
  readsUnknown = false as boolean;
  /** Guarded files (absolute) that commands of git would change: they must be writable, or git leaves a mixed tree. */
  readonly treeFiles = new Set<string>();
  /** Unread code of the project runs: its tests, its build, a script of its packages. */
  runsProject = false as boolean;
  readonly variables = new Set<string>();
  private scripted = 0;
  private readonly closed: OpenPart[] = [];
  private readonly open: OpenPart[] = [];
  private steps = 0;
  private read = 0;
  private words = 0;
  private depth = 0;
  private changes = false;
  private isDecoding = false as boolean;
  reach: Reach = "inside";

  add(finding: Finding): void {
    if (finding.reads !== true) this.markChanged();
    // The effects of a script are granted with the script.
    const isInner = this.scripted > 0 && finding.level === "ask";
    if (isInner && finding.contained && !finding.always) {
      this.markProject();
      return;
    }
    const kept = isInner ? { ...finding, grant: "exact" as const } : finding;
    this.findings.push(kept);
    const part = this.open.at(-1);
    if (part) part.findings.push(kept);
    else this.outsideCommands.asks = true;
  }

  needs(needed: Reach): void {
    this.reach = widerReach(this.reach, needed);
    const part = this.open.at(-1);
    if (part) part.reach = widerReach(part.reach, needed);
  }

  /** The command decodes a text that it holds: code that is not known may be that text, and never runs unasked. */
  markDecoding(): void {
    this.isDecoding = true;
  }

  markChanged(): void {
    this.changes = true;
    const part = this.open.at(-1);
    if (part) part.changes = true;
    else this.outsideCommands.changes = true;
  }

  /** The current command asks a service, which counts as a change: it is more than reading files. */
  markLook(): void {
    this.markChanged();
    const part = this.open.at(-1);
    if (part) part.looks = true;
  }

  /** Unread code of the project runs, which the agent may have written. `isChosen`: words of the command may name it. */
  markProject(isChosen = true): void {
    this.runsProject = true;
    const part = this.open.at(-1);
    if (part && isChosen) part.runsProject = true;
    this.markChanged();
  }

  /** Runs `examine` on the text of a script: its findings belong to the command that runs the script. */
  script<Result>(script: ReadScript, examine: () => Result): Result {
    this.open.at(-1)?.scripts.push(script);
    this.scripted += 1;
    try {
      return this.nested(examine);
    } finally {
      this.scripted -= 1;
    }
  }

  /** Notes a path that the command itself changes; a script of the project does not change the project's scripts. */
  noteWrite(path: string): void {
    if (this.scripted === 0) this.writes.add(path);
  }

  noteSecrets(paths: readonly string[], from: "files" | "history" = "files"): void {
    for (const path of paths) this.reachedSecrets.add(path);
    if (from === "history" && paths.length > 0) this.printsHistory = true;
  }

  part<Result>(
    program: string,
    words: readonly Arg[],
    folders: readonly string[] | undefined,
    examine: () => Result,
  ): Result {
    this.countStep();
    if (this.scripted > 0) return examine();
    const known = words.every((word) => isKnown(word) && !word.splits);
    const part: OpenPart = {
      findings: [],
      changes: false,
      reach: "inside",
      looks: false,
      runsProject: false,
      scripts: [],
      words: known ? words.map((word) => word.text) : undefined,
      program,
      folders,
      input: undefined,
    };
    this.open.push(part);
    this.closed.push(part);
    try {
      return examine();
    } finally {
      this.open.pop();
    }
  }

  noteInput(text: string): void {
    const part = this.open.at(-1);
    if (part !== undefined) part.input = text;
  }

  nested<Result>(examine: () => Result): Result {
    this.countStep();
    if (this.depth >= MAX_DEPTH) throw new TooMuchToJudge();
    this.depth += 1;
    try {
      return examine();
    } finally {
      this.depth -= 1;
    }
  }

  countCode(code: string): void {
    this.read += code.length;
    if (this.read > MAX_CODE) throw new TooMuchToJudge();
  }

  /** Counts the words that one word of the command expands to; an empty expansion counts as one. */
  countWords(count: number): void {
    this.words += Math.max(1, count);
    if (this.words > MAX_WORDS) throw new TooMuchToJudge();
  }

  countStep(): void {
    this.steps += 1;
    if (this.steps > MAX_STEPS) throw new TooMuchToJudge();
  }

  /** False when a part could not be parsed. The command may be worse than `level`, and never runs unasked. */
  get isFullyParsed(): boolean {
    const isHidden = ({ always, contained }: Finding): boolean => this.isDecoding && always && contained === true;
    return !this.findings.some((finding) => finding.unread || isHidden(finding));
  }

  /** True when a sandbox confines every effect of the command. */
  get isContained(): boolean {
    return this.isFullyParsed && this.findings.every(({ contained }) => contained === true);
  }

  /** The command changes no file, no process, no repository, and sends nothing. */
  get readOnly(): boolean {
    return !this.changes;
  }

  get level(): Level {
    return worst(this.findings);
  }

  /** One plain sentence each: the action and its object. Blocks, then what asks in every mode, then what no sandbox holds. */
  get reasons(): readonly string[] {
    const weight = ({ level, always, contained }: Finding) =>
      [level === "block", always, contained !== true, true].indexOf(true);
    return shortened(this.findings.toSorted((one, other) => weight(one) - weight(other)));
  }

  /** Those of `reasons` that ask even in `auto` mode: protected paths, and effects that are not known before it runs. */
  get alwaysAskReasons(): readonly string[] {
    return shortened(this.findings.filter(({ always }) => always));
  }

  /** Every simple command, wrapped and nested ones too, in the order of the walk. */
  get parts(): readonly CommandPart[] {
    return this.closed.map(({ findings, changes, ...part }) => ({
      ...part,
      level: worst(findings),
      readOnly: !changes,
      grant: narrowest(findings),
    }));
  }
}

export function widerReach(first: Reach, second: Reach): Reach {
  const order: readonly Reach[] = ["inside", "network", "outside"];
  return order.indexOf(first) > order.indexOf(second) ? first : second;
}

export function worst(findings: readonly Finding[]): Level {
  if (findings.some(({ level }) => level === "block")) return "block";
  return findings.length > 0 ? "ask" : "safe";
}

function narrowest(findings: readonly Finding[]): GrantForm {
  if (findings.some(({ grant }) => grant === "never")) return "never";
  return findings.some(({ grant }) => grant === "exact") ? "exact" : "prefix";
}

/** Maximum number of reasons in a question; people do not read more. */
const MAX_REASONS = 12;
/** Reasons of the same kind with the same end: `Deletes a.txt`, `Writes to b: it is outside the workspace`. */
const KIND = /^(Deletes|Reads|Writes to|Runs the program|Sets|Contacts) (\S+)((?: recursively)?(?::.*|, which .*)?)$/;
const MAX_JOINED = 5;

/** Reasons that only differ in a name become one, in the place of the first. */
function joined(reasons: readonly string[]): readonly string[] {
  const kinds = new Map<string, string[]>();
  for (const reason of reasons) {
    const [, verb, name, end] = KIND.exec(reason) ?? [reason];
    const key = verb === undefined ? reason : `${verb} \0${end}`;
    kinds.set(key, [...(kinds.get(key) ?? []), ...(name === undefined ? [] : [name])]);
  }
  return [...kinds].map(([key, names]) => {
    const more = names.length - MAX_JOINED;
    const shown = names.slice(0, MAX_JOINED).join(", ") + (more > 0 ? ` and ${more} more` : "");
    return key.replace("\0", () => shown);
  });
}

function shortened(findings: readonly Finding[]): readonly string[] {
  const whole = joined([...new Set(findings.map(({ reason }) => reason))]);
  const more = whole.length - MAX_REASONS;
  return more > 0 ? [...whole.slice(0, MAX_REASONS), `And ${more} more`] : whole;
}
