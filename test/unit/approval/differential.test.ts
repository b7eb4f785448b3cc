import { execFile } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type CommandVerdict, judgeCommand } from "../../../agent-core/approval/command-verdict.ts";
import { resolvePath } from "../../../agent-core/platform/paths.ts";
import { sweep } from "../../support/scale.ts";
import { seeded } from "./support/random.ts";
import { randomScript, STUBS } from "./support/scripts.ts";

const BASH = ["/bin/bash", "/usr/bin/bash", "/opt/homebrew/bin/bash"].find((path) => existsSync(path));
const SCRIPTS = sweep(400, 100);
const AT_ONCE = 4;

const folder = mkdtempSync(join(tmpdir(), "hermes-stubs-"));
const work = join(folder, "work");
const stubs = join(folder, "bin");
const scope = { cwd: work, roots: [work], home: "/home/someone", hermesHome: "/home/someone/.hermes", resolvePath };

beforeAll(() => BASH && makeStubs(BASH));
afterAll(() => rm(folder, { recursive: true, force: true }));

/** A stub logs its words in one write: 037 after each, 036 at the end. Wrappers then run what they wrap. */
function makeStubs(bash: string): void {
  mkdirSync(work);
  mkdirSync(stubs);
  const log = `out=$(printf '%s\\037' "\${0##*/}" "$@"; printf x); printf '%s\\036' "\${out%x}" >> "$HERMES_LOG"`;
  const stub = (name: string, then: string) => {
    const path = join(stubs, name);
    writeFileSync(path, `#!${bash}\n${log}\n${then}\n`);
    chmodSync(path, 0o755);
  };
  for (const name of STUBS) stub(name, "exit 0");
  stub("cat", 'exec /bin/cat "$@"');
  for (const name of ["sh", "bash"]) stub(name, `exec ${bash} "$@"`);
  stub("env", 'exec "$@"');
  stub("timeout", 'shift; exec "$@"');
}

/** The words of every command that bash really ran. */
function run(bash: string, script: string, number: number): Promise<readonly (readonly string[])[]> {
  const log = join(folder, `log-${number}`);
  writeFileSync(log, "");
  const file = join(folder, `script-${number}`);
  writeFileSync(file, script);
  const env = { PATH: stubs, HERMES_LOG: log, HOME: scope.home, LANG: "C.UTF-8" };
  return new Promise((done) => {
    // A script that fails has still run what it ran.
    const child = execFile(bash, [file], { cwd: work, env, timeout: 10_000 }, () => {
      const runs = readFileSync(log, "utf8").split("\u001e").slice(0, -1);
      done(runs.map((words) => words.split("\u001f").slice(0, -1)));
    });
    child.stdin?.end();
  });
}

/** True when the walk met a command with these words, or said that it does not know all that runs. */
function foresaw(verdict: CommandVerdict, words: readonly string[]): boolean {
  if (verdict.alwaysAskReasons.some((reason) => /not known|cannot be read|too many steps|hidden/.test(reason)))
    return true;
  return verdict.parts.some((part) => {
    if (part.program !== words[0] && !part.program.endsWith(`/${words[0]}`)) return false;
    return part.words === undefined || isDeepEqual(part.words.slice(1), words.slice(1));
  });
}

function isDeepEqual(left: readonly string[], right: readonly string[]): boolean {
  return left.length === right.length && left.every((word, index) => word === right[index]);
}

test.runIf(BASH !== undefined)(
  "the walk of a command sees every command that real bash runs, with its words",
  { timeout: 120_000 },
  async () => {
    if (BASH === undefined) return;
    const random = seeded(20_261_121);
    const scripts = Array.from({ length: SCRIPTS }, () => randomScript(random));
    const unforeseen: string[] = [];
    let ran = 0;
    let opaque = 0;
    const worker = async (start: number) => {
      for (let number = start; number < scripts.length; number += AT_ONCE) {
        const script = scripts[number] ?? "";
        const verdict = judgeCommand(script, scope);
        if (verdict.alwaysAskReasons.some((reason) => reason.includes("not known"))) opaque += 1;
        const runs = await run(BASH, script, number);
        ran += runs.length;
        const missed = runs.find((words) => !foresaw(verdict, words));
        if (missed) unforeseen.push(`${JSON.stringify(missed)} in ${JSON.stringify(script)}`);
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, (_, start) => worker(start)));
    expect(unforeseen).toEqual([]);
    // The comparison means something: much was run, and most scripts were understood whole.
    expect(ran).toBeGreaterThan(SCRIPTS);
    expect(opaque).toBeLessThan(SCRIPTS * 0.4);
  },
);

test
  .runIf(BASH !== undefined)
  .each(["rm p<(ls) q", "rm -f p<(ls)>(cat)", "unset w; rm ${w:-'k l'}", "unset w; rm ${w:-a 'k l' b} \"${w:-m n}\""])(
  "the walk sees the words that bash makes where the parser cuts or joins others: %s",
  async (script) => {
    if (BASH === undefined) return;
    const verdict = judgeCommand(script, scope);
    const runs = await run(BASH, script, SCRIPTS);
    expect(runs.length).toBeGreaterThan(0);
    expect(runs.filter((words) => !foresaw(verdict, words))).toEqual([]);
  },
);
