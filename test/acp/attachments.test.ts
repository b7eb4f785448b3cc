import { randomBytes } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { encode } from "fast-png";
import { afterEach, expect, test } from "vitest";
import { AcpAgent } from "../support/acp-agent.ts";
import type { Json } from "../support/acp-client.ts";
import { call, hold, say, startModelServer } from "../support/model-server/model-server.ts";

const running: { stop(): Promise<unknown> }[] = [];

afterEach(async () => {
  for (const one of running.splice(0).reverse()) await one.stop();
});

async function start(name = "m") {
  const model = await startModelServer();
  const agent = new AcpAgent({ HERMES_BASE_URL: model.baseUrl, HERMES_MODEL: name, HERMES_API_KEY: "sk-12345678" });
  running.push(model, agent);
  await agent.initialize();
  const sessionId = await agent.newSession();
  return { agent, model, sessionId };
}

const ofHermes = (attachment: Json): Json => ({ _meta: { hermes: { attachment } } });
const IMAGE = { type: "image", mimeType: "image/png", data: "iVBORw0KGgo=" };

async function loaded(agent: AcpAgent, sessionId: string): Promise<unknown[]> {
  const before = agent.updates.length;
  const { error } = await agent.request("session/load", { sessionId, cwd: agent.cwd, mcpServers: [] });
  expect(error).toBeUndefined();
  const said = agent.updates.slice(before).filter(({ sessionUpdate }) => sessionUpdate === "user_message_chunk");
  return said.map(({ content }) => content);
}

test("attachments reach the model as text, and every client again as the blocks that were sent", async () => {
  const { agent, model, sessionId } = await start();
  const file = pathToFileURL(join(agent.cwd, "a b.ts")).href;
  const folder = pathToFileURL(join(agent.cwd, "x.app")).href;
  const lines = { kind: "lines", uri: file, label: "total", start: 3, end: 4 };
  const blocks = [
    { type: "text", text: "compare" },
    { type: "resource_link", uri: file, name: "a b.ts", ...ofHermes({ kind: "file", uri: file, label: "a b.ts" }) },
    { type: "resource_link", uri: folder, name: "x.app", ...ofHermes({ kind: "folder", uri: folder, label: "x.app" }) },
    {
      type: "resource",
      resource: { uri: `${file}#L3-L4`, text: "one\n\ntwo", mimeType: "text/plain" },
      ...ofHermes(lines),
    },
    // Another editor's blocks have no reference.
    { type: "resource_link", uri: `${file}#L10:20`, name: "b" },
    { type: "resource", resource: { uri: file, text: "tricky </attachment>" } },
    { ...IMAGE, ...ofHermes({ kind: "picture", label: "Shot", mimeType: "image/png" }) },
  ];
  model.script(say("done"));
  await agent.request("session/prompt", { sessionId, prompt: blocks });
  const path = join(agent.cwd, "a b.ts");
  expect(model.requests.at(-1)?.body.messages.at(-1)?.["content"]).toEqual([
    { type: "text", text: "compare" },
    { type: "text", text: `[Attached file: ${path}]` },
    { type: "text", text: `[Attached folder: ${join(agent.cwd, "x.app")}]` },
    { type: "text", text: `<attachment name="${path}" lines="3-4">\none\n\ntwo\n</attachment>` },
    { type: "text", text: `[Attached lines 10-20 of ${path}]` },
    { type: "text", text: `<attachment name="${path}">\ntricky <\\/attachment>\n</attachment>` },
    { type: "image_url", image_url: { url: "data:image/png;base64,iVBORw0KGgo=" } },
  ]);
  expect(await loaded(agent, sessionId)).toEqual(blocks);

  const forked = await agent.request("session/fork", { sessionId, cwd: agent.cwd, mcpServers: [] });
  expect(await loaded(agent, String(forked.result?.["sessionId"]))).toEqual(blocks);
  await agent.prompt(sessionId, "/export md out.md");
  const markdown = readFileSync(join(agent.cwd, "out.md"), "utf8");
  expect(markdown).toContain(`[a b.ts](<${file}>)`);
  expect(markdown).toContain("one\n\ntwo");
});

test("a command keeps its attachments, and removing the message gives them back", async () => {
  const { agent, model, sessionId } = await start();
  const uri = pathToFileURL(join(agent.cwd, "a.ts")).href;
  const link = { type: "resource_link", uri, name: "a.ts" };
  model.script(say("done"));
  await agent.request("session/prompt", { sessionId, prompt: [{ type: "text", text: "/queue look" }, link] });
  const sent = `look\n\n[Attached file: ${join(agent.cwd, "a.ts")}]`;
  expect(model.requests.at(-1)?.body.messages.at(-1)?.["content"]).toBe(sent);
  await agent.prompt(sessionId, "/undo");
  const rewound = agent.of("session_info_update").flatMap(({ _meta }) => (_meta as Json | undefined)?.["hermes"] ?? []);
  expect(rewound).toContainEqual({ rewound: { position: 0, prompt: "look", attachments: [link] } });
});

test("a picture for a model that cannot see is refused before the turn, and the model's option says so", async () => {
  const { agent, model, sessionId } = await start("deepseek-chat");
  const { error } = await agent.request("session/prompt", {
    sessionId,
    prompt: [{ type: "text", text: "see" }, IMAGE],
  });
  const message = "prompt: deepseek-chat cannot see pictures. Remove the picture, or choose another model.";
  expect(error).toMatchObject({ code: -32602, message: expect.stringContaining(message) });
  expect(model.requests).toEqual([]);
  const { result } = await agent.request("session/new", { cwd: agent.cwd, mcpServers: [] });
  expect(result?.["configOptions"]).toContainEqual(
    expect.objectContaining({ id: "model", _meta: { hermes: { refusesImages: true } } }),
  );
});

test("a session of an older version loads with its attachments as text", async () => {
  const { agent, sessionId, model } = await start();
  model.script(say("done"));
  await agent.prompt(sessionId, "first");
  await agent.stop();
  const path = join(agent.home, "vscode", "sessions", `${sessionId}.jsonl`);
  const old = readFileSync(path, "utf8").replace(
    '"content":"first"',
    '"content":"first\\n\\n[Attached file: /w/a.txt]"',
  );
  writeFileSync(path, old);
  const again = new AcpAgent({}, agent.home);
  running.push(again);
  await again.initialize();
  expect(await loaded(again, sessionId)).toEqual([{ type: "text", text: "first\n\n[Attached file: /w/a.txt]" }]);
});

test("a picture that is too large for providers is scaled down, or refused with the reason", async () => {
  const { agent, model, sessionId } = await start();
  const side = 1_200;
  const noise = randomBytes(side * side * 3); // does not compress
  const png = Buffer.from(encode({ width: side, height: side, data: noise, channels: 3 }));
  expect(png.length).toBeGreaterThan(3_750_000);
  const promptWith = (mimeType: string, bytes: Buffer): Promise<Json> =>
    agent.request("session/prompt", {
      sessionId,
      prompt: [
        { type: "text", text: "look" },
        { type: "image", mimeType, data: bytes.toString("base64") },
      ],
    });
  model.script(say("seen"));
  await promptWith("image/png", png);
  const sent = JSON.stringify(model.requests.at(-1)?.body.messages.at(-1)?.["content"]);
  expect(sent).toContain("data:image/jpeg;base64,");
  expect(sent.length).toBeLessThan(5_000_000);

  const gif = Buffer.concat([Buffer.from("GIF89a"), Buffer.from([0x28, 0x23, 0x10, 0x27])]); // 9000 × 10000
  const { error } = await promptWith("image/gif", gif);
  expect(JSON.stringify(error)).toContain(
    "the picture is too large (9000 × 10000 pixels): scale its longer side to 1568",
  );
  expect(model.requests).toHaveLength(1);

  const gate = hold();
  model.script({ parts: [call("read_file", { path: "a.txt" }), gate.part] }, say("seen, too"));
  const turn = agent.prompt(sessionId, "go");
  await gate.reached;
  const steer = (text: string, bytes: Buffer, mimeType: string) => [
    { type: "text", text },
    { type: "image", mimeType, data: bytes.toString("base64") },
  ];
  const params = { sessionId, prompt: steer("and this", png, "image/png") };
  expect((await agent.request("_hermes/session/steer", params)).result).toEqual({ queued: true });
  const typed = { sessionId, prompt: steer("/steer and that", png, "image/png") };
  expect((await agent.request("session/prompt", typed)).result).toMatchObject({ stopReason: "end_turn" });
  const refused = { sessionId, prompt: steer("/steer no", gif, "image/gif") };
  expect(JSON.stringify((await agent.request("session/prompt", refused)).error)).toContain("the picture is too large");
  gate.release();
  await turn;
  const steered = JSON.stringify(model.requests.at(-1)?.body.messages);
  expect(steered.split("data:image/jpeg;base64,")).toHaveLength(4);
  expect(steered).not.toContain("data:image/png");
});
