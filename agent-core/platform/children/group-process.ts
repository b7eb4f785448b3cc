/**
 * Programs that talk over pipes and end with this process: servers of protocols. Each has its own process group, so that the
 * children of a launcher such as npx end too, even when this process is killed.
 */
import { spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { Duplex, type Readable, type Writable } from "node:stream";
import { Deadline } from "../deadline.ts";
import { guardGroup } from "./guard.ts";
import { isGroupAlive, killTree, livingRelatives, type Member, signalMember } from "./process-tree.ts";

/** Time for a program to end by itself after its stdin has closed, before its tree is killed. Milliseconds. */
const CLOSE_GRACE_MS = 100;
/** Limit of the noted children, for a program that starts one for each request. */
const MAX_NOTED = 1_000;

export type GroupStart = {
  readonly command: string;
  readonly args: readonly string[];
  /** Whole environment. */
  readonly env: Readonly<Record<string, string>>;
  /** Absolute. */
  readonly cwd: string;
  /** Number of further pipes, which are the program's file descriptors from 3 on. Default 0. */
  readonly pipes?: number;
};

export type GroupProcess = {
  readonly stdin: Writable;
  readonly stdout: Readable;
  readonly stderr: Readable;
  readonly pipes: readonly Duplex[];
  /** Resolves when the first process has ended: `exit code 1`, or `signal SIGKILL`. */
  readonly ended: Promise<string>;
  /** Notes the children that left the group, for `end`: once their parent has crashed they cannot be found. */
  note(): Promise<void>;
  /** Closes the pipes and ends what is left. Resolves when no process of the group is left. */
  end(): Promise<void>;
};

/** Rejects with the system's error when the program cannot be started. Not for Windows, which has no process groups. */
export async function startGroup({ command, args, env, cwd, pipes: count = 0 }: GroupStart): Promise<GroupProcess> {
  const further = Array.from({ length: count }, () => "pipe" as const);
  const child = spawn(command, [...args], { cwd, env, detached: true, stdio: ["pipe", "pipe", "pipe", ...further] });
  const { pid, stdin, stdout, stderr } = child;
  if (stdin === null || stdout === null || stderr === null) throw new Error(`${command} has no pipes`);
  const pipes = child.stdio.slice(3).filter((pipe) => pipe instanceof Duplex);
  stdin.on("error", () => undefined); // the program closed its input; its end follows
  const ended = new Promise<string>((resolve) => {
    child.once("exit", (code, signal) => resolve(signal === null ? `exit code ${code}` : `signal ${signal}`));
  });
  await new Promise((resolve, reject) => {
    child.once("spawn", resolve);
    child.once("error", reject);
  });
  if (pid === undefined) throw new Error(`${command} has no process id`);
  const endGuard = guardGroup(pid, stdin);
  const tree = { pid, marker: randomUUID() };
  let noted: readonly Member[] = [];
  const note = async (): Promise<void> => {
    const members = await livingRelatives(tree);
    const known = new Set(members.map((member) => member.pid));
    noted = [...members, ...noted.filter((member) => !known.has(member.pid))].slice(0, MAX_NOTED);
  };
  const end = async (): Promise<void> => {
    await note(); // those that left the group cannot be found once their parent has ended
    stdin.end();
    for (const pipe of pipes) pipe.destroy();
    await new Deadline(CLOSE_GRACE_MS).waitFor(ended);
    if (isGroupAlive(pid)) await killTree(tree);
    for (const member of noted) signalMember(member, "SIGKILL");
    endGuard();
    stdout.destroy();
    stderr.destroy();
  };
  let ending: Promise<void> | undefined;
  return {
    stdin,
    stdout,
    stderr,
    pipes,
    ended,
    note,
    end: () => {
      ending ??= end();
      return ending;
    },
  };
}
