import { existsSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, test as anyTest, describe, expect } from "vitest";
import { confine } from "../../../../agent-core/approval/confinement.ts";
import type { ApprovalMode, PolicyContext } from "../../../../agent-core/approval/decision.ts";
import { Grants } from "../../../../agent-core/approval/grants.ts";
import { decide } from "../../../../agent-core/approval/policy.ts";
import { watchOf } from "../../../../agent-core/approval/sandbox-watch.ts";
import { guardedWrite } from "../../../../agent-core/host/guarded-write.ts";
import { childRunner } from "../../../../agent-core/host/terminals/child-runner.ts";
import { localBackend } from "../../../../agent-core/host/terminals/local-backend.ts";
import { findSandbox } from "../../../../agent-core/host/terminals/sandbox/find-sandbox.ts";
import { sandboxedBackend } from "../../../../agent-core/host/terminals/sandbox/sandboxed-backend.ts";
import { sessionTerminals } from "../../../../agent-core/host/terminals/session-terminals.ts";
import type { HostTerminals, RunningCommand, ShellState } from "../../../../agent-core/host/terminals/terminals.ts";
import { resolvePath } from "../../../../agent-core/platform/paths.ts";
import { hasSandbox } from "../../../support/programs.ts";
import { sweep } from "../../../support/scale.ts";
import type { Attack, Place, Step } from "./attacks/attack.ts";
import { LINKS, TRUSTED } from "./attacks/files-and-links.ts";
import { GIT, SETTINGS, WAYS_OUT } from "./attacks/git-and-settings.ts";
import { LIMITS, RACES } from "./attacks/races-and-limits.ts";
import { newFolder, removeFolders, repository } from "./sandboxed-workspace.ts";

const test = anyTest.runIf(hasSandbox());
const MODES: readonly ApprovalMode[] = sweep(["code", "auto"], ["code"]);
/** One of so many attacks is played. */
const STEP = sweep(1, 3);

const ATTACKS: Readonly<Record<string, readonly Attack[]>> = {
  "files that the user's own programs run or trust": TRUSTED,
  links: LINKS,
  "races with a process in the background": RACES,
  "limits that are exceeded": LIMITS,
  "settings, hooks and branches of git": GIT,
  "settings of the environment and of toolchains": SETTINGS,
  "look-ups as a way out": WAYS_OUT,
};

afterAll(removeFolders);

type Session = { readonly context: PolicyContext; readonly terminals: HostTerminals; readonly place: Place };

function open(place: Place, mode: ApprovalMode): Session {
  const { root, home } = place;
  const found = findSandbox();
  if (!found.ok) throw new Error(found.reason);
  const scope = { cwd: root, roots: [root], home, hermesHome: join(home, ".hermes"), resolvePath };
  const folders = { withheld: join(home, "withheld"), outputs: join(home, "outputs") };
  const backend = sandboxedBackend(localBackend(), {
    sandbox: found.sandbox,
    confine: (caches, command) => confine(scope, { ...folders, caches }, command),
    settle: () => watchOf(scope).settle(folders.withheld),
  });
  const grants = new Grants(join(home, ".hermes"), () => undefined);
  const context: PolicyContext = { mode, scope, trusted: true, grants, sandbox: true, written: new Set() };
  return { context, terminals: sessionTerminals(backend, childRunner()), place };
}

async function edit({ context }: Session, path: string, after: string): Promise<boolean> {
  if (decide({ kind: "edit", paths: [path] }, context).kind !== "allow") return false;
  const expected = await readFile(path, "utf8").catch(() => null);
  await guardedWrite({ path, expected, after, purpose: "edit" }, AbortSignal.timeout(5_000));
  return true;
}

/** Output of all steps; it ends where the policy asks or refuses. */
async function play(attack: Attack, session: Session): Promise<string> {
  const { context, terminals, place } = session;
  const living: RunningCommand[] = [];
  let output = "";
  let shell: ShellState = { folder: place.root, variables: undefined };
  const run = async (command: string, isShort: boolean): Promise<boolean> => {
    const decision = decide({ kind: "command", command, cwd: shell.folder, variables: shell.variables }, context);
    if (decision.kind !== "allow") return false;
    const { sandbox, writable } = decision;
    if (attack.isVerdict) {
      output += sandbox === "isolated" || sandbox === "reading" ? "" : "UNASKED";
      return true;
    }
    const outputFile = join(place.home, `output-${living.length}-${output.length}.log`);
    const request = { command, shell, keepsShell: isShort, input: "none", pty: false, outputFile } as const;
    const running = await terminals.start({ ...request, sandbox, writable }, AbortSignal.timeout(120_000));
    if (!isShort) return living.push(running) > 0;
    await running.exit;
    output += `${(await running.output()).head}\n${(await running.inspected()).join("\n")}`;
    shell = (await running.shellAfter()) ?? shell;
    await running.release();
    return true;
  };
  const take = async (step: Step): Promise<boolean> => {
    if (typeof step === "string") return run(step, true);
    if ("run" in step) return run(step.run, false);
    if ("edit" in step) return edit(session, join(place.root, step.edit), step.text);
    step.user(place);
    return true;
  };
  try {
    for (const step of attack.steps(place)) if (!(await take(step))) break;
    output += (await terminals.endTurn?.())?.join("\n") ?? "";
    for (const running of living) {
      await running.exit;
      output += (await running.inspected()).join("\n");
    }
    output += (await terminals.inspectLiving?.())?.join("\n") ?? "";
  } catch (error) {
    if (!String(error).includes("sandbox cannot hold")) throw error;
  } finally {
    await terminals.dispose();
  }
  return output;
}

function newPlace(): Place {
  const folder = newFolder();
  const home = realpathSync(mkdtempSync(join(tmpdir(), "hermes-attacked-home-")));
  const secret = join(folder, "secret");
  writeFileSync(secret, "PRIVATE\n");
  return { root: repository(join(folder, "work")), home, canary: join(folder, "pwned"), secret };
}

describe.each(Object.entries(ATTACKS))("an attack by %s fails", (_, attacks) => {
  test.for(
    attacks
      .filter((_, at) => at % STEP === 0)
      .flatMap((attack) => MODES.map((mode) => [attack.name, mode, attack] as const)),
  )("when it %s in %s mode", async ([name, mode, attack]) => {
    const place = newPlace();
    attack.before?.(place);
    const output = await play(attack, open(place, mode));
    attack.after?.(place);
    const hasSucceeded = attack.succeeds?.(place, output) ?? (output.includes("UNASKED") || existsSync(place.canary));
    rmSync(place.home, { recursive: true, force: true });
    expect([name, hasSucceeded], output).toEqual([name, false]);
  });
});
