// Half a character, and an empty text, which servers refuse in each later request of a session.
import { mkdtempSync, realpathSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { AIAgent } from "../../../agent-core/index.ts";
import { callTools, fail, type ModelServer, say, startModelServer } from "../../support/model-server/model-server.ts";

let model: ModelServer;
let agent: AIAgent;

beforeEach(async () => {
  model = await startModelServer();
  const cwd = realpathSync(mkdtempSync(join(tmpdir(), "hermes-halves-")));
  const settings = { baseUrl: model.baseUrl, model: "test-model", apiKey: "sk-test-123456" };
  agent = new AIAgent({ ...settings, cwd, home: join(cwd, ".home"), environment: {} });
});
afterEach(async () => {
  await agent.close();
  await model.stop();
});

const PICTURE = { type: "image_url", image_url: { url: "data:image/png;base64,iVBORw0KGgoAAAANa" } } as const;
const reading = (raw: string) => ({ type: "call", name: "read_file", input: {}, raw }) as const;
const bodies = () => model.requests.map(({ body }) => JSON.stringify(body));

test.each([
  ["in a call's arguments", [reading('{"path": "a\\ud83d.txt"}')], "read it"],
  ["in a prompt", [], "look at \ud83d this"],
  ["in a prompt with a picture", [], [{ type: "text" as const, text: "\udc00 look" }, PICTURE]],
])("half a character %s is replaced before a server refuses it in each request", async (_, calls, prompt) => {
  const half = /(?<!\\ud[89ab]..)\\ud[c-f]|\\ud[89ab]..(?!\\ud[c-f])/i;
  if (calls.length > 0) model.script(callTools(...calls));
  model.respondWith((body) =>
    half.test(JSON.stringify(body)) ? fail(400, "no low surrogate in string") : say("fine"),
  );
  expect((await agent.runConversation({ userMessage: prompt })).finalResponse).toBe("fine");
  expect(await agent.chat("and more")).toBe("fine");
  expect(bodies().join("")).not.toMatch(half);
  expect(bodies().join("")).toContain("\ufffd");
});

test("escapes of whole characters, and of backslashes, stay in a call's arguments", async () => {
  const raw = String.raw`{"path": "\ud83d\ude00 \\ud83d C:\\u.txt"}`;
  model.script(callTools(reading(raw)), say("fine"));
  expect(await agent.chat("read it")).toBe("fine");
  expect(bodies().at(-1)).toContain(JSON.stringify(raw).slice(1, -1));
});

test("an empty text beside a picture is left out, and the picture is sent", async () => {
  model.respondWith((body) =>
    JSON.stringify(body).includes('"text":""') ? fail(400, "empty text part") : say("fine"),
  );
  const { finalResponse } = await agent.runConversation({ userMessage: [{ type: "text", text: "" }, PICTURE] });
  expect(finalResponse).toBe("fine");
  expect(bodies()).toEqual([expect.stringContaining(PICTURE.image_url.url)]);
});
