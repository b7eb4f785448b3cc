/** Record of a walk through a command: its findings, and the simple commands that they belong to. */
import { type Arg, isKnown } from "./arg.ts";

/** `safe` runs, `ask` needs an answer, `block` never runs. */
export type Level = "safe" | "ask" | "block";

/** Form in which a lasting grant may name a command: its first words, all its words, or not at all. */
export type GrantForm = "prefix" | "exact" | "never";

/**
 * Reach of a command: inside a sandbox without network, with the network, or `outside`: it needs the user's keys, other
 * processes, devices, or files that a sandbox hides.
 */
export type Reach = "inside" | "network" | "outside";

/** One simple command of the whole. */
export type CommandPart = {
  /** The command's words; undefined when one of them is not known. */
  readonly words: readonly string[] | undefined;
  /** Known text of its standard input: code for an interpreter, statements for a database. */
  readonly input: string | undefined;
  /** Name of the program, without folder. */
  readonly program: string;
  /** Folders that the command may run in; undefined when they are not known. */
  readonly folders: readonly string[] | undefined;
  readonly level: Level;
  readonly readOnly: boolean;
  readonly grant: GrantForm;
  readonly reach: Reach;
  /** Asks a service for what it knows, with words that are all known. */
  readonly looks: boolean;
  /** Scripts that the command runs and whose text is read. */
  readonly scripts: readonly ReadScript[];
};

/** A script that was read: its path and its name in it, and its text. */
export type ReadScript = { readonly path: string; readonly text: string };

/** Commands and substitutions that one verdict examines; a person decides on a command with more. */
const MAX_STEPS = 1000;
/** Levels of code in code (`sh -c`, `eval`, aliases, functions). */
const MAX_DEPTH = 16;
/** Nested code that one verdict reads in total (UTF-16 units). */
export const MAX_CODE = 200_000;
/** Words that one verdict examines, after expansion. No real command line has as many. */
const MAX_WORDS = 5000;

export type Finding = {
  readonly level: Exclude<Level, "safe">;
  readonly reason: string;
  /** Needs an answer in every mode: see `CommandVerdict.always`. */
  readonly always: boolean;
  readonly grant: GrantForm;
  /** Asks only because unread code runs: a sandbox confines what that code does. */
  readonly contained?: boolean;
  /** Concerns a read; no code runs that is not read. */
  readonly reads?: true;
};

type OpenPart = {
  words: readonly string[] | undefined;
  input: string | undefined;
  program: string;
  folders: readonly string[] | undefined;
  findings: Finding[];
  changes: boolean;
  reach: Reach;
  looks: boolean;
  scripts: ReadScript[];
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
  /** Findings outside of every simple command. */
  readonly outsideCommands = { asks: false, changes: false };
  /** Paths that the command itself writes, links or deletes; a path that is not known is empty. */
  readonly writes = new Set<string>();
  /** Secret files of the workspace that the command may print without naming them. */
  readonly reachedSecrets = new Set<string>();
  /** The command prints files out of a repository, where no sandbox can hide them. */
  printsHistory = false;
  /** Guarded files that commands of git would change together with others. */
  readonly treeFiles = new Set<string>();
  /** Unread code of the project runs. */
  runsProject: boolean = false;
  /** Names of the variables that the command sets. */
  readonly variables = new Set<string>();
  private scripted = 0;
  private readonly closed: OpenPart[] = [];
  private readonly open: OpenPart[] = [];
  private steps = 0;
  private read = 0;
  private words = 0;
  private depth = 0;
  private changes = false;
  private whole = true as boolean;
  private isDecoding = false as boolean;
  private widest: Reach = "inside";

  /** Adds a finding to the current command. */
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

  ask(reason: string, grant: GrantForm = "exact"): void {
    this.add({ level: "ask", reason, always: false, grant });
  }

  /** Asks because unread code runs. */
  askForCode(reason: string, grant: GrantForm = "exact"): void {
    this.add({ level: "ask", reason, always: false, grant, contained: true });
  }

  /** Asks in every mode because the code that runs is not known. */
  askUnknown(reason: string): void {
    this.add({ level: "ask", reason, always: true, grant: "never", contained: true });
  }

  /** The current command needs at least this reach. */
  reach(needed: Reach): void {
    this.widest = widerReach(this.widest, needed);
    const part = this.open.at(-1);
    if (part) part.reach = widerReach(part.reach, needed);
  }

  /** Asks in every mode and is never granted: a protected file, or an effect that is not known before it runs. */
  askAlways(reason: string): void {
    this.add({ level: "ask", reason, always: true, grant: "never" });
  }

  /** The command decodes a text that it holds: code that is not known may be that text, and never runs unasked. */
  markDecoding(): void {
    this.isDecoding = true;
  }

  /** Asks because a part of the command could not be read. */
  markUnparsed(reason: string): void {
    this.whole = false;
    this.askAlways(reason);
  }

  block(reason: string): void {
    this.add({ level: "block", reason, always: true, grant: "never" });
  }

  /** The current command changes something. */
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

  /** Unread code of the project runs, which the agent may have written. */
  markProject(): void {
    this.runsProject = true;
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

  /** Notes secret files of the workspace that the command may print. */
  noteSecrets(paths: readonly string[], from: "files" | "history" = "files"): void {
    for (const path of paths) this.reachedSecrets.add(path);
    if (from === "history" && paths.length > 0) this.printsHistory = true;
  }

  /** Opens a simple command: the findings of `examine` belong to it. */
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

  /** Notes the standard input of the command that is examined. */
  noteInput(text: string): void {
    const part = this.open.at(-1);
    if (part !== undefined) part.input = text;
  }

  /** Runs `examine` one level deeper in nested code. */
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

  /** Counts code before it is read. */
  countCode(code: string): void {
    this.read += code.length;
    if (this.read > MAX_CODE) throw new TooMuchToJudge();
  }

  /** Counts the words that one word of the command expands to; an empty expansion counts as one. */
  countWords(count: number): void {
    this.words += Math.max(1, count);
    if (this.words > MAX_WORDS) throw new TooMuchToJudge();
  }

  /** Counts one step of the walk. */
  countStep(): void {
    this.steps += 1;
    if (this.steps > MAX_STEPS) throw new TooMuchToJudge();
  }

  get isWhole(): boolean {
    const isHidden = this.isDecoding && this.findings.some(({ always, contained }) => always && contained === true);
    return this.whole && !isHidden;
  }

  /** True when a sandbox confines every effect of the command. */
  get isContained(): boolean {
    return this.isWhole && this.findings.every(({ contained }) => contained === true);
  }

  /** Reach that the whole command needs. */
  get widestReach(): Reach {
    return this.widest;
  }

  get readOnly(): boolean {
    return !this.changes;
  }

  parts(): readonly CommandPart[] {
    return this.closed.map(({ words, input, program, findings, folders, changes, reach, looks, scripts }) => ({
      words,
      input,
      program,
      folders,
      scripts,
      level: worst(findings),
      readOnly: !changes,
      grant: narrowest(findings),
      reach,
      looks,
    }));
  }
}

/** The wider one of two reaches. */
export function widerReach(first: Reach, second: Reach): Reach {
  const order: readonly Reach[] = ["inside", "network", "outside"];
  return order.indexOf(first) > order.indexOf(second) ? first : second;
}

/** The worst level of the findings. */
export function worst(findings: readonly Finding[]): Level {
  if (findings.some(({ level }) => level === "block")) return "block";
  return findings.length > 0 ? "ask" : "safe";
}

function narrowest(findings: readonly Finding[]): GrantForm {
  if (findings.some(({ grant }) => grant === "never")) return "never";
  return findings.some(({ grant }) => grant === "exact") ? "exact" : "prefix";
}
