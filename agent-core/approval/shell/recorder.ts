/** Collects what a walk through a command finds: the findings, and the simple commands they belong to. */
import type { CommandPart, GrantForm, Level } from "../verdict.ts";
import { type Arg, isKnown } from "./arg.ts";

/** Commands and substitutions that one verdict looks at; what unfolds into more is left to a person. */
const MAX_STEPS = 1000;
/** Levels of code in code (`sh -c`, `eval`, aliases, functions). */
const MAX_DEPTH = 16;
/** Code within code that is read in all (UTF-16 units). */
export const MAX_CODE = 200_000;
/** Words that one verdict looks at, each of a word's fields counted; no honest command line has as many. */
const MAX_WORDS = 5000;

export type Finding = {
  readonly level: Exclude<Level, "safe">;
  readonly reason: string;
  /** Needs an answer in every mode: see `Verdict.always`. */
  readonly always: boolean;
  readonly grant: GrantForm;
  /** It asks only because other code runs: a sandbox holds what that does. */
  readonly contained?: boolean;
};

type OpenPart = { words: readonly string[] | undefined; program: string; findings: Finding[]; changes: boolean };

/** Thrown when a command unfolds into more than can be judged in time. */
export class TooMuchToJudge extends Error {
  constructor() {
    super("the command unfolds into too many steps");
    this.name = "TooMuchToJudge";
  }
}

export class Recorder {
  readonly findings: Finding[] = [];
  /** What was found outside of any simple command. */
  readonly loose = { asks: false, changes: false };
  private readonly closed: OpenPart[] = [];
  private readonly open: OpenPart[] = [];
  private steps = 0;
  private read = 0;
  private words = 0;
  private depth = 0;
  private raising = 0;
  private changes = false;
  private whole = true as boolean;
  private isOutward = false as boolean;

  /** A finding of the command at hand. Inside `onlyRaising` nothing below `block` counts. */
  add(finding: Finding): void {
    if (this.raising > 0 && finding.level !== "block") return;
    this.changed();
    this.findings.push(finding);
    const part = this.open.at(-1);
    if (part) part.findings.push(finding);
    else this.loose.asks = true;
  }

  ask(reason: string, grant: GrantForm = "exact"): void {
    this.add({ level: "ask", reason, always: false, grant });
  }

  /** Asks because code runs that nobody looked at. */
  askForCode(reason: string, grant: GrantForm = "exact"): void {
    this.add({ level: "ask", reason, always: false, grant, contained: true });
  }

  /** Asks in every mode because it is not known what runs. */
  askUnknown(reason: string): void {
    this.add({ level: "ask", reason, always: true, grant: "never", contained: true });
  }

  /** The command at hand needs what a sandbox does not give: the network, other processes, the system. */
  reachesOut(): void {
    if (this.raising === 0) this.isOutward = true;
  }

  /** What cannot be known before it runs, or reaches protected files: asks in every mode and is never granted. */
  askAlways(reason: string): void {
    this.add({ level: "ask", reason, always: true, grant: "never" });
  }

  /** A part of the command stays unread. */
  giveUp(reason: string): void {
    if (this.raising > 0) return;
    this.whole = false;
    this.askAlways(reason);
  }

  block(reason: string): void {
    this.add({ level: "block", reason, always: true, grant: "never" });
  }

  /** The command at hand changes something. */
  changed(): void {
    if (this.raising > 0) return;
    this.changes = true;
    const part = this.open.at(-1);
    if (part) part.changes = true;
    else this.loose.changes = true;
  }

  /** Looks at one simple command; what `look` finds belongs to it. */
  part<Result>(program: string, words: readonly Arg[], look: () => Result): Result {
    this.step();
    const known = words.every((word) => isKnown(word) && !word.splits);
    const part = { words: known ? words.map((word) => word.text) : undefined, program, findings: [], changes: false };
    this.open.push(part);
    if (this.raising === 0) this.closed.push(part);
    try {
      return look();
    } finally {
      this.open.pop();
    }
  }

  /** Goes one level deeper into code within code. */
  deeper<Result>(look: () => Result): Result {
    this.step();
    if (this.depth >= MAX_DEPTH) throw new TooMuchToJudge();
    this.depth += 1;
    try {
      return look();
    } finally {
      this.depth -= 1;
    }
  }

  /** What `look` finds counts only where it is a block: it rests on a guess. */
  onlyRaising(look: () => void): void {
    this.raising += 1;
    try {
      look();
    } finally {
      this.raising -= 1;
    }
  }

  /** Code that is about to be read. */
  reading(code: string): void {
    this.read += code.length;
    if (this.read > MAX_CODE) throw new TooMuchToJudge();
  }

  /** Words that a word of the command has become; one that became none counts, too. */
  fields(count: number): void {
    this.words += Math.max(1, count);
    if (this.words > MAX_WORDS) throw new TooMuchToJudge();
  }

  /** Counts what is about to be looked at. */
  step(): void {
    this.steps += 1;
    if (this.steps > MAX_STEPS) throw new TooMuchToJudge();
  }

  get isWhole(): boolean {
    return this.whole;
  }

  /** Whether a sandbox holds all that the command does, and gives it all that it needs. */
  get isContained(): boolean {
    return this.whole && !this.isOutward && this.findings.every(({ contained }) => contained === true);
  }

  get readOnly(): boolean {
    return !this.changes;
  }

  parts(): readonly CommandPart[] {
    return this.closed.map(({ words, program, findings, changes }) => ({
      words,
      program,
      level: worst(findings),
      readOnly: !changes,
      grant: narrowest(findings),
    }));
  }
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
