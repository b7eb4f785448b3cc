/** A task of the simulated user: its prompt, its checker and the corrections of a wrong result. */
import { execFileSync } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Chance, Words } from "./chance.ts";

/** Small git repository of the world. */
export type Project = { readonly name: string; readonly path: string };

/** Kind of the hidden need of a task; `noise` has none. */
export type Kind = "preference" | "fact" | "procedure" | "decision" | "research" | "graph" | "noise";

/** Subject that recurs, with the tokens that only the world and, once he said them, its user know. */
export type Topic = {
  readonly project: Project;
  readonly noun: string;
  /** Current needs by name. A shock replaces them. */
  needs: { readonly [name: string]: string | undefined };
};

/** Result of a checker: undefined when the result is right, else the correction in the user's words. */
export type Check = {
  readonly correction: string /** Files that the user takes back. */;
  readonly undo: readonly string[];
};

export type Task = {
  readonly family: string;
  readonly kind: Kind;
  readonly project: Project;
  /** Subject that recurs; undefined for a task that does not. */
  readonly topic?: Topic;
  readonly prompt: string;
  /** Tokens that a right result uses, read at its check. */
  readonly needs: () => readonly string[];
  /** Sentences that say the needs, for the arm whose prompts have them. Default: none. */
  readonly hints?: () => readonly string[];
  /** Files that the agent is to write, absolute. */
  readonly files: readonly string[];
  /** Prepares the project. Not part of the task's time. */
  readonly prepare?: () => void;
  /** `attempt` counts corrections from 0. */
  check(attempt: number): Check | undefined;
  /** Removes the traces of the task that would answer a later one. */
  readonly cleanUp?: () => void;
};

export type TaskPlan = { readonly number: number; readonly day: number; readonly chance: Chance };

/** One of the recurring kinds of work. */
export type Family = {
  readonly name: string;
  readonly kind: Kind;
  /** Projects that have the family; a preference of the user holds in all of them with the same words. */
  readonly scope: "user" | "project" | "one project";
  open(project: Project, noun: string, words: Words): Topic;
  /** New needs in place of those of the topic. */
  change(topic: Topic, words: Words): void;
  task(topic: Topic, plan: TaskPlan): Task;
};

export function writeIn(project: Project, path: string, text: string): void {
  const whole = join(project.path, path);
  mkdirSync(dirname(whole), { recursive: true });
  writeFileSync(whole, text);
}

export function writeProgram(project: Project, path: string, script: string): void {
  writeIn(project, path, `#!/bin/sh\n${script}\n`);
  chmodSync(join(project.path, path), 0o755);
}

/** Undefined for a missing file. */
export function readIn(project: Project, path: string): string | undefined {
  const whole = join(project.path, path);
  return existsSync(whole) ? readFileSync(whole, "utf8") : undefined;
}

export function removeIn(project: Project, path: string): void {
  rmSync(join(project.path, path), { recursive: true, force: true });
}

export function git(project: Project, ...args: readonly string[]): string {
  return execFileSync("git", args, { cwd: project.path, encoding: "utf8" });
}

/** The correction that does not repeat the words of the last one. */
export function varied(chance: Chance, attempt: number, forms: readonly string[]): string {
  return forms[(chance.below(forms.length) + attempt) % forms.length] ?? "";
}
