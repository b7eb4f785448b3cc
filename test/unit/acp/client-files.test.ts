import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { AgentContext } from "@zed-industries/agent-client-protocol";
import { expect, test } from "vitest";
import { clientFiles } from "../../../agent-core/acp/client-files.ts";
import { nodeFiles } from "../../../agent-core/host/node-files.ts";
import { toolBench } from "../../support/tool-context.ts";

const MARK = "\ufeff";
const withoutMark = (text: string): string => text.replace(MARK, "");

type Client = { readonly read: (text: string) => string; readonly write: (content: string) => string };

test.each<[string, Client]>([
  ["gives it as a part of the text", { read: (text) => text, write: (content) => content }],
  ["keeps it to itself", { read: withoutMark, write: (content) => MARK + content }],
  ["drops it", { read: withoutMark, write: (content) => content }],
])("a byte order mark survives an edit through a client that %s", async (_client, { read, write }) => {
  const path = join(toolBench().folder, "a.txt");
  writeFileSync(path, `${MARK}one\n`);
  const request = (method: string, params: { readonly content: string }): Promise<object> => {
    if (method === "fs/read_text_file") return Promise.resolve({ content: read(readFileSync(path, "utf8")) });
    writeFileSync(path, write(params.content));
    return Promise.resolve({});
  };
  const files = clientFiles({
    ...{ client: { request } as unknown as AgentContext, sessionId: "s", roots: [join(path, "..")], disk: nodeFiles() },
    ...{ canRead: true, canWrite: true, givesUnsaved: false, checksExpected: false, movesFiles: false, reverts: false },
  });
  const { signal } = new AbortController();
  expect(await files.readText(path, signal)).toMatchObject({ ok: true, text: "one\n" });
  expect(await files.guardedWrite({ path, expected: "one\n", after: "two\n", purpose: "edit" }, signal)).toMatchObject({
    ok: true,
  });
  expect(readFileSync(path, "utf8")).toBe(`${MARK}two\n`);
  expect(await files.readText(path, signal)).toMatchObject({ ok: true, text: "two\n" });
});
