import type { McpServer } from "@zed-industries/agent-client-protocol";
import { RequestError } from "@zed-industries/agent-client-protocol";
import { expect, test } from "vitest";
import {
  type AgentConnection,
  blocksFor,
  HERMES_OFFERS,
  needsSignIn,
  offersOf,
  placeFor,
} from "../../../extension/agent/agent-connection.ts";

const nothing = offersOf({});

test("an agent without capabilities offers nothing but a conversation", () => {
  const offered = Object.entries({ ...nothing, ...nothing.mcp }).filter(([name, value]) => name !== "mcp" && value);
  expect(offered).toEqual([]);
});

test("a session's parameters have only what the agent takes", () => {
  const stdio = { name: "a", command: "a", args: [], env: [] };
  const http = { type: "http", name: "b", url: "http://127.0.0.1", headers: [] } satisfies McpServer;
  const place = { cwd: "/p", additionalDirectories: ["/q"], mcpServers: [stdio, http], _meta: { hermes: {} } };
  expect(placeFor(nothing, place)).toEqual({ cwd: "/p", mcpServers: [stdio] });
  expect(placeFor({ ...nothing, folders: true, mcp: { http: true, sse: false } }, place)).toEqual({
    cwd: "/p",
    additionalDirectories: ["/q"],
    mcpServers: [stdio, http],
  });
  expect(placeFor(HERMES_OFFERS, place)).toBe(place);
  expect(placeFor({ ...nothing, folders: true, remoteCwd: "/srv" }, place)).toEqual({ cwd: "/srv", mcpServers: [] });
});

test("embedded text becomes plain text, and a picture a line, for an agent that takes neither", () => {
  const resource = { type: "resource", resource: { uri: "file:///a.ts#L1", text: "code" }, _meta: {} } as const;
  const image = { type: "image", mimeType: "image/png", data: "AA==" } as const;
  const link = { type: "resource_link", uri: "file:///a.ts", name: "a.ts", _meta: { hermes: {} } } as const;
  expect(blocksFor(nothing, [resource, image, link])).toEqual([
    { type: "text", text: "file:///a.ts#L1:\ncode" },
    { type: "text", text: "[A picture is left out: this agent takes none.]" },
    { type: "resource_link", uri: "file:///a.ts", name: "a.ts" },
  ]);
  expect(blocksFor({ ...nothing, images: true, embeddedText: true }, [image])).toEqual([image]);
});

test("only another agent's authentication error asks for a sign-in", () => {
  const connection = (offers: AgentConnection["offers"]) => ({ offers }) as AgentConnection;
  expect(needsSignIn(connection(nothing), RequestError.authRequired())).toBe(true);
  expect(needsSignIn(connection(HERMES_OFFERS), RequestError.authRequired())).toBe(false);
  expect(needsSignIn(connection(nothing), new Error("no"))).toBe(false);
});
