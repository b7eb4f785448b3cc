import { execFileSync } from "node:child_process";
import { linkSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { AcpAgent } from "../support/acp-agent.ts";
import type { Json } from "../support/acp-client.ts";
import { call, say, startModelServer } from "../support/model-server/model-server.ts";

const running: { stop(): Promise<unknown> }[] = [];

afterEach(async () => {
  for (const it of running.splice(0)) await it.stop();
});

async function start() {
  const model = await startModelServer();
  const agent = new AcpAgent({ HERMES_BASE_URL: model.baseUrl, HERMES_MODEL: "m", HERMES_API_KEY: "sk-1" });
  running.push(agent, model);
  mkdirSync(join(agent.home, ".ssh"));
  writeFileSync(join(agent.home, ".ssh/id_rsa"), "PRIVATE-KEY");
  const asked: Json[] = [];
  agent.on("session/request_permission", (params) => {
    asked.push(params);
    return { outcome: { outcome: "selected", optionId: "reject" } };
  });
  return { model, agent, asked };
}

describe("a session", () => {
  it("reads no instructions that lead out of its workspace, and tells the user alone", async () => {
    const { model, agent } = await start();
    symlinkSync(join(agent.home, ".ssh/id_rsa"), join(agent.cwd, "AGENTS.md"));
    execFileSync("sh", ["-c", 'mkfifo "$0"', join(agent.cwd, "HERMES.md")]);
    writeFileSync(join(agent.cwd, "CLAUDE.md"), Buffer.from("\ufeffUse tabs here.", "utf16le"));
    await agent.initialize();
    const id = await agent.newSession();
    model.script(say("one"), say("two"));
    await agent.prompt(id, "go");
    await agent.prompt(id, "on");
    const sent = JSON.stringify(model.requests.map(({ body }) => body));
    expect(sent).not.toMatch(/PRIVATE-KEY|does not read/);
    expect(sent).toContain("Use tabs here.");
    const shown = JSON.stringify(agent.updates).match(/Hermes does not read the instructions in [^"]*/g);
    expect(shown?.toSorted()).toEqual([
      expect.stringMatching(/AGENTS\.md: it leads to .*id_rsa, outside /),
      expect.stringMatching(/HERMES\.md: it is not a regular file/),
    ]);
  });

  it("asks before a file tool opens a hard link, and writes nothing through it unasked", async () => {
    const { model, agent, asked } = await start();
    const profile = join(agent.home, "profile");
    writeFileSync(profile, "mine\n");
    linkSync(profile, join(agent.cwd, "notes.txt"));
    mkdirSync(join(agent.cwd, "node_modules/x"), { recursive: true });
    writeFileSync(join(agent.home, "stored.js"), "stored\n");
    linkSync(join(agent.home, "stored.js"), join(agent.cwd, "node_modules/x/index.js"));
    await agent.initialize();
    const id = await agent.newSession();
    model.script(
      { parts: [call("read_file", { path: "node_modules/x/index.js" })] },
      { parts: [call("read_file", { path: "notes.txt" })] },
      { parts: [call("write_file", { path: "notes.txt", content: "evil\n" })] },
      say("done"),
    );
    await agent.prompt(id, "go");
    expect(asked.map((request) => JSON.stringify(request))).toEqual([
      expect.stringContaining("a hard link to a file with another name"),
      expect.stringContaining("a hard link to a file with another name"),
    ]);
    expect(readFileSync(profile, "utf8")).toBe("mine\n");
  });
});
