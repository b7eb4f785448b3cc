/** Collects what a walk through a command finds: the findings, and the simple commands they belong to. */
import type { CommandPart, GrantForm, Level } from "../verdict.ts";
import { type Arg, isKnown } from "./arg.ts";

/** Commands that one verdict looks at; loops and functions that unfold into more are judged by hand. */
const MAX_COMMANDS = 3000;
/** Levels of code in code (`sh -c`, `eval`, aliases, functions). */
const MAX_DEPTH = 24;

export type Finding = {
  readonly level: Exclude<Level, "safe">;
  readonly reason: string;
  /** Needs an answer in every mode: see `Verdict.always`. */
  readonly always: boolean;
  readonly grant: GrantForm;
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
  private readonly closed: OpenPart[] = [];
  private readonly open: OpenPart[] = [];
  private commands = 0;
  private depth = 0;
  private raising = 0;
  private changes = false;

  /** A finding of the command at hand. Inside `onlyRaising` nothing below `block` counts. */
  add(finding: Finding): void {
    if (this.raising > 0 && finding.level !== "block") return;
    this.changed();
    this.findings.push(finding);
    this.open.at(-1)?.findings.push(finding);
  }

  ask(reason: string, grant: GrantForm = "exact"): void {
    this.add({ level: "ask", reason, always: false, grant });
  }

  /** What cannot be known before it runs, or reaches protected files: asks in every mode and is never granted. */
  askAlways(reason: string): void {
    this.add({ level: "ask", reason, always: true, grant: "never" });
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
  }

  /** Looks at one simple command; what `look` finds belongs to it. */
  part<Result>(program: string, words: readonly Arg[], look: () => Result): Result {
    this.commands += 1;
    if (this.commands > MAX_COMMANDS) throw new TooMuchToJudge();
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
