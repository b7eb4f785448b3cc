import type { ClientContext } from "@zed-industries/agent-client-protocol";
import { expect, test } from "vitest";
import { SessionOptions } from "../../../../extension/chat/session-options.ts";

const modes = {
  currentModeId: "careful",
  availableModes: [
    { id: "careful", name: "Careful" },
    { id: "bold", name: "Bold" },
  ],
};

test("modes are an option where the agent has no options, and set by the method for modes", async () => {
  const sent: unknown[] = [];
  const agent = { request: async (...request: unknown[]) => void sent.push(request) } as unknown as ClientContext;
  const options = new SessionOptions();
  options.open({ modes });
  const mode = options.find("mode");
  expect(mode).toMatchObject({ currentName: "Careful", choices: [{ value: "careful" }, { value: "bold" }] });
  await options.set(agent, { sessionId: "x:1", configId: mode?.id ?? "", value: "bold" });
  expect(sent).toEqual([["session/set_mode", { sessionId: "x:1", modeId: "bold" }]]);
  expect(options.find("mode")?.currentName).toBe("Bold");
  expect(new SessionOptions().modeChanged("bold")).toBe(false);
});

test("an agent with options shows those, and no modes beside them", () => {
  const own = { id: "model", name: "Model", category: "model", type: "select", currentValue: "a" } as const;
  const options = new SessionOptions();
  options.open({ modes, configOptions: [{ ...own, options: [] }] });
  expect(options.all.map(({ id }) => id)).toEqual(["model"]);
});
