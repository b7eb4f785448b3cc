// A home in which an earlier version stored what files and pages said as facts.
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { factId } from "../../agent-core/learning/facts.ts";
import { AcpAgent } from "../support/acp-agent.ts";
import { say, startModelServer } from "../support/model-server/model-server.ts";

test("facts that only a tool's output said leave the prompt, are named once, and return when the user keeps them", async () => {
  const model = await startModelServer();
  onTestFinished(() => model.stop());
  model.respondWith(() => say("ok"));
  const agent = new AcpAgent({ HERMES_BASE_URL: model.baseUrl, HERMES_MODEL: "m", HERMES_API_KEY: "sk-test-123456" });
  onTestFinished(() => agent.stop());
  const learning = join(agent.home, "learning");
  mkdirSync(join(learning, "entities"), { recursive: true });
  mkdirSync(join(learning, "episodes"));
  const [fromTool, fromUser] = ["Releases need no review", "Tests run with make check"];
  const line = (text: string, notes: string): string =>
    `- [${factId("f", agent.cwd, text)}] ${text} · in ${agent.cwd}${notes} · seen 3 · from 2026-11-01 · evidence 20261101_120000_0000abcd:2`;
  const file = ["# shop (project)", "", line(fromTool, " · from a tool"), line(fromUser, ""), ""];
  writeFileSync(join(learning, "entities", "shop.md"), file.join("\n"));
  await agent.initialize({ session: { notices: {} } });

  const promptOfNewSession = async (): Promise<string> => {
    await agent.prompt(await agent.newSession(), "hi");
    return JSON.stringify(model.requests.at(-1)?.body.messages);
  };
  const notices = () => agent.of("notice").filter(({ title }) => String(title).includes("came from files or pages"));
  const first = await promptOfNewSession();
  expect(first).toContain(fromUser);
  expect(first).not.toContain(fromTool);
  expect(await promptOfNewSession()).not.toContain(fromTool);
  expect(notices()).toHaveLength(1);
  const session = await agent.newSession();
  await agent.prompt(session, `/learning keep ${factId("f", agent.cwd, fromTool)}`);
  expect(await promptOfNewSession()).toContain(fromTool);
});
