import { mkdirSync, mkdtempSync, writeFileSync } from "node:fs";
import { homedir, tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { EditorServers } from "../../../extension/agent/editor-servers.ts";

async function read(mcpFile: unknown, setting?: unknown, files: Readonly<Record<string, unknown>> = {}) {
  const user = mkdtempSync(join(tmpdir(), "hermes-user-"));
  const globalStorage = join(user, "globalStorage", "hermes");
  mkdirSync(globalStorage, { recursive: true });
  if (mcpFile !== undefined) {
    writeFileSync(join(user, "mcp.json"), typeof mcpFile === "string" ? mcpFile : JSON.stringify(mcpFile));
  }
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(join(user, path)), { recursive: true });
    writeFileSync(join(user, path), JSON.stringify(content));
  }
  const list = new EditorServers(globalStorage);
  const servers = await list.read({
    setting,
    cwd: "/project",
    workspace: "file:///work",
    environment: { TOKEN: "t-1" },
  });
  const problems = list.takeProblems();
  expect(list.takeProblems()).toEqual([]);
  return { servers, problems };
}

test("servers of the profile's mcp.json are passed with their arguments, environment and headers", async () => {
  const file = `{
    // the user's own list
    "servers": {
      "files": { "command": "npx", "args": ["-y", "fs", "\${workspaceFolder}"], "env": { "HOME": "\${userHome}", "OFF": null } },
      "issues": { "type": "http", "url": "https://example.com/mcp", "headers": { "Authorization": "Bearer \${env:TOKEN}" } },
      "old": { "type": "sse", "url": "https://example.com/sse" },
    },
  }`;
  expect(await read(file)).toEqual({
    servers: [
      { name: "files", command: "npx", args: ["-y", "fs", "/project"], env: [{ name: "HOME", value: homedir() }] },
      {
        type: "http",
        name: "issues",
        url: "https://example.com/mcp",
        headers: [{ name: "Authorization", value: "Bearer t-1" }],
      },
      { type: "sse", name: "old", url: "https://example.com/sse", headers: [] },
    ],
    problems: [],
  });
});

test("servers of the setting are passed too; the file overrides them", async () => {
  const setting = { a: { command: "one" }, b: { command: "two" } };
  const { servers } = await read({ servers: { b: { command: "three" } } }, setting);
  expect(servers.map((server) => "command" in server && server.command)).toEqual(["one", "three"]);
  expect((await read(undefined, setting)).servers).toHaveLength(2);
  expect(await read(undefined)).toEqual({ servers: [], problems: [] });
});

test.each([
  ["an input", { command: "x", args: [`\${input:key}`] }, `only VS Code knows the value of \${input:key}`],
  ["a folder", { command: "x", cwd: "/elsewhere" }, "it sets cwd"],
  ["nothing", { type: "stdio" }, "it has neither a command nor a url"],
  ["a wrong value", { command: 5 }, "command: "],
])("a server that needs %s is left out with one line", async (_, server, reason) => {
  const { servers, problems } = await read({ servers: { bad: server, good: { command: "y" } } });
  expect(servers).toHaveLength(1);
  expect(problems).toEqual([expect.stringContaining(`MCP server bad: ${reason}`)]);
});

test("a file that is not valid gives one line", async () => {
  expect((await read("{ servers: ")).problems).toEqual([expect.stringContaining("mcp.json is not a valid list")]);
});

const own = { servers: { own: { command: "own" } } };
const stateWith = (profile: object, workspace = "file:///work") => ({
  "profiles/-1f2e/mcp.json": own,
  "globalStorage/storage.json": {
    profileAssociations: { workspaces: { [workspace]: "-1f2e" } },
    userDataProfiles: [{ name: "Work", location: "-1f2e", ...profile }],
  },
});

test.each([
  ["are those of the workspace's profile", stateWith({}), "own"],
  ["are the default ones for a profile that shares them", stateWith({ useDefaultFlags: { mcp: true } }), "all"],
  ["are the default ones for a workspace without a profile", stateWith({}, "file:///other"), "all"],
  ["are the default ones when VS Code's state is damaged", { "globalStorage/storage.json": [] }, "all"],
])("the servers %s", async (_, files, name) => {
  const { servers } = await read({ servers: { all: { command: "all" } } }, undefined, files);
  expect(servers.map((server) => server.name)).toEqual([name]);
});
