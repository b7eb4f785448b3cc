import {
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { homedir, tmpdir } from "node:os";
import { dirname, isAbsolute, join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { sessionPolicy } from "../../../agent-core/agent/approvals.ts";
import type { ApprovalAnswer } from "../../../agent-core/agent/callbacks.ts";
import { notifier } from "../../../agent-core/agent/notifier.ts";
import { resolveCall } from "../../../agent-core/agent/resolve-call.ts";
import { runCall } from "../../../agent-core/agent/run-call.ts";
import type { ApprovalMode } from "../../../agent-core/approval/decision.ts";
import { Grants } from "../../../agent-core/approval/grants.ts";
import { Hooks } from "../../../agent-core/hooks/hook.ts";
import { WatchedEdits } from "../../../agent-core/tools/edit-problems.ts";
import { table as tools } from "../../../agent-core/tools/table.gen.ts";
import { hasPrograms } from "../../support/programs.ts";
import { type Bench, toolBench } from "../../support/tool-context.ts";

const TEXT = "protected\n";
const MODES: readonly ApprovalMode[] = ["ask", "code", "plan", "auto"];

/** Below the workspace unless they begin with a slash; `HOME` is the user's. */
const PATHS = [
  ".git/config",
  ".git/hooks/pre-commit",
  ".git/info/attributes",
  ".git/modules/a/config",
  ".GIT/config",
  "sub/.git/hooks/post-checkout",
  ".gitmodules",
  ".gitattributes",
  ".vscode/settings.json",
  ".vscode/tasks.json",
  ".VSCode/launch.json",
  "packages/a/.vscode/tasks.json",
  ".idea/workspace.xml",
  "team.code-workspace",
  ".devcontainer/devcontainer.json",
  ".mcp.json",
  ".hermes/config.yaml",
  ".claude/settings.json",
  ".cursor/mcp.json",
  ".codex/config.toml",
  ".gemini/settings.json",
  ".kiro/settings/mcp.json",
  "AGENTS.md",
  "Claude.md",
  "GEMINI.md",
  "SOUL.md",
  ".cursorrules",
  ".github/workflows/ci.yml",
  ".github/copilot-instructions.md",
  ".github/instructions/a.md",
  ".github/prompts/a.md",
  ".github/agents/a.md",
  ".github/hooks/check.json",
  ".github/skills/deploy/SKILL.md",
  ".agents/skills/deploy/SKILL.md",
  ".gitlab-ci.yml",
  ".circleci/config.yml",
  ".env",
  ".env.production",
  "src/../.env.local",
  ".envrc",
  ".npmrc",
  ".yarnrc.yml",
  ".husky/pre-push",
  ".pre-commit-config.yaml",
  ".cargo/config.toml",
  "lefthook.yml",
  "mise.toml",
  "sitecustomize.py",
  ".gdbinit",
  "linked/config",
  "HOME/.bashrc",
  "HOME/.ssh/authorized_keys",
  "HOME/.config/autostart/a.desktop",
  "HOME/.profile",
  "OUTSIDE/a.txt",
  // The home of Hermes has any name.
  "HOME/hermes-home/plugins/a/plugin.js",
  "HOME/hermes-home/skills/deploy/SKILL.md",
  "HOME/hermes-home/mcp-tokens/a.json",
  "HOME/hermes-home/shell-hooks-allowlist.json",
  "HOME/hermes-home/vscode/consents/hook-1",
];

type Call = readonly [tool: string, input: Record<string, unknown>];

const command = (line: string): Call => ["terminal", { command: line }];
const patch = (...lines: readonly string[]): Call => ["patch", { mode: "patch", patch: lines.join("\n") }];

const writeWithPython = (path: string): Call => command(`python3 -c 'open("${path}", "w").write("taken")'`);

const WAYS: Readonly<Record<string, (path: string) => Call>> = {
  write_file: (path) => ["write_file", { path, content: "taken over\n" }],
  "patch, replace": (path) => ["patch", { path, old_string: "protected", new_string: "taken over" }],
  "patch, V4A": (path) => patch(`*** Update File: ${path}`, "-protected", "+taken over"),
  "patch, deleted": (path) => patch(`*** Delete File: ${path}`),
  "patch, moved away": (path) => patch(`*** Move File: ${path} -> moved.txt`),
  ">": (path) => command(`echo taken > ${path}`),
  tee: (path) => command(`echo taken | tee -a ${path}`),
  "sed -i": (path) => command(`sed -i s/protected/taken/ ${path}`),
  cp: (path) => command(`cp harmless.txt ${path}`),
  mv: (path) => command(`mv harmless.txt ${path}`),
  "ln -sf": (path) => command(`ln -sf harmless.txt ${path}`),
  rm: (path) => command(`rm ${path}`),
  ...(hasPrograms("python3") && { python: writeWithPython }),
};

describe("protected files", () => {
  let bench: Bench;
  let home: string;
  let outside: string;

  beforeAll(() => {
    bench = toolBench();
    home = realpathSync(mkdtempSync(join(tmpdir(), "hermes-home-of-user-")));
    // The temp folder may be written by all users, the home folder may not.
    outside = realpathSync(mkdtempSync(join(homedir(), "hermes-test-outside-")));
    mkdirSync(join(bench.folder, ".git"), { recursive: true });
    mkdirSync(join(bench.folder, "src"));
    symlinkSync(".git", join(bench.folder, "linked"));
    writeFileSync(join(bench.folder, "harmless.txt"), "harmless\n");
    for (const path of PATHS.map(absolute)) {
      mkdirSync(dirname(path), { recursive: true });
      writeFileSync(path, TEXT);
    }
  });

  afterAll(() => rmSync(outside, { recursive: true }));

  const named = (path: string): string => path.replace(/^HOME/, home).replace(/^OUTSIDE/, outside);
  const absolute = (path: string): string => (isAbsolute(named(path)) ? named(path) : join(bench.folder, path));

  async function run([name, input]: Call, mode: ApprovalMode, answer: ApprovalAnswer) {
    let asked = 0;
    const grants = new Grants(join(home, "grants.json"), () => undefined);
    const where = { cwd: bench.folder, roots: [bench.folder], home, hermesHome: join(home, "hermes-home") };
    const services = {
      tools,
      withheld: () => undefined,
      cwd: bench.folder,
      shell: { folder: bench.folder, process: () => undefined },
      policy: sessionPolicy({ ...where, mode: () => mode, trusted: () => true, grants, asks: true, language: "sh" }),
      hooks: new Hooks({
        hooks: () => [],
        sessionId: "s",
        cwd: bench.folder,
        home,
        report: () => undefined,
        monotonicNow: () => 0,
      }),
      changedPaths: new Set<string>(),
      ask: async () => {
        asked++;
        return answer;
      },
      modelApproval: async () => "a model that allows everything",
      notify: notifier({}, () => undefined),
      recordAnswer: () => undefined,
      monotonicNow: () => performance.now(),
      contextFor: () => bench.context,
      edits: new WatchedEdits(),
      writeSpill: async () => undefined,
      subfolderContext: async () => "",
    };
    const call = { id: "c", type: "function", function: { name, arguments: JSON.stringify(input) } } as const;
    const result = await runCall(resolveCall(call, services), services, bench.context.signal);
    return { asked, result };
  }

  const isAsItWas = (path: string): boolean =>
    existsSync(path) && !lstatSync(path).isSymbolicLink() && readFileSync(path, "utf8") === TEXT;

  test.each(Object.keys(WAYS))("are never written unasked: %s", async (way) => {
    const unasked: string[] = [];
    for (const path of PATHS) {
      for (const mode of MODES) {
        const { asked, result } = await run(WAYS[way]!(named(path)), mode, { kind: "rejected" });
        const isGuarded = mode === "plan" ? !result.ok : asked === 1 && !result.ok;
        if (!isGuarded || !isAsItWas(absolute(path))) unasked.push(`${path} in ${mode}: ${result.text.slice(0, 80)}`);
      }
    }
    expect(unasked).toEqual([]);
  });

  test("every one of these ways does write once the user says so", async () => {
    for (const [index, [way, call]] of Object.entries(WAYS).entries()) {
      writeFileSync(join(bench.folder, "harmless.txt"), "harmless\n");
      const path = absolute(`.husky/way-${index}`);
      writeFileSync(path, TEXT);
      const { result } = await run(call(path), "code", { kind: "once" });
      expect([way, result.ok, isAsItWas(path)], result.text).toEqual([way, true, false]);
    }
  });
});
