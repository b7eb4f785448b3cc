// Learning over the protocol: its state and its switches.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { AcpAgent } from "../support/acp-agent.ts";

test("a client reads the state, and switches a loop off in config.yaml", async () => {
  const agent = new AcpAgent({});
  await agent.initialize();
  const { result } = await agent.request("_hermes/learning/state", {});
  expect(result).toMatchObject({
    switches: { enabled: true, consolidation: true, auto_tune: false },
    budget: { tokens: 0, maxTokens: 200_000 },
    items: [],
  });
  await agent.request("_hermes/learning/switch", { name: "consolidation", on: false });
  expect(readFileSync(join(agent.home, "config.yaml"), "utf8")).toBe("learning:\n  consolidation: false\n");
  expect((await agent.request("_hermes/learning/state", {})).result).toMatchObject({
    switches: { consolidation: false },
    loops: [{ loop: "consolidation", on: false }, { loop: "distillation", on: true }, { loop: "report" }],
  });
  expect((await agent.request("_hermes/learning/run", {})).result).toEqual({
    message: "Everything that was due is done.",
  });
  await agent.stop();
});
