/** A client on the protocol's library of 2025, as older editors ship it. */
import { mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ndJsonStream } from "@zed-industries/agent-client-protocol";
import * as older from "acp-sdk-0.4";
import { expect, onTestFinished, test, vi } from "vitest";
import { serve } from "../../agent-core/acp/serve.ts";
import { nodeHost } from "../../agent-core/host/node-host.ts";

/** A connected client that allows everything, and its folder. Updates and requests arrive parsed by its own schemas. */
function connect(): {
  readonly client: older.ClientSideConnection;
  readonly cwd: string;
  readonly updates: older.SessionNotification["update"][];
  readonly asked: older.RequestPermissionRequest[];
} {
  const [home, cwd] = [mkdtempSync(join(tmpdir(), "hermes-home-")), mkdtempSync(join(tmpdir(), "hermes-older-"))];
  writeFileSync(join(cwd, "a.txt"), "one\ntwo\n");
  const [toAgent, toClient] = [new TransformStream<Uint8Array>(), new TransformStream<Uint8Array>()];
  const environment = { PATH: process.env["PATH"], HERMES_HOME: home, HERMES_LOCAL_SERVERS: "off" };
  const stream = ndJsonStream(toClient.writable, toAgent.readable);
  const { dispose } = serve(stream, { version: "0.0.0-test", environment, local: nodeHost(), log: () => undefined });
  onTestFinished(dispose);
  const updates: older.SessionNotification["update"][] = [];
  const asked: older.RequestPermissionRequest[] = [];
  const handlers: older.Client = {
    async sessionUpdate({ update }) {
      updates.push(update);
    },
    async requestPermission(request) {
      asked.push(request);
      const allowed = request.options.find(({ kind }) => kind === "allow_once");
      return { outcome: { outcome: "selected", optionId: allowed?.optionId ?? "" } };
    },
  };
  const client = new older.ClientSideConnection(
    () => handlers,
    older.ndJsonStream(toAgent.writable, toClient.readable),
  );
  return { client, cwd, updates, asked };
}

test("a client on SDK 0.4 completes a prompt with an edit and an approved command, and loads the session", async () => {
  const logged = vi.spyOn(console, "error").mockImplementation(() => undefined);
  onTestFinished(() => logged.mockRestore());
  const { client, cwd, updates, asked } = connect();
  const { protocolVersion } = await client.initialize({ protocolVersion: 1, clientCapabilities: {} });
  expect(protocolVersion).toBe(1);
  const { sessionId } = await client.newSession({ cwd, mcpServers: [] });
  const text = "replace two with TWO in a.txt then run rm a.txt";
  const { stopReason } = await client.prompt({ sessionId, prompt: [{ type: "text", text }] });
  expect(stopReason).toBe("end_turn");
  expect(asked).toMatchObject([{ toolCall: { title: "rm a.txt" } }]);
  expect(() => readFileSync(join(cwd, "a.txt"))).toThrow("ENOENT");
  const calls = updates.filter(({ sessionUpdate }) => sessionUpdate === "tool_call");
  expect(calls).toContainEqual(expect.objectContaining({ title: "Edit a.txt", kind: "edit", status: "pending" }));

  updates.length = 0;
  await client.loadSession({ sessionId, cwd, mcpServers: [] });
  expect(updates).toContainEqual(
    expect.objectContaining({ title: "Edit a.txt", content: [expect.objectContaining({ type: "diff" })] }),
  );
  // The client logs only the updates that its schema lacks.
  const kinds = logged.mock.calls.map(([, message]) => String(message?.params?.update?.sessionUpdate));
  expect(new Set(kinds)).toEqual(new Set(["session_info_update", "usage_update"]));
});
