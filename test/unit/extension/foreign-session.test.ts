import type { ClientContext, McpServer } from "@zed-industries/agent-client-protocol";
import { RequestError } from "@zed-industries/agent-client-protocol";
import { expect, test } from "vitest";
import { type AgentConnection, HERMES_OFFERS, offersOf } from "../../../extension/agent/agent-connection.ts";
import {
  blocksFor,
  needsSignIn,
  optionsOf,
  placeFor,
  setOption,
  withMode,
} from "../../../extension/agent/foreign-session.ts";

const nothing = offersOf({});
const modes = {
  currentModeId: "careful",
  availableModes: [
    { id: "careful", name: "Careful" },
    { id: "bold", name: "Bold" },
  ],
};

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
    ...{ cwd: "/p", additionalDirectories: ["/q"], mcpServers: [stdio, http] },
  });
  expect(placeFor(HERMES_OFFERS, place)).toBe(place);
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

test("modes are an option where the agent has no options, and set by the method for modes", async () => {
  const sent: unknown[] = [];
  const agent = { request: async (...request: unknown[]) => void sent.push(request) } as unknown as ClientContext;
  const options = optionsOf({ modes });
  expect(options).toMatchObject([{ category: "mode", currentValue: "careful", options: [{ value: "careful" }, {}] }]);
  const set = await setOption(agent, options, { sessionId: "x:1", configId: options[0]?.id ?? "", value: "bold" });
  expect(sent).toEqual([["session/set_mode", { sessionId: "x:1", modeId: "bold" }]]);
  expect(set).toMatchObject([{ currentValue: "bold" }]);
  expect(withMode([], "bold")).toBeUndefined();
});

test("an agent with options shows those, and no modes beside them", () => {
  const own = {
    id: "model",
    name: "Model",
    category: "model",
    type: "select",
    currentValue: "a",
    options: [],
  } as const;
  expect(optionsOf({ modes, configOptions: [{ ...own, options: [] }] }).map(({ id }) => id)).toEqual(["model"]);
});

test("only another agent's authentication error asks for a sign-in", () => {
  const connection = (offers: AgentConnection["offers"]) => ({ offers }) as AgentConnection;
  expect(needsSignIn(connection(nothing), RequestError.authRequired())).toBe(true);
  expect(needsSignIn(connection(HERMES_OFFERS), RequestError.authRequired())).toBe(false);
  expect(needsSignIn(connection(nothing), new Error("no"))).toBe(false);
});
