/** Time from the start of a script to its first tool call, in the sandbox where there is one, in an empty workspace. */
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, realpathSync, rmSync } from "node:fs";
import { homedir, tmpdir } from "node:os";
import { join } from "node:path";
import { confine } from "../../agent-core/approval/confinement.ts";
import type { ScriptLanguage } from "../../agent-core/execute-code/hermes-tools.ts";
import { SessionScripts } from "../../agent-core/execute-code/session-scripts.ts";
import { childRunner } from "../../agent-core/host/terminals/child-runner.ts";
import { localBackend } from "../../agent-core/host/terminals/local-backend.ts";
import { findSandbox } from "../../agent-core/host/terminals/sandbox/find-sandbox.ts";
import { sandboxedBackend } from "../../agent-core/host/terminals/sandbox/sandboxed-backend.ts";
import { sessionTerminals } from "../../agent-core/host/terminals/session-terminals.ts";
import type { HostTerminals } from "../../agent-core/host/terminals/terminals.ts";
import { findProgram } from "../../agent-core/platform/find-program.ts";
import { resolvePath } from "../../agent-core/platform/paths.ts";
import { table } from "../../agent-core/tools/table.gen.ts";
import { median, type Row } from "./measuring.ts";

const ROUNDS = 20;
const CODE: Readonly<Record<ScriptLanguage, string>> = {
  python: 'from hermes_tools import read_file\nread_file("a.txt")',
  node: 'import { read_file } from "hermes_tools";\nawait read_file("a.txt");',
};

export async function measureCode(): Promise<readonly Row[]> {
  const own = realpathSync(mkdtempSync(join(tmpdir(), "hermes-bench-")));
  const workspace = join(own, "workspace");
  mkdirSync(workspace);
  const terminals = benchTerminals(workspace, own);
  try {
    const rows: Row[] = [];
    for (const [language, program, targetFloor] of [
      ["python", "python3", 25] as const,
      ["node", "node", 40] as const,
    ]) {
      if (findProgram(program) === undefined) continue;
      const [times, bare]: [number[], number[]] = [[], []];
      for (let round = 0; round < ROUNDS; round += 1) {
        times.push(await firstCall(language, terminals, workspace));
        bare.push(bareStart(program));
      }
      rows.push({
        what: `first tool call of a ${language} script, beside a bare ${program}`,
        ours: median(times),
        floor: median(bare),
        target: 150,
        targetFloor,
        unit: "ms",
      });
    }
    return rows;
  } finally {
    await terminals.dispose();
    rmSync(own, { recursive: true, force: true });
  }
}

function benchTerminals(root: string, own: string): HostTerminals {
  const found = findSandbox();
  if (!found.ok) return sessionTerminals(localBackend(), childRunner());
  const scope = { cwd: root, roots: [root], home: homedir(), hermesHome: join(own, "home"), resolvePath };
  const folders = { withheld: join(own, "withheld"), outputs: join(own, "outputs") };
  const backend = sandboxedBackend(localBackend(), {
    sandbox: found.sandbox,
    confine: (caches, command) => confine(scope, { ...folders, caches }, command),
  });
  return sessionTerminals(backend, childRunner());
}

async function firstCall(language: ScriptLanguage, terminals: HostTerminals, folder: string): Promise<number> {
  const begin = performance.now();
  let called = 0;
  const scripts = new SessionScripts();
  await scripts.run(
    {
      code: CODE[language],
      language,
      limits: { timeoutSeconds: 20, maxToolCalls: 1 },
      shell: { folder, variables: undefined },
      sandbox: terminals.sandboxes ? "isolated" : undefined,
      outputFile: join(folder, "..", "script.log"),
      tools: table.map(({ schema }) => schema),
      isFresh: false,
    },
    {
      terminals,
      async callTool() {
        called = performance.now();
        return "";
      },
      onOutput: () => undefined,
    },
    AbortSignal.timeout(20_000),
  );
  await scripts.close();
  return called - begin;
}

function bareStart(program: string): number {
  const begin = performance.now();
  execFileSync(program, program === "node" ? ["-e", "0"] : ["-c", "pass"]);
  return performance.now() - begin;
}
