import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { addressed, agentIndex, agentsText, castTasks, readAgents } from "../../../agent-core/skills/custom-agents.ts";

let root: string;
let home: string;
let isTrusted: boolean;
const places = () => ({ home, roots: [root], trusted: () => isTrusted });

beforeEach(() => {
  const folder = mkdtempSync(join(tmpdir(), "hermes-agents-"));
  [root, home, isTrusted] = [join(folder, "project"), join(folder, "home"), true];
});
afterEach(() => rmSync(dirname(root), { recursive: true }));

function put(path: string, text: string): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
}

const TOOLS = [
  { name: "read_file", toolset: "file" },
  { name: "search_files", toolset: "file" },
  { name: "patch", toolset: "file" },
  { name: "terminal", toolset: "terminal" },
  { name: "mcp__github__list_issues", toolset: "mcp" },
];

async function toolsOf(front: string): Promise<readonly string[] | undefined> {
  put(join(root, ".hermes/agents/one.md"), `---\n${front}\n---\nDo it.\n`);
  const cast = await castTasks([{ agent: "one", toolsets: undefined, model: undefined }], places(), TOOLS);
  return cast.ok ? cast.tasks[0]?.toolsets : undefined;
}

describe("custom agents", () => {
  test("are read from the folders of Hermes, Copilot, Claude Code and the home, and the first of a name counts", async () => {
    put(join(root, ".github/agents/Code Reviewer.agent.md"), "---\ndescription: Reviews\n---\nReview.");
    put(join(root, ".claude/agents/tester.md"), "---\nname: tester\ndescription: Of Claude\n---\nTest.");
    put(join(home, "agents/tester.md"), "Test at home.");
    put(join(home, "agents/writer.md"), "# Writes prose\nWrite.");
    const { agents, problems } = await readAgents(places());
    expect(agents.map(({ name, description }) => [name, description])).toEqual([
      ["code-reviewer", "Reviews"],
      ["tester", "Of Claude"],
      ["writer", "Writes prose"],
    ]);
    expect(problems).toEqual([]);
  });

  test("of an untrusted workspace do not count, and no link leads out of it", async () => {
    put(join(home, "secret.md"), "key");
    mkdirSync(join(root, ".claude/agents"), { recursive: true });
    symlinkSync(join(home, "secret.md"), join(root, ".claude/agents/thief.md"));
    const { agents, problems } = await readAgents(places());
    expect(agents).toEqual([]);
    expect(problems.join()).toContain("thief.md");
    isTrusted = false;
    expect(await readAgents(places())).toEqual({ agents: [], problems: [] });
  });

  test("may have a description that is not YAML, as those of Claude Code have", async () => {
    put(
      join(root, ".claude/agents/deep.md"),
      '---\nname: deep\ndescription: Use this when: asked. Example: user: "hi"\ntools: Read, Grep\nmodel: sonnet\n---\nLook.',
    );
    const { agents } = await readAgents(places());
    expect(agents).toMatchObject([{ name: "deep", tools: ["Read", "Grep"], model: undefined }]);
    expect(agentsText({ agents, problems: [] }, [])).toContain("**@deep**: Use this when: asked.");
  });

  test.each([
    ["tools: Read, Grep", ["read_file", "search_files"]],
    ["tools: [search, edit]", ["read_file", "search_files", "patch"]],
    ["tools: ['runCommands']", ["terminal"]],
    ["tools: [github/list_issues, view]", ["read_file", "mcp__github__list_issues"]],
    ["tools: [terminal, file]", ["read_file", "search_files", "patch", "terminal"]],
    ["description: all", undefined],
    ["disallowedTools: Bash, Edit", ["read_file", "search_files", "mcp__github__list_issues"]],
    ["description: a: b\ntools:\n- Read\n- Grep", ["read_file", "search_files"]],
    ["tools: [Read, Bash]\ndisallowedTools: [Bash]", ["read_file", "search_files"]],
  ])("get the tools that their file names in any product's words: %s", async (front, expected) => {
    expect(await toolsOf(front)).toEqual(expected);
  });

  test.each([
    ["name: [broken\ntools: x", "broken"],
    ["name: '???'", "one"],
    ["name: -- Über prüfer --", "über-prüfer"],
    ["{{{", "one"],
    ["name: one\n  nested: wrong\n\tand: tabs", "one"],
  ])("keep a usable name with front matter that is broken: %s", async (front, name) => {
    put(join(root, ".hermes/agents/one.md"), `---\n${front}\n---\nDo it.`);
    const { agents, problems } = await readAgents(places());
    expect([...agents.map((agent) => agent.name), ...problems.map(() => "problem")]).toEqual([name]);
  });

  test("with tools that nobody has get none of ours", async () => {
    expect(await toolsOf("tools: [teleport, 7up]")).toEqual([]);
  });

  test("without an end of their front matter are a problem, and a line above their instructions is none", async () => {
    put(join(root, ".hermes/agents/one.md"), "---\r\ntools: Read\r\nDo it.");
    put(join(root, ".hermes/agents/two.md"), "---\nDo it.");
    const { agents, problems } = await readAgents(places());
    expect(agents).toMatchObject([{ name: "two", tools: undefined }]);
    expect(problems).toEqual([expect.stringContaining("one.md: its front matter has no end")]);
  });

  test("give a task their role and model, and an unknown one is a problem that lists them", async () => {
    put(join(root, ".hermes/agents/one.md"), "---\nmodel: small\n---\nBe brief.");
    const task = { toolsets: undefined, model: undefined };
    expect(await castTasks([{ ...task, agent: "One" }], places(), TOOLS)).toMatchObject({
      ok: true,
      tasks: [{ role: "Be brief.", model: "small" }],
    });
    expect(await castTasks([{ ...task, agent: "two" }], places(), TOOLS)).toEqual({
      ok: false,
      problems: ['There is no agent "two". There are one.'],
    });
  });

  test("are addressed by a message that begins with their name, and by no other", async () => {
    put(join(root, ".hermes/agents/one.md"), "Be brief.");
    const agents = await readAgents(places());
    expect(addressed("@one: what is this?", agents)).toContain('agent "one"');
    for (const message of ["@two look", "ask @one", "@one", "mail a@one now"]) {
      expect(addressed(message, agents)).toBeUndefined();
    }
  });
});

test.each([
  [8, /^# Agents\nRoles .*(\n- agent-\d: (Reviews all changes of the team for faults\. ){4}){8}$/],
  [30, /^# Agents\nRoles .*(\n- agent-\d+: (Reviews all changes of the team for faults\. ?){3}…?){30}$/],
  [
    480,
    /^# Agents\nRoles .*(\n- agent-\d+: Reviews all .{55,75}…){50}\n430 more: an unknown name gets the names of all\.$/,
  ],
])("the prompt lists %i agents in a few lines, and all of them can be named", (count, index) => {
  const description = "Reviews all changes of the team for faults. ".repeat(4);
  const agents = Array.from({ length: count }, (_, at) => ({
    ...{ name: `agent-${at}`, description, instructions: "Review." },
    ...{ tools: undefined, without: [], model: undefined, path: `/a/agent-${at}.md` },
  }));
  expect(agentIndex({ agents, problems: [] })).toMatch(index);
  expect(addressed(`@agent-${count - 1} go`, { agents, problems: [] })).toContain(`agent-${count - 1}`);
});
