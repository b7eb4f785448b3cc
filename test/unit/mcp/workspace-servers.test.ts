import { mkdirSync, mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, dirname, join, sep } from "node:path";
import { expect, test } from "vitest";
import { WorkspaceServers } from "../../../agent-core/mcp/workspace-servers.ts";

function folder(files: Readonly<Record<string, unknown>>): string {
  const root = mkdtempSync(join(tmpdir(), "hermes-workspace-servers-"));
  for (const [name, content] of Object.entries(files)) write(join(root, name), content);
  return root;
}

function write(path: string, content: unknown): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, typeof content === "string" ? content : JSON.stringify(content));
}

function read(files: Readonly<Record<string, unknown>>, environment: Readonly<Record<string, string>> = {}) {
  return new WorkspaceServers([folder(files)], environment).read();
}

test("the reader reads .mcp.json and .vscode/mcp.json, with comments and trailing commas", () => {
  const { servers, problems } = read({
    ".mcp.json": { mcpServers: { db: { command: "db-server", args: ["--all"], env: { MODE: "ro" } } } },
    ".vscode/mcp.json": '{ // ours\n "servers": { "web": { "type": "http", "url": "https://mcp.example/v1", }, }, }',
  });
  expect(problems).toEqual([]);
  expect(servers.map(({ config }) => config)).toMatchObject([
    { name: "db", source: "workspace", sourceName: ".mcp.json", settings: { command: "db-server", args: ["--all"] } },
    { name: "web", source: "workspace", settings: { kind: "http", url: "https://mcp.example/v1" } },
  ]);
  expect(servers.map(({ description }) => description)).toEqual(["MODE=ro db-server --all", "https://mcp.example/v1"]);
});

test("the reader replaces the folder and variables of the environment, also with a default", () => {
  const server = { command: "${workspaceFolder}/run", args: ["${env:LEVEL}", "${REGION:-eu}"], env: { KEY: "${KEY}" } };
  const root = folder({ ".mcp.json": { mcpServers: { db: server } } });
  const [db] = new WorkspaceServers([root], { LEVEL: "3", KEY: "secret" }).read().servers;
  expect(db?.config.settings).toMatchObject({ command: `${root}/run`, args: ["3", "eu"], env: { KEY: "secret" } });
  expect(db?.description).toBe("KEY=${KEY} ${workspaceFolder}/run ${env:LEVEL} ${REGION:-eu}");
});

test.each([
  ["Windsurf", { serverUrl: "https://a.example/mcp" }, { settings: { kind: "http", url: "https://a.example/mcp" } }],
  ["Gemini CLI", { httpUrl: "https://a.example/mcp", trust: true }, { settings: { kind: "http" } }],
  [
    "opencode",
    { command: ["npx", "-y", "x"], environment: { A: "b" } },
    { settings: { command: "npx", args: ["-y", "x"], env: { A: "b" } } },
  ],
  ["Cline", { command: "x", disabled: true, autoApprove: [], timeout: 60 }, { isEnabled: false, timeoutMs: 60_000 }],
  ["a switch as text", { command: "x", disabled: "true" }, { isEnabled: false }],
  ["Copilot", { type: "local", command: "x", tools: ["*"] }, { include: undefined }],
  ["Codex", { command: "x", enabled_tools: ["a"], disabled_tools: ["b"] }, { include: ["a"], exclude: ["b"] }],
  [
    "null",
    { command: "x", args: null, env: { A: null }, url: null },
    { settings: { command: "x", args: [], env: {} } },
  ],
  ["words in one text", { command: "x", args: "-y foo" }, { settings: { args: ["-y", "foo"] } }],
  ["a whole line", { command: "npx -y foo 'a b'" }, { settings: { command: "npx", args: ["-y", "foo", "a b"] } }],
  ["blanks in a path", { command: "C:\\My Apps\\x.exe" }, { settings: { command: "C:\\My Apps\\x.exe", args: [] } }],
  ["blanks before arguments", { command: "My App", args: ["a"] }, { settings: { command: "My App", args: ["a"] } }],
  ["an empty address", { command: "x", url: "" }, { settings: { kind: "stdio" } }],
  ["another spelling of HTTP", { type: "streamableHttp", url: "https://a.example" }, { settings: { kind: "http" } }],
  ["capitals", { type: "SSE", url: "https://a.example/sse" }, { settings: { kind: "sse" } }],
  ["milliseconds", { command: "x", timeout: 600_000 }, { timeoutMs: 600_000 }],
])("a server in the words of %s is used", (_case, server, expected) => {
  const { servers, problems } = read({ ".mcp.json": { mcpServers: { server } } });
  expect(problems).toEqual([]);
  expect(servers.map(({ config }) => config)).toMatchObject([expected]);
});

test.each([
  ["an input", { command: "x", args: ["${input:token}"] }, "needs the input `input:token`"],
  [
    "a variable that is not set",
    { command: "x", env: { A: "${MISSING}" } },
    "refers to the variable MISSING, which is not set",
  ],
  [
    "a missing file of variables",
    { command: "x", envFile: ".env" },
    "cannot read its `envFile`: there is no such file",
  ],
  ["a file of variables elsewhere", { command: "x", envFile: "../.env" }, "cannot read its `envFile`"],
  ["a list of variables", { command: "x", env: ["A=b"] }, "has a wrong value: env"],
  ["an unknown variable", { command: "${command:pick}" }, "which Hermes does not know"],
  ["neither a command nor an address", { args: ["x"] }, "needs either `command` or `url`"],
  ["another kind of address", { url: "file:///etc/passwd" }, "needs either `command` or `url`"],
  ["a wrong type", { command: 3 }, "has a wrong value: command"],
  ["no object", "x", "has a wrong value"],
])("a server with %s is named and not used; the others are", (_case, bad, reason) => {
  const { servers, problems } = read({ ".mcp.json": { mcpServers: { bad, good: { command: "good" } } } });
  expect(servers.map(({ config }) => config.name)).toEqual(["good"]);
  expect(problems).toEqual([expect.stringContaining(reason)]);
  expect(problems[0]).toMatch(/^\.mcp\.json: the MCP server bad /);
});

test.each([
  ["damaged JSON", "{ half", "the file is not valid JSON"],
  ["a list in place of servers", { mcpServers: [] }, "is not an object of servers"],
  ["1 MB of text", " ".repeat(1024 ** 2 + 1), "the limit is 1,048,576"],
])("%s gives one line", (_case, content, reason) => {
  const { servers, problems } = read({ ".mcp.json": content });
  expect(servers).toEqual([]);
  expect(problems).toEqual([expect.stringContaining(reason)]);
});

test("each change of command, arguments, environment, address, headers or folder needs a new consent; a new name does not", () => {
  const hashOf = (name: string, server: unknown, root = folder({})): string | undefined => {
    write(join(root, ".mcp.json"), { mcpServers: { [name]: server } });
    return new WorkspaceServers([root], {}).read().servers[0]?.hash;
  };
  const root = folder({});
  const base = hashOf("a", { command: "x" }, root);
  expect(hashOf("b", { command: "x", timeout: 5 }, root)).toBe(base);
  const others = [
    { command: "y" },
    { command: "x", args: ["z"] },
    { command: "x", env: { A: "1" } },
    { command: "x", cwd: "d" },
  ];
  const hashes = others.map((server) => hashOf("a", server, root));
  hashes.push(
    hashOf("a", { url: "https://a.example" }, root),
    hashOf("a", { url: "https://a.example", headers: { k: "v" } }, root),
  );
  expect(new Set([base, hashOf("a", { command: "x" }), ...hashes]).size).toBe(hashes.length + 2);
});

test("a file of variables is read as VS Code reads it, and its change needs a new consent", () => {
  const server = { command: "x", env: { B: "own", C: "{env:HOME_OF_C}" }, envFile: "${workspaceFolder}/dev.env" };
  const root = folder({ ".mcp.json": { mcpServers: { a: server } }, "dev.env": "A=1\nB='two words'\n" });
  const servers = new WorkspaceServers([root], { HOME_OF_C: "c" });
  const [first] = servers.read().servers;
  expect(first?.config.settings).toMatchObject({ env: { A: "1", B: "own", C: "c" } });
  expect(first?.description).toContain("(variables of dev.env)");
  expect(first?.description).not.toContain("A=1");
  writeFileSync(join(root, "dev.env"), "A=1\nNODE_OPTIONS=--require ./evil.js\n");
  expect(servers.read().servers[0]?.hash).not.toBe(first?.hash);
});

test("a hidden character in a command is shown", () => {
  const [server] = read({ ".mcp.json": { mcpServers: { a: { command: "run\u202e", args: ["a\nb"] } } } }).servers;
  expect(server?.description).not.toContain("\u202e");
  expect(server?.description).not.toContain("\n");
});

test.each([".cursor/mcp.json", ".roo/mcp.json", ".kilocode/mcp.json", ".gemini/settings.json"])(
  "the reader reads %s, with variables of editors",
  (name) => {
    const args = ["${workspaceFolderBasename}${/}b"];
    const root = folder({ [name]: { mcpServers: { a: { command: "x", args } } } });
    const { servers, problems } = new WorkspaceServers([root], {}).read();
    expect([servers[0]?.config.settings, problems]).toMatchObject([{ args: [`${basename(root)}${sep}b`] }, []]);
  },
);

test("the first folder and .mcp.json win a name", () => {
  const first = folder({
    ".vscode/mcp.json": { servers: { a: { command: "vscode" } } },
    ".mcp.json": { mcpServers: { a: { command: "plain" } } },
  });
  const second = folder({ ".mcp.json": { mcpServers: { a: { command: "second" } } } });
  const { servers } = new WorkspaceServers([first, second], {}).read();
  expect(servers.map(({ description }) => description)).toEqual(["plain"]);
});

test("the reader reads a changed file again, and gives the same list while nothing changed", () => {
  const root = folder({});
  const workspace = new WorkspaceServers([root], {});
  expect(workspace.read().servers).toEqual([]);
  write(join(root, ".mcp.json"), { mcpServers: { a: { command: "x" } } });
  const list = workspace.read();
  expect(list.servers).toHaveLength(1);
  expect(workspace.read()).toBe(list);
});

test("a consent covers the scripts of the workspace that the command line names, and no other file", () => {
  const server = { command: "node", args: ["tools/server.js", "data.db", "../outside.js"] };
  const root = folder({ ".mcp.json": { mcpServers: { db: server } }, "tools/server.js": "1", "data.db": "1" });
  const workspace = new WorkspaceServers([root], {});
  const hash = (): string | undefined => workspace.read().servers[0]?.hash;
  const first = hash();
  write(join(root, "data.db"), "other data");
  expect(hash()).toBe(first);
  write(join(root, "tools/server.js"), "other code");
  expect(hash()).not.toBe(first);
  write(join(root, "tools/server.js"), "1");
  expect(hash()).toBe(first);
});

test.each([
  ["in the environment", { command: "x", env: { A: "$TOKEN_1" } }, { env: { A: "s3" } }],
  ["in a header", { httpUrl: "https://a.example", headers: { B: "Bearer $TOKEN_1" } }, { headers: { B: "Bearer s3" } }],
  ["within a word", { command: "x", args: ["--key=$TOKEN_1/a", "$1", "5$"] }, { args: ["--key=s3/a", "$1", "5$"] }],
  ["in braces", { command: "x", args: ["${TOKEN_1}", "${NO:-x}"] }, { args: ["s3", "x"] }],
])("a variable of Gemini CLI without braces is replaced %s, and in no other file", (_case, server, settings) => {
  const { servers, problems } = read({ ".gemini/settings.json": { mcpServers: { a: server } } }, { TOKEN_1: "s3" });
  expect([servers[0]?.config.settings, problems]).toMatchObject([settings, []]);
  const other = read({ ".mcp.json": { mcpServers: { a: { command: "x", args: ["$TOKEN_1"] } } } }, { TOKEN_1: "s3" });
  expect(other.servers[0]?.config.settings).toMatchObject({ args: ["$TOKEN_1"] });
});

const github = { mcpServers: { github: { command: "gh-mcp", env: { T: "${GITHUB_TOKEN}" } } } };
const plain = { mcpServers: { github: { command: "gh-mcp" } } };
test.each([
  ["none of three is usable", { ".mcp.json": github, ".cursor/mcp.json": github, ".roo/mcp.json": github }, 0],
  ["the first is usable", { ".mcp.json": plain, ".cursor/mcp.json": github, ".gemini/settings.json": github }, 1],
  ["the last is usable", { ".cursor/mcp.json": github, ".roo/mcp.json": plain }, 1],
  [
    "the usable one is switched off",
    { ".mcp.json": { mcpServers: { github: { command: "x", disabled: true } } }, ".roo/mcp.json": github },
    1,
  ],
])(
  "of the entries of one server %s: a problem is reported once, for the first, or not at all",
  (_case, files, usable) => {
    const { servers, problems } = read(files);
    expect(servers).toHaveLength(usable);
    expect(problems).toEqual(
      usable === 1 ? [] : [expect.stringMatching(/^\.mcp\.json: .* GITHUB_TOKEN, which is not set/)],
    );
  },
);

test.each(["", " \n", "\ufeff"])("an empty file is an empty list of servers: %j", (text) => {
  for (const name of [".mcp.json", ".vscode/mcp.json", ".gemini/settings.json"])
    expect(read({ [name]: text })).toEqual({ servers: [], problems: [] });
});

test("servers with different problems are each reported, in the order of their files", () => {
  const bad = (name: string) => ({ mcpServers: { [name]: { command: 3 } } });
  const { problems } = read({ ".mcp.json": bad("a"), ".cursor/mcp.json": "{ half", ".roo/mcp.json": bad("b") });
  expect(problems.map((line) => line.match(/server a|cursor|server b/)?.[0])).toEqual([
    "server a",
    "cursor",
    "server b",
  ]);
});
