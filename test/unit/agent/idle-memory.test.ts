import { mkdtempSync, readFileSync, realpathSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test, vi } from "vitest";
import { AIAgent } from "../../../agent-core/index.ts";
import { Journal } from "../../../agent-core/sessions/journal.ts";
import { say, startModelServer } from "../../support/model-server/model-server.ts";

test("a session gives its messages back ten minutes after its last turn, and reads them again for the next one", async () => {
  const timers = vi.spyOn(globalThis, "setTimeout");
  const cwd = realpathSync(mkdtempSync(join(tmpdir(), "hermes-idle-")));
  const model = await startModelServer();
  model.respondWith(() => say("fine"));
  const path = join(cwd, "idle.jsonl");
  const onFailure = (message: string) => expect.unreachable(message);
  const journal = new Journal({ path, sessionId: "idle", cwd, now: () => 0, onFailure });
  const place = { baseUrl: model.baseUrl, model: "test-model", apiKey: "sk-test-123456" };
  const agent = new AIAgent({ ...place, cwd, home: join(cwd, ".home"), environment: {}, journal });
  onTestFinished(async () => {
    await agent.close();
    journal.close();
    await model.stop();
  });
  const sent = () => JSON.stringify(model.requests.at(-1)?.body);
  await agent.chat("first words");
  const [rest] = timers.mock.calls.findLast(([, ms]) => ms === 600_000) ?? [];
  timers.mockRestore();
  // Memory has the first text; only a reader of the journal gets the other one.
  writeFileSync(path, readFileSync(path, "utf8").replaceAll("first words", "other words"));
  await agent.chat("second");
  expect(sent()).toContain("first words");
  rest?.();
  await agent.chat("third");
  expect(sent()).toContain("other words");
});
