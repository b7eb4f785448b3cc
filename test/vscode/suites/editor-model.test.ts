import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  type ClientConnection,
  methods,
  type NewSessionResponse,
  type SessionNotification,
} from "@zed-industries/agent-client-protocol";
import * as vscode from "vscode";
import { serve } from "../../../agent-core/acp/serve.ts";
import { nodeHost } from "../../../agent-core/host/node-host.ts";
import { connect } from "../../../extension/agent/connect-agent.ts";
import { EditProblems } from "../../../extension/problems/edit-problems.ts";
import { AgentTerminals } from "../../../extension/terminals/agent-terminals.ts";
import { unansweredRequests, unreviewed, workspaceFolder } from "../support/agent-side.ts";

// A model that another extension offers (test/vscode/model-provider), through VS Code's own API and the whole agent.
suite("editor model", () => {
  const updates: SessionNotification["update"][] = [];
  const home = mkdtempSync(join(tmpdir(), "hermes-editor-model-"));
  const nobody = (): void => undefined;
  const terminals = new AgentTerminals({ output: nobody, exit: nobody });
  let connection: ClientConnection;
  let sessionId: string;
  let dispose: () => Promise<void>;

  suiteSetup(async () => {
    writeFileSync(join(home, "config.yaml"), "agent: { retry_seconds: 0 }\n");
    await offered();
    const there = new TransformStream();
    const back = new TransformStream();
    const service = serve(
      { readable: there.readable, writable: back.writable },
      {
        version: "0.0.0",
        environment: { HERMES_HOME: home, HERMES_LOCAL_SERVERS: "off" },
        local: nodeHost(),
        log: nobody,
      },
    );
    dispose = service.dispose;
    connection = await connect(
      { readable: back.readable, writable: there.writable },
      {
        terminals,
        requests: unansweredRequests(),
        sessionUpdate: ({ update }) => updates.push(update),
        sessionLists: { building: nobody, importing: nobody, changed: nobody },
        jobFinished: nobody,
        panels: { setProcesses: nobody, setExtensions: nobody },
        editReview: unreviewed,
        problems: new EditProblems(),
        skillProblems: { show: () => undefined },
        learning: { changed: () => undefined },
      },
    );
    const place = { cwd: workspaceFolder(), mcpServers: [] };
    const created: NewSessionResponse = await connection.agent.request(methods.agent.session.new, place);
    sessionId = created.sessionId;
    assert.match(JSON.stringify(created.configOptions), /"currentValue":"editor:suite\/parrot"/);
  });

  suiteTeardown(async () => {
    await dispose();
    connection.close();
    terminals.dispose();
    rmSync(home, { recursive: true, force: true });
  });

  function prompt(text: string) {
    updates.length = 0;
    return connection.agent.request(methods.agent.session.prompt, { sessionId, prompt: [{ type: "text", text }] });
  }

  const answer = (): string =>
    updates
      .map((update) =>
        update.sessionUpdate === "agent_message_chunk" && update.content.type === "text" ? update.content.text : "",
      )
      .join("");

  test("it streams, calls a tool, and reads what the tool found", async () => {
    assert.deepEqual(await prompt("what is in a.txt?"), { stopReason: "end_turn" });
    assert.match(answer(), /^Reading\. I read: .*one[\s\S]*three/);
    assert.ok(updates.some((update) => update.sessionUpdate === "tool_call" && update.name === "read_file"));
  });

  test("cancel reaches the model in the middle of its answer", async () => {
    const turn = prompt("hang");
    while (!answer().includes("I hang")) await new Promise((resolve) => setImmediate(resolve));
    await connection.agent.notify(methods.agent.session.cancel, { sessionId });
    assert.deepEqual(await turn, { stopReason: "cancelled" });
  });

  test("a provider's error is one line, and the session continues", async () => {
    await assert.rejects(prompt("fail"), /The editor's model suite\/parrot failed: .*the parrot is tired/);
    assert.deepEqual(await prompt("once more"), { stopReason: "end_turn" });
  });
});

/** Resolves when the other extension's model is there. */
async function offered(): Promise<void> {
  const isThere = async (): Promise<boolean> => (await vscode.lm.selectChatModels({ vendor: "suite" })).length > 0;
  if (await isThere()) return;
  await new Promise<void>((resolve, reject) => {
    const subscription = vscode.lm.onDidChangeChatModels(() => {
      isThere().then((there) => {
        if (!there) return;
        subscription.dispose();
        resolve();
      }, reject);
    });
  });
}
