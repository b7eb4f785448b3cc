import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { AIAgent } from "../../../agent-core/agent/ai-agent.ts";
import type { ApprovalMode } from "../../../agent-core/approval/decision.ts";
import { say, startModelServer } from "../../support/model-server/model-server.ts";

test("in plan mode each prompt asks for a plan; later requests and the stored messages do not", async () => {
  const model = await startModelServer();
  try {
    const folder = mkdtempSync(join(tmpdir(), "hermes-plan-"));
    let mode: ApprovalMode = "plan";
    const agent = new AIAgent({
      home: folder,
      cwd: folder,
      environment: {},
      approvalMode: () => mode,
      baseUrl: model.baseUrl,
      model: "m",
      apiKey: "sk-12345678",
      provider: "custom",
    });
    const sent = () => JSON.stringify(model.requests.at(-1)?.body.messages);
    model.script(say("1. Mend it."), say("Mended."));
    await agent.chat("mend it");
    expect(sent()).toContain("mend it\\n\\n[Plan mode is on:");
    expect(sent()).toContain("end with a plan");
    mode = "code";
    await agent.chat("do it");
    expect(sent()).not.toContain("Plan mode");
    expect(JSON.stringify(agent.messages)).not.toContain("Plan mode");
  } finally {
    await model.stop();
  }
});
