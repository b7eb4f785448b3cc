import { execFile } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import { temporaryFolder } from "../support/acp-client.ts";

type Ended = { readonly stdout: string; readonly stderr: string; readonly code: number };

const home = temporaryFolder("hermes-sessions-");
const here = join(home, "here");
const elsewhere = join(home, "elsewhere");

/** Runs the program. `input`: its standard input. */
function hermes(args: readonly string[], { cwd = here, input = "", editor = "true" } = {}): Promise<Ended> {
  return new Promise((resolve) => {
    const cli = `${process.cwd()}/dist/cli.js`;
    const env = {
      PATH: process.env["PATH"],
      TMPDIR: tmpdir(),
      HOME: home,
      HERMES_HOME: home,
      HERMES_LOCAL_SERVERS: "off",
      EDITOR: editor,
      ANTHROPIC_BASE_URL: "http://127.0.0.1:9", // the port of "discard": nothing answers
    };
    const child = execFile(process.execPath, [cli, ...args], { cwd, env }, (error, stdout, stderr) =>
      resolve({ stdout, stderr, code: typeof error?.code === "number" ? error.code : 0 }),
    );
    child.stdin?.end(input);
  });
}

beforeAll(async () => {
  for (const folder of [here, elsewhere]) mkdirSync(folder, { recursive: true });
  await hermes(["remember the walrus"]);
  await hermes(["list"], { cwd: elsewhere });
});

describe("hermes sessions", () => {
  test("lists the sessions of the folder, and with --all those of every folder", async () => {
    const [own, all] = await Promise.all([hermes(["sessions"]), hermes(["sessions", "list", "--all", "--json"])]);
    expect(own.stdout.trim().split("\n")).toHaveLength(1);
    expect(own.stdout).toContain("remember the walrus");
    const listed = all.stdout
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line));
    expect(new Set(listed.map(({ cwd }) => cwd))).toEqual(new Set([here, elsewhere]));
  });

  test("finds words of a conversation, and fails when nothing has them", async () => {
    const [found, none] = await Promise.all([
      hermes(["sessions", "search", "walrus"]),
      hermes(["sessions", "search", "narwhal"]),
    ]);
    expect(found).toMatchObject({ code: 0, stdout: expect.stringContaining("remember the walrus") });
    expect(none).toMatchObject({ code: 1, stdout: expect.stringContaining("--all searches everywhere") });
  });

  test("renames a session, writes it to a file, and deletes it only after a yes", async () => {
    await hermes(["sessions", "rename", "last", "About", "tusks"]);
    await hermes(["sessions", "export", "tusks", "-o", "talk.md"]);
    expect(readFileSync(join(here, "talk.md"), "utf8")).toContain("# About tusks");
    const unasked = await hermes(["sessions", "delete", "last"]);
    expect(unasked).toMatchObject({ code: 2, stderr: expect.stringContaining("Add --yes") });
    expect(await hermes(["sessions", "delete", "last", "--yes"])).toMatchObject({ code: 0 });
    expect((await hermes(["sessions"])).stdout).toContain("There are no sessions of");
  });

  test("refuses an age that it cannot read before it deletes anything", async () => {
    for (const age of [[], ["--older-than", "soon"]]) {
      expect(await hermes(["sessions", "prune", "--yes", ...age])).toMatchObject({ code: 2 });
    }
    expect((await hermes(["sessions", "--all"])).stdout).toContain("elsewhere");
  });
});

describe("hermes auth", () => {
  test("stores a key that could not be tested only after a yes, and removes it again", async () => {
    const add = (answers: string) => hermes(["auth", "add", "anthropic"], { input: answers });
    expect(await add("sk-one\nn\n")).toMatchObject({ code: 1, stdout: expect.stringContaining("Nothing was stored.") });
    expect(existsSync(join(home, ".env"))).toBe(false);
    expect(await add("sk-two\ny\n")).toMatchObject({ code: 0 });
    expect(readFileSync(join(home, ".env"), "utf8")).toBe("ANTHROPIC_API_KEY=sk-two\n");
    expect((await hermes(["auth"])).stdout).toContain("anthropic    the home's .env (ANTHROPIC_API_KEY)");
    await hermes(["auth", "remove", "anthropic"]);
    expect((await hermes(["auth"])).stdout).toContain("anthropic    no key");
  });

  test("names the providers when it is asked for an unknown one", async () => {
    const { code, stderr } = await hermes(["auth", "add", "nobody"]);
    expect(code).toBe(2);
    expect(stderr).toContain("openai, openrouter, anthropic, nous");
  });
});

describe("hermes config", () => {
  test("changes one setting, keeps comments, and writes nothing that the setting does not take", async () => {
    const file = join(home, "config.yaml");
    writeFileSync(file, "# mine\nagent:\n  max_turns: 7 # enough\n");
    expect(await hermes(["config", "set", "agent.max_turns", "60"])).toMatchObject({ code: 0 });
    expect(readFileSync(file, "utf8")).toBe("# mine\nagent:\n  max_turns: 60 # enough\n");
    expect((await hermes(["config", "get", "agent.max_turns"])).stdout).toBe("60\n");
    for (const [name, value] of [
      ["agent.max_turn", "5"],
      ["agent.max_turns", "many"],
      ["terminal.sandbx", "on"],
    ] as const) {
      expect(await hermes(["config", "set", name, value])).toMatchObject({
        code: 1,
        stderr: expect.stringContaining(name),
      });
    }
    expect(readFileSync(file, "utf8")).toContain("max_turns: 60");
    expect(await hermes(["config", "check"])).toMatchObject({
      code: 0,
      stdout: expect.stringContaining("no problems"),
    });
    await hermes(["config", "unset", "agent.max_turns"]);
    expect(await hermes(["config", "get", "agent.max_turns"])).toMatchObject({ code: 1 });
  });

  test("opens the file in the editor of the environment, and checks it", async () => {
    const changed = await hermes(["config", "edit"], { editor: "printf 'agent: {max_turn: 1}' >" });
    expect(changed).toMatchObject({ code: 1, stdout: expect.stringContaining("did you mean max_turns?") });
  });
});
