import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { editorServers } from "../../../agent-core/mcp/server-config.ts";
import { ServerConnection } from "../../../agent-core/mcp/server-connection.ts";
import { temporaryFolder } from "../../support/acp-client.ts";
import { ManualClock } from "../../support/manual-clock.ts";

const FIXTURE = join(import.meta.dirname, "../../support/mcp-fixture.mjs");

test("a server that crashes is started again after 1, 5 and 30 seconds, then it stays down until the user restarts it", async () => {
  const server = { name: "fix", command: process.execPath, args: [FIXTURE, "--mute", "--crash-at=1"], env: [] };
  const [config] = editorServers([server]).servers;
  if (config === undefined) throw new Error("no server");
  const clock = new ManualClock();
  const connection = new ServerConnection({ config, folder: temporaryFolder("hermes-mcp-"), clock });
  onTestFinished(() => connection.close());
  await connection.start();
  const user = { sample: nobody, elicit: nobody };
  const crash = (): Promise<unknown> =>
    connection.call("echo", { message: "" }, { signal: AbortSignal.timeout(5_000), user }).catch(() => undefined);
  for (const delayMs of [1_000, 5_000, 30_000]) {
    expect(connection.state).toEqual({ kind: "on" });
    await crash();
    expect(connection.state).toMatchObject({ kind: "failed", willRestart: true });
    await clock.advance(delayMs - 1);
    expect(connection.state).toMatchObject({ kind: "failed" });
    await clock.advance(1);
    await connection.started;
  }
  await crash();
  const error = "the connection ended. It ended 4 times within a minute. Type `/mcp restart fix` to start it again.";
  expect(connection.state).toEqual({ kind: "failed", error, willRestart: false });
  await expect(connection.call("echo", {}, { signal: AbortSignal.timeout(5_000), user })).rejects.toThrow(error);
  await connection.start();
  expect(connection.state).toEqual({ kind: "on" });
});

function nobody(): Promise<never> {
  return Promise.reject(new Error("nobody is here"));
}
