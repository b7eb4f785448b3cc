import { readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { temporaryFolder } from "../support/acp-client.ts";
import { AcpProcess } from "../support/acp-process.ts";
import { say, startModelServer } from "../support/model-server/model-server.ts";

test("The code that a first turn compiled is stored once, and a damaged file is replaced", async () => {
  const folder = temporaryFolder("hermes-compiled-");
  const model = await startModelServer();
  model.respondWith(() => say("done"));
  const start = async (): Promise<AcpProcess> => {
    const agent = new AcpProcess({
      HERMES_BASE_URL: model.baseUrl,
      HERMES_MODEL: "test-model",
      HERMES_API_KEY: "sk-test-key-123456",
      NODE_COMPILE_CACHE: folder,
    });
    await agent.initialize();
    return agent;
  };
  const turn = async (): Promise<void> => {
    const agent = await start();
    await agent.prompt(await agent.newSession(), "go");
    expect(agent.text()).toBe("done");
    await agent.stop();
  };
  const stored = (): string[] =>
    readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((name) => name.includes("hermes-"));

  await (await start()).stop();
  expect(stored()).toEqual([]); // it would lack the code of a turn

  await turn();
  const [name = "", ...others] = stored();
  expect(others).toEqual([]);
  const file = join(folder, name);
  const { mtimeMs, ino, size } = statSync(file);

  await turn();
  expect(statSync(file)).toMatchObject({ mtimeMs, ino, size });

  const damaged = readFileSync(file).fill(0, size / 2);
  writeFileSync(file, damaged);
  await turn();
  expect(stored()).toEqual([name]);
  expect(readFileSync(file).equals(damaged)).toBe(false);
  await model.stop();
});
