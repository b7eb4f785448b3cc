import type { AgentContext } from "@zed-industries/agent-client-protocol";
import { expect, test } from "vitest";
import { clientRunner } from "../../../agent-core/acp/acp-host.ts";
import type { Launch } from "../../../agent-core/host/terminals/backend.ts";

const REST = { input: "none", hasPty: false, outputFile: "/tmp/none", onOutput: undefined } as const;

test("a connection that closes while a command runs fails the command, and nothing else", async () => {
  const wait = Promise.withResolvers<never>();
  const answers: Readonly<Record<string, unknown>> = { "terminal/create": Promise.resolve({ terminalId: "t" }) };
  const client = { request: (method: string) => answers[method] ?? wait.promise } as unknown as AgentContext;
  const launch: Launch = { program: "sleep", args: ["9"], cwd: "/", env: {}, title: "sleep", ...REST };
  const unhandled: unknown[] = [];
  const note = (reason: unknown) => unhandled.push(reason);
  process.on("unhandledRejection", note);
  try {
    const runner = clientRunner({ client, sessionId: "s", isOurs: true });
    const started = await runner.start(launch, new AbortController().signal);
    wait.reject(new Error("ACP connection closed"));
    await expect(started.exit).rejects.toThrow("ACP connection closed");
    await new Promise((resolve) => setImmediate(resolve)); // Node reports unhandled rejections by then
    expect(unhandled).toEqual([]);
  } finally {
    process.off("unhandledRejection", note);
  }
});
