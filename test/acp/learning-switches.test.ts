// The switches of the loops: a loop that is off, or that has learnt nothing, changes no byte of a request.
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { writeEpisode } from "../../agent-core/learning/episode-files.ts";
import { AcpAgent } from "../support/acp-agent.ts";
import { type ModelServer, say, startModelServer } from "../support/model-server/model-server.ts";
import { episode } from "../unit/learning/distillation/repeated-tasks.ts";

let model: ModelServer;
let home: string;
let cwd: string;

beforeAll(async () => {
  model = await startModelServer();
  model.respondWith(() => say("Done."));
});
afterAll(() => model.stop());

/** A home whose user wrote two skills that fit the message. */
beforeEach(async () => {
  const agent = agentIn();
  ({ home, cwd } = agent);
  await agent.initialize();
  await agent.stop();
  for (const name of ["kavlin-build", "kavlin-publishing"]) write(`skills/${name}/SKILL.md`, skill(name));
});

function agentIn(folder?: string): AcpAgent {
  return new AcpAgent({ HERMES_BASE_URL: model.baseUrl, HERMES_MODEL: "m", HERMES_API_KEY: "sk-1" }, folder);
}

function write(path: string, text: string): void {
  mkdirSync(dirname(join(home, path)), { recursive: true });
  writeFileSync(join(home, path), text);
}

function skill(name: string, author = ""): string {
  const hermes = author === "" ? {} : { author };
  return `---\nname: ${name}\ndescription: Publish with ${name}.\nmetadata: ${JSON.stringify({ hermes })}\n---\nRun it.\n`;
}

/** First request of a new session in this home, with these settings of learning. */
async function requestWith(learning: object): Promise<string> {
  // The state of the folder is left out when it takes too long to read.
  write("config.yaml", JSON.stringify({ agent: { coding_context: "off" }, learning }));
  const agent = agentIn(home);
  await agent.initialize();
  const { result } = await agent.request("session/new", { cwd, mcpServers: [] });
  model.forget();
  await agent.prompt(String(result?.["sessionId"]), "Publish the kavlin build");
  await agent.stop();
  return JSON.stringify(model.requests[0]?.body);
}

const LOOPS = ["consolidation", "distillation", "report"] as const;
type LoopName = (typeof LOOPS)[number];

/** Things that a loop has learnt: each of them changes a request. */
const learnt: Readonly<Record<string, { readonly loop: LoopName; plant(): unknown }>> = {
  "a fact": {
    loop: "consolidation",
    plant() {
      mkdirSync(join(home, "learning", "episodes"), { recursive: true }); // each session that teaches has one
      write("learning/entities/alpha.md", "# alpha (project)\n\n- The gate of kavlin is `zq7-verify`.\n");
    },
  },
  "an episode": {
    loop: "consolidation",
    plant: () => writeEpisode(home, episode(Date.now(), { cwd, firstMessage: "Publish the kavlin build 3" })),
  },
  "a skill": {
    loop: "distillation",
    plant: () => write("skills/learnt/kavlin/SKILL.md", skill("kavlin", "hermes")),
  },
};

test("loops that have learnt nothing change no request, whichever of them is on", async () => {
  const without = await requestWith({ enabled: false });
  expect(without).toContain("kavlin-publishing");
  for (const loop of LOOPS) {
    const others = Object.fromEntries(LOOPS.map((name) => [name, name !== loop]));
    const only = Object.fromEntries(LOOPS.map((name) => [name, name === loop]));
    expect(await requestWith(others), `without ${loop}`).toBe(without);
    expect(await requestWith(only), `only ${loop}`).toBe(without);
  }
});

test.each(Object.keys(learnt))("%s is in no request while its loop alone is off", async (name) => {
  const without = await requestWith({ enabled: false });
  const { loop, plant } = learnt[name] ?? expect.fail(name);
  await plant();
  const only = Object.fromEntries(LOOPS.map((each) => [each, each === loop]));
  expect(await requestWith(only)).not.toBe(without);
  expect(await requestWith({ [loop]: false })).toBe(without);
  expect(await requestWith({ enabled: false })).toBe(without);
  expect(await requestWith({ use: false })).toBe(without);
});
