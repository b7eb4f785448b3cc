import { pathToFileURL } from "node:url";
import { expect, test } from "vitest";
import { plainParams } from "../../../scripts/plain-requests.ts";

const { zInitializeRequest, zNewSessionRequest, zPromptRequest } = await import(
  pathToFileURL("node_modules/@zed-industries/agent-client-protocol/dist/v1/schema/zod.gen.js").href
);

test.each([
  ["initialize", zInitializeRequest, { protocolVersion: 1 }],
  ["initialize", zInitializeRequest, { protocolVersion: 1, clientCapabilities: {} }],
  [
    "initialize",
    zInitializeRequest,
    {
      protocolVersion: 1,
      clientInfo: { name: "zed", title: "Zed", version: "1" },
      clientCapabilities: {
        fs: { readTextFile: true },
        terminal: true,
        session: { notices: {}, configOptions: { boolean: {} } },
        elicitation: { form: {} },
        _meta: { hermes: { tail: true } },
      },
    },
  ],
  ["session/new", zNewSessionRequest, { cwd: "/a", mcpServers: [] }],
  ["session/new", zNewSessionRequest, { cwd: "/a", additionalDirectories: ["/b"], mcpServers: [], _meta: { a: 1 } }],
  ["session/prompt", zPromptRequest, { sessionId: "1", prompt: [{ type: "text", text: "go" }] }],
])("a plain %s is read as its schema reads it (%#)", (method, schema, params) => {
  expect(plainParams(method, params)).toEqual(schema.parse(params));
});

test.each([
  ["initialize", { protocolVersion: "1" }],
  ["initialize", { clientCapabilities: {} }],
  ["initialize", { protocolVersion: 1, clientCapabilities: { fs: { readTextFile: "yes" } } }],
  ["initialize", { protocolVersion: 1, clientInfo: { title: "no name" } }],
  ["session/new", { cwd: 5 }],
  ["session/new", { mcpServers: [] }],
  ["session/new", { cwd: "/a" }],
  ["session/new", { cwd: "/a", mcpServers: [{ name: "server", command: "run", args: [], env: [] }] }],
  ["session/new", { cwd: "/a", mcpServers: null }],
  ["session/prompt", { sessionId: "1", prompt: [{ type: "text" }] }],
  ["session/prompt", { sessionId: "1", prompt: [{ type: "image", data: "", mimeType: "image/png" }] }],
  ["session/prompt", { sessionId: "1", prompt: [{ type: "text", text: "go", annotations: {} }] }],
  ["session/prompt", undefined],
  ["session/load", { sessionId: "1", cwd: "/a", mcpServers: [] }],
])("any other %s is left to the library (%#)", (method, params) => {
  expect(plainParams(method, params)).toBeUndefined();
});
