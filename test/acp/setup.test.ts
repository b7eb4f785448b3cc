import { spawn } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { afterEach, beforeEach, expect, test } from "vitest";
import { AcpProcess } from "../support/acp-process.ts";
import { fail, type ModelServer, startModelServer } from "../support/model-server/model-server.ts";

const KEY = "sk-live-key-123456";

let model: ModelServer;
let home: string;
beforeEach(async () => {
  model = await startModelServer();
  home = join(mkdtempSync(join(tmpdir(), "hermes-setup-")), "home");
});
afterEach(() => model.stop());

async function setUp(...lines: readonly string[]): Promise<{ code: number; output: string }> {
  const child = spawn("node", ["dist/acp.js", "--setup"], {
    env: {
      PATH: process.env["PATH"],
      TMPDIR: tmpdir(),
      HOME: home,
      HERMES_HOME: home,
      HERMES_LOCAL_SERVERS: "off",
      OPENAI_BASE_URL: model.baseUrl,
    },
    stdio: ["pipe", "pipe", "inherit"],
  });
  const code = new Promise<number>((resolve) => child.once("exit", (status) => resolve(status ?? -1)));
  child.stdin.end(lines.map((line) => `${line}\n`).join(""));
  const output = await text(child.stdout);
  return { code: await code, output };
}

test("from nothing to a model: provider, key and model are asked, tried and written, the key for its owner only", async () => {
  model.lookUps.set("/models", { data: [{ id: "gpt-4.1" }, { id: "gpt-5" }] });
  const { code, output } = await setUp("1", KEY, "gpt-5");
  expect(output).toContain("1  OpenAI");
  expect(output).toContain("Hermes now uses gpt-5 from OpenAI");
  expect(output).not.toContain(KEY);
  expect(code).toBe(0);
  expect(model.lookedUp[0]?.headers.authorization).toBe(`Bearer ${KEY}`);
  expect(readFileSync(join(home, ".env"), "utf8")).toBe(`OPENAI_API_KEY=${KEY}\n`);
  expect(statSync(join(home, ".env")).mode & 0o777).toBe(0o600);

  const agent = new AcpProcess({ OPENAI_BASE_URL: model.baseUrl }, home);
  await agent.initialize();
  const { result } = await agent.request("session/new", { cwd: agent.cwd, mcpServers: [] });
  await agent.stop();
  expect(result?.["configOptions"]).toContainEqual(
    expect.objectContaining({ id: "model", currentValue: "openai:gpt-5" }),
  );
});

test("files of the home keep their comments, order and other keys", async () => {
  mkdirSync(home);
  writeFileSync(join(home, ".env"), "# mine\nexport OPENAI_API_KEY=old\nOTHER='a b'\n");
  writeFileSync(join(home, "config.yaml"), "# my settings\nagent:\n  max_turns: 7 # enough\nmodel: old/model\n");
  expect((await setUp("1", KEY, "")).code).toBe(0);
  expect(readFileSync(join(home, ".env"), "utf8")).toBe(`# mine\nOPENAI_API_KEY=${KEY}\nOTHER='a b'\n`);
  const config = readFileSync(join(home, "config.yaml"), "utf8");
  expect(config).toContain("# my settings\nagent:\n  max_turns: 7 # enough\n");
  expect(config).toContain("model:\n  provider: openai\n  default: gpt-4.1\n");
});

test("a refused key is reported, requested again, and never written", async () => {
  model.lookUps.set("/models", fail(401, `Incorrect API key: ${KEY}`));
  const { code, output } = await setUp("1", KEY, "n");
  expect(output).toContain("The key for openai was refused (401)");
  expect(output).not.toContain(KEY);
  expect(code).toBe(1);
  expect(existsSync(join(home, ".env"))).toBe(false);
});

test("any other address, without a key", async () => {
  const { code } = await setUp("4", model.baseUrl, "", "1");
  expect(code).toBe(0);
  expect(readFileSync(join(home, "config.yaml"), "utf8")).toBe(
    `model:\n  provider: custom\n  default: test-model\n  base_url: ${model.baseUrl}\n`,
  );
});

test("the end of the input is a no", async () => {
  expect(await setUp("1")).toEqual({ code: 1, output: expect.stringMatching(/\nNothing was saved\.\n$/) });
  expect((await setUp()).code).toBe(1);
});

test("a check says at once why the model cannot be reached", async () => {
  const env = { PATH: process.env["PATH"], HOME: home, HERMES_HOME: home, HERMES_LOCAL_SERVERS: "off" };
  const address = { HERMES_BASE_URL: model.baseUrl, HERMES_MODEL: "m", HERMES_API_KEY: "sk-test-123456" };
  await model.stop();
  const child = spawn("node", ["dist/acp.js", "--check"], {
    env: { ...env, ...address },
    stdio: ["ignore", "inherit", "pipe"],
  });
  const code = new Promise((resolve) => child.once("exit", resolve));
  expect(await text(child.stderr)).toContain("cannot be reached");
  expect(await code).toBe(1);
  model = await startModelServer();
});
