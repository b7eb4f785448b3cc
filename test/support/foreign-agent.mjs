// An agent that is not Hermes, for the tests: a program over stdio, written with the SDK. Its prompts say what it does.
// Environment: FOREIGN_VERSION answers with another version of the protocol, FOREIGN_SIGN_IN asks for a sign-in first,
// FOREIGN_GREETING begins its answers.
import { appendFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Readable, Writable } from "node:stream";
import { agent, methods, ndJsonStream, RequestError } from "@zed-industries/agent-client-protocol";

const folders = new Map();
let isSignedIn = process.env["FOREIGN_SIGN_IN"] === undefined;
let count = 0;
const greeting = process.env["FOREIGN_GREETING"] ?? "you said";

const modes = (currentModeId = "careful") => ({
  currentModeId,
  availableModes: [
    { id: "careful", name: "Careful" },
    { id: "bold", name: "Bold" },
  ],
});

/** The agent's work for a prompt, by the prompt's first words. */
const deeds = {
  async "write through the editor"({ client, sessionId, cwd }) {
    const path = join(cwd, "a.txt");
    const { content } = await client.request(methods.client.fs.readTextFile, { sessionId, path });
    await client.request(methods.client.fs.writeTextFile, { sessionId, path, content: content.replace("two", "TWO") });
    return "wrote a.txt";
  },
  async "write on the disk"({ client, sessionId, cwd }) {
    appendFileSync(join(cwd, "a.txt"), "four\n");
    writeFileSync(join(cwd, "new.txt"), "fresh\n");
    rmSync(join(cwd, "old.txt"), { force: true });
    const update = { sessionUpdate: "tool_call", toolCallId: "1", title: "Edit", kind: "edit", status: "completed" };
    await client.notify(methods.client.session.update, { sessionId, update });
    return "wrote on the disk";
  },
  async ask({ client, sessionId }) {
    const toolCall = { toolCallId: "2", title: "Deploy", kind: "execute", rawInput: { command: "deploy" } };
    const options = [
      { optionId: "yes", name: "Yes", kind: "allow_once" },
      { optionId: "no", name: "No", kind: "reject_once" },
    ];
    const answer = await client.request(methods.client.session.requestPermission, { sessionId, toolCall, options });
    return `you said ${JSON.stringify(answer.outcome)}`;
  },
  crash() {
    process.stderr.write("no more disk\n");
    process.exit(3);
  },
};

const app = agent({ name: "foreign" });
app.onRequest(methods.agent.initialize, () => ({
  protocolVersion: Number(process.env["FOREIGN_VERSION"] ?? 1),
  agentInfo: { name: "foreign", version: "1.0.0" },
  agentCapabilities: { loadSession: true, sessionCapabilities: { list: {} } },
  authMethods: isSignedIn ? [] : [{ id: "browser", name: "Sign in with the browser" }],
}));
app.onRequest(methods.agent.authenticate, () => {
  isSignedIn = true;
  return {};
});
app.onRequest(methods.agent.session.new, ({ params: { cwd } }) => {
  if (!isSignedIn) throw RequestError.authRequired();
  count += 1;
  const sessionId = `session-${count}`;
  folders.set(sessionId, cwd);
  return { sessionId, modes: modes() };
});
app.onRequest(methods.agent.session.load, async ({ params: { sessionId, cwd }, client }) => {
  folders.set(sessionId, cwd);
  await say(client, sessionId, "as we said");
  return { modes: modes("bold") };
});
app.onRequest(methods.agent.session.list, () => ({
  sessions: [...folders].map(([sessionId, cwd]) => ({ sessionId, cwd, title: `Foreign ${sessionId}` })),
}));
app.onRequest(methods.agent.session.setMode, async ({ params: { sessionId, modeId }, client }) => {
  const update = { sessionUpdate: "current_mode_update", currentModeId: modeId };
  await client.notify(methods.client.session.update, { sessionId, update });
  return {};
});
app.onRequest(methods.agent.session.prompt, async ({ params: { sessionId, prompt }, client }) => {
  const text = prompt.map((block) => block.text ?? `[${block.type}]`).join(" ");
  const [, deed] = Object.entries(deeds).find(([words]) => text.startsWith(words)) ?? [];
  const cwd = folders.get(sessionId);
  await say(client, sessionId, deed === undefined ? `${greeting}: ${text}` : await deed({ client, sessionId, cwd }));
  return { stopReason: "end_turn" };
});

function say(client, sessionId, text) {
  const update = { sessionUpdate: "agent_message_chunk", content: { type: "text", text } };
  return client.notify(methods.client.session.update, { sessionId, update });
}

app.connect(ndJsonStream(Writable.toWeb(process.stdout), Readable.toWeb(process.stdin)));
