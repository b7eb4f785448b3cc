// Files that a client reads and writes, in the manners of different editors.
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { Json } from "../support/acp-client.ts";
import { call, callTools, say } from "../support/model-server/model-server.ts";
import { lastResult, startWithModel } from "../support/start-agent.ts";

test("the client sends only the requested lines of a large file", async () => {
  const { agent, model } = await startWithModel();
  const lines = Array.from({ length: 5_200 }, (_, index) => `line ${index + 1}${" ".repeat(990)}`);
  writeFileSync(join(agent.cwd, "big.log"), `${lines.join("\n")}\n`);
  const asked: Json[] = [];
  const partOf = (text: readonly string[], { line, limit }: Json): string =>
    text.slice(Number(line) - 1, Number(line) - 1 + Number(limit)).join("\n");
  agent.on("fs/read_text_file", (params) => {
    asked.push(params);
    return { content: partOf(lines, params) };
  });
  await agent.initialize({ fs: { readTextFile: true } });
  const sessionId = await agent.newSession();
  const read = callTools(call("read_file", { path: "big.log", offset: 10, limit: 2 }));
  model.script(read, say("done"));
  await agent.prompt(sessionId, "read it");
  expect(asked).toMatchObject([{ line: 10, limit: 2 }]);
  expect(lastResult(model)).toMatch(/^10\|line 10 +\n11\|line 11 +\n/);

  const unsaved = lines.with(9, "unsaved");
  agent.on("fs/read_text_file", (params) => ({
    content: params["line"] === undefined ? unsaved.join("\n") : partOf(unsaved, params),
  }));
  model.script(read, say("done"));
  await agent.prompt(sessionId, "read it again");
  expect(lastResult(model)).toMatch(/^10\|unsaved\n11\|line 11 +\n/);
});

test("a client is asked once for a file that does not exist yet", async () => {
  const { agent, model } = await startWithModel();
  const asked: unknown[] = [];
  const error = { code: -32002, message: "no such file" };
  agent.on("fs/read_text_file", ({ path }) => {
    asked.push(path);
    throw error;
  });
  await agent.initialize({ fs: { readTextFile: true } });
  model.script(callTools(call("write_file", { path: "new.txt", content: "new\n" })), say("done"));
  await agent.prompt(await agent.newSession(), "write it");
  expect(asked.filter((path) => String(path).endsWith("new.txt"))).toHaveLength(1);
});

test("a client that answers a missing file with an empty text, and a write with null, gets its files", async () => {
  const { agent, model } = await startWithModel();
  agent.on("fs/read_text_file", ({ path }) => ({
    content: existsSync(String(path)) ? readFileSync(String(path), "utf8") : "",
  }));
  agent.on("fs/write_text_file", ({ path, content }) => {
    writeFileSync(String(path), String(content));
    return null;
  });
  const { authMethods } = await agent.initialize({ fs: { readTextFile: true, writeTextFile: true } });
  const [{ id: methodId }] = authMethods as [{ readonly id: string }];
  expect(await agent.request("authenticate", { methodId })).not.toHaveProperty("error");
  model.script(
    callTools(call("read_file", { path: "missing.txt" })),
    callTools(call("write_file", { path: "new.txt", content: "new\n" })),
    callTools(call("patch", { path: "a.txt", old_string: "two", new_string: "zwei" })),
    say("done"),
  );
  await agent.prompt(await agent.newSession(), "go");
  const results = model.requests.at(-1)?.body.messages.filter(({ role }) => role === "tool");
  expect(String(results?.[0]?.["content"])).toContain("missing.txt");
  expect(String(results?.[0]?.["content"])).not.toContain("empty");
  expect(readFileSync(join(agent.cwd, "new.txt"), "utf8")).toBe("new\n");
  expect(readFileSync(join(agent.cwd, "a.txt"), "utf8")).toBe("one\nzwei\nthree\n");
});

test("a file comes from the disk when the client's answer has no text", async () => {
  const { agent, model } = await startWithModel();
  agent.on("fs/read_text_file", () => ({ content: 5 }));
  await agent.initialize({ fs: { readTextFile: true } });
  model.script(callTools(call("read_file", { path: "a.txt" })), say("done"));
  await agent.prompt(await agent.newSession(), "read it");
  expect(lastResult(model)).toBe("1|one\n2|two\n3|three");
});
