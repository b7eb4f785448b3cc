// A repeated task becomes a skill, which the next session with such a task gets.
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { writeEpisode } from "../../agent-core/learning/episode-files.ts";
import { AcpAgent } from "../support/acp-agent.ts";
import { type ModelServer, say, startModelServer } from "../support/model-server/model-server.ts";
import { episode } from "../unit/learning/distillation/repeated-tasks.ts";

const DAY_MS = 24 * 60 * 60 * 1_000;
const PROPOSAL = {
  name: "publish-kavlin",
  description: "Publish the kavlin build.",
  applicable_when: ["publish the kavlin build"],
  deltas: [
    { op: "add", text: "Publish with `bin/zq7-pack --lane 4`." },
    { op: "add", text: "Then run `bin/zq7-pack --force`." },
  ],
};

let model: ModelServer;
let agent: AcpAgent;

beforeEach(async () => {
  model = await startModelServer();
  model.respondWith(({ messages }) =>
    say(JSON.stringify(messages).includes("You improve the skills") ? JSON.stringify(PROPOSAL) : "done"),
  );
  agent = new AcpAgent({ HERMES_BASE_URL: model.baseUrl, HERMES_MODEL: "test-model", HERMES_API_KEY: "sk-12345678" });
  await agent.initialize({ _meta: { hermes: { sessionIndex: true } } });
});

afterEach(async () => {
  await agent.stop();
  await model.stop();
});

/** Three sessions with a task of one kind, in the folder of the client. */
async function storeSessions(): Promise<void> {
  const commands = [{ command: "bin/zq7-pack --lane 4", exit: 0 }];
  for (const day of [1, 2, 3]) {
    const firstMessage = `Publish the kavlin build ${day}.`;
    await writeEpisode(
      agent.home,
      episode(Date.now() - day * DAY_MS, { cwd: agent.cwd, firstMessage, tools: ["terminal"], commands }),
    );
  }
}

const lastRequest = (): string => JSON.stringify(model.requests.at(-1)?.body.messages);
const skill = (): string => join(agent.home, "skills", "learnt", "publish-kavlin", "SKILL.md");
const learn = () => agent.request("_hermes/learning/run", {});

test("three sessions of one kind teach a skill, and the fourth one has it until the user takes it back", async () => {
  await storeSessions();
  await learn();
  expect(agent.notified("_hermes/learning/changed").at(-1)).toEqual({
    message: 'Learnt: "publish-kavlin" v1 from 3 sessions',
    items: ["s-publish-kavlin"],
  });
  expect(readFileSync(skill(), "utf8")).not.toContain("--force");
  const fourth = await agent.newSession();
  await agent.prompt(fourth, "please publish the kavlin build 4");
  expect(lastRequest()).toContain("- publish-kavlin:");
  await agent.prompt(fourth, "/publish-kavlin build 4");
  expect(lastRequest()).toContain("Publish with `bin/zq7-pack --lane 4`.");
  const { result } = await agent.request("_hermes/learning/state", {});
  expect(result).toMatchObject({
    items: expect.arrayContaining([
      expect.objectContaining({ id: "s-publish-kavlin", state: "trial", scope: agent.cwd, used: 1, path: skill() }),
    ]),
  });
  await agent.request("_hermes/learning/act", { id: "s-publish-kavlin", action: "undo" });
  expect(existsSync(skill())).toBe(false);
  const fifth = await agent.newSession();
  await agent.prompt(fifth, "please publish the kavlin build 5");
  expect(lastRequest()).not.toContain("zq7-pack");
});

test("nothing is learnt while the loop is off, and nothing learnt is used while use is off", async () => {
  writeFileSync(join(agent.home, "config.yaml"), "learning:\n  distillation: false\n");
  await storeSessions();
  await learn();
  expect(existsSync(join(agent.home, "learning", "distillation.json"))).toBe(false);
  writeFileSync(join(agent.home, "config.yaml"), "learning:\n  use: false\n");
  await learn();
  expect(existsSync(skill())).toBe(true);
  const sessionId = await agent.newSession();
  await agent.prompt(sessionId, "please publish the kavlin build 4");
  expect(lastRequest()).not.toContain("kavlin build.");
  expect(lastRequest()).not.toContain("zq7-pack");
});
