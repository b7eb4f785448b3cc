import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import type { ExtensionSession } from "../../../agent-core/agent/extensions.ts";
import { McpExtension } from "../../../agent-core/mcp/mcp-extension.ts";
import type { OpenPage } from "../../../agent-core/mcp/pending-sign-ins.ts";
import { editorServers, type ServerConfig } from "../../../agent-core/mcp/server-config.ts";
import { temporaryFolder } from "../../support/acp-client.ts";
import { type Issuer, startIssuer } from "../../support/oauth-issuer.ts";
import { toolBench } from "../../support/tool-context.ts";

const FIXTURE = join(import.meta.dirname, "../../support/mcp-fixture.mjs");
const never = new AbortController().signal;

type Circumstances = {
  readonly cwd?: string;
  readonly home?: string;
  readonly servers?: readonly ServerConfig[];
  readonly trusted?: () => boolean;
  readonly openPage?: OpenPage;
  readonly isBrief?: boolean;
};

const opened: McpExtension[] = [];
let issuer: Issuer | undefined;

afterEach(async () => {
  await Promise.all(opened.splice(0).map((extension) => extension.dispose()));
  await issuer?.close();
  issuer = undefined;
});

async function open(circumstances: Circumstances = {}) {
  const { cwd = temporaryFolder("hermes-mcp-"), home = temporaryFolder("hermes-mcp-home-") } = circumstances;
  const { servers = [], trusted = () => true, openPage = async () => "unavailable" as const } = circumstances;
  const { isBrief = false } = circumstances;
  const lines: string[] = [];
  const extension = new McpExtension({
    servers,
    problems: [],
    cwd,
    otherFolders: [],
    trusted,
    home,
    environment: {},
    openPage,
    isListed: false,
    isBrief,
    onDefect: (line) => lines.push(line),
  });
  opened.push(extension);
  extension.begin({
    sessionId: "s",
    cwd,
    status: ({ message }: { readonly message: string }) => lines.push(message),
  } as unknown as ExtensionSession);
  await extension.ready;
  const command = (argument: string): Promise<unknown> =>
    Promise.resolve(
      extension
        .commands()
        .find(({ name }) => name === "mcp")
        ?.run(argument, never),
    );
  const toolNames = (): readonly string[] => extension.tools().map(({ name }) => name);
  const item = () => extension.items()[0];
  return { extension, cwd, home, lines, command, toolNames, item };
}

/** Makes the fixture a server of the workspace. It writes `log` when it starts. */
function writeServers(cwd: string, args: readonly string[] = []): string {
  const log = join(cwd, "log");
  const server = { command: process.execPath, args: [FIXTURE, `--log=${log}`, ...args] };
  writeFileSync(join(cwd, ".mcp.json"), JSON.stringify({ mcpServers: { fix: server } }));
  return log;
}

test("without servers nothing is loaded and nothing is waited for; /mcp says where to add them", async () => {
  const { extension, command, toolNames } = await open();
  expect(extension.ready).toBeUndefined();
  expect(toolNames()).toEqual([]);
  expect(await command("")).toContain("There are no MCP servers.");
});

test("a workspace's server starts only after consent, which lasts for later sessions", async () => {
  const cwd = temporaryFolder("hermes-mcp-");
  const log = writeServers(cwd);
  const first = await open({ cwd });
  expect(first.lines).toEqual([
    "The MCP server of this workspace waits for your consent: fix. `/mcp` shows the command, `/mcp allow NAME` starts it.",
  ]);
  expect(first.toolNames()).toEqual([]);
  expect(first.item()).toMatchObject({ state: "needs-consent", source: ".mcp.json", actions: ["allow", "disable"] });
  expect(first.item()?.detail).toContain(`--log=${log}`);
  expect(existsSync(log)).toBe(false);
  expect(await first.command("allow fix")).toMatch(/^fix: on, \d+ tools\./);
  expect(first.toolNames()).toContain("mcp__fix__echo");
  const later = await open({ cwd, home: first.home });
  expect(later.lines).toEqual([]);
  expect(later.toolNames()).toContain("mcp__fix__echo");
});

test.each([true, false])(
  "a server that fails is named in each session, with each prompt a session once: %s",
  async (isBrief) => {
    const { servers } = editorServers([{ name: "gone", command: "no-such-program", args: [], env: [] }]);
    const [cwd, home] = [temporaryFolder("hermes-mcp-"), temporaryFolder("hermes-mcp-home-")];
    const stored = () =>
      readdirSync(home, { recursive: true, encoding: "utf8" }).some((path) => path.endsWith("switches.json"));
    const first = await open({ servers, cwd, home, isBrief });
    const named = (lines: readonly string[]) => lines.filter((line) => line.startsWith("The MCP server gone: ")).length;
    await expect.poll(() => named(first.lines)).toBe(1);
    if (isBrief) await expect.poll(stored).toBe(true);
    await first.extension.dispose();
    const second = await open({ servers, cwd, home, isBrief });
    await expect.poll(() => second.item()?.state).toBe("failed");
    await expect.poll(() => named(second.lines)).toBe(isBrief ? 0 : 1);
  },
);

test("switching a workspace's server off ends its consent, in other windows too", async () => {
  const first = await open({ cwd: withServer() });
  await first.command("allow fix");
  const other = await open({ cwd: first.cwd, home: first.home });
  expect(other.toolNames()).toContain("mcp__fix__echo");
  expect(await first.command("disable fix")).toBe("fix is off.");
  expect(first.item()).toMatchObject({ state: "off", actions: ["allow"] });
  expect(other.toolNames()).toEqual([]);
  await first.command("allow fix");
  expect(first.toolNames()).toContain("mcp__fix__echo");
});

test("a changed command ends the server and asks again", async () => {
  const { cwd, lines, command, toolNames, item } = await open({ cwd: withServer() });
  await command("allow fix");
  expect(toolNames()).toContain("mcp__fix__echo");
  writeServers(cwd, ["--other"]);
  expect(toolNames()).toEqual([]);
  expect(item()).toMatchObject({ state: "needs-consent" });
  expect(lines.filter((line) => line.includes("waits for your consent"))).toHaveLength(2);
});

function withServer(): string {
  const cwd = temporaryFolder("hermes-mcp-");
  writeServers(cwd);
  return cwd;
}

test("an untrusted workspace's servers are not read, started or offered, until the user trusts it", async () => {
  const cwd = temporaryFolder("hermes-mcp-");
  const log = writeServers(cwd);
  const home = temporaryFolder("hermes-mcp-home-");
  const trusting = await open({ cwd, home });
  await trusting.command("allow fix");
  await trusting.extension.dispose();
  writeFileSync(log, "");
  let isTrusted = false;
  const { extension, lines, command, toolNames } = await open({ cwd, home, trusted: () => isTrusted });
  expect([toolNames(), extension.items(), lines]).toEqual([[], [], []]);
  expect(await command("")).toContain("There are no MCP servers.");
  expect(readFileSync(log, "utf8")).toBe("");
  isTrusted = true;
  expect(await command("list --wait")).toContain("**fix** (.mcp.json): on");
  expect(toolNames()).toContain("mcp__fix__echo");
});

test("a server that the user chose hides one of the workspace with its name", async () => {
  const { servers } = editorServers([{ name: "fix", command: process.execPath, args: [FIXTURE], env: [] }]);
  const { extension, lines } = await open({ cwd: withServer(), servers });
  expect(extension.items().map(({ source, state }) => [source, state])).toEqual([["editor", "on"]]);
  expect(lines.filter((line) => line.includes("consent"))).toEqual([]);
});

test("a file that appears during the session is read with the next turn", async () => {
  const { cwd, toolNames, command, extension } = await open();
  mkdirSync(join(cwd, ".vscode"));
  writeFileSync(join(cwd, ".vscode", "mcp.json"), '{ "servers": { "late": { "command": "late-server" } } }');
  expect(toolNames()).toEqual([]);
  await command("");
  expect(extension.items()).toMatchObject([{ name: "late", state: "needs-consent", detail: "late-server" }]);
});

test("switches of servers and tools last for later sessions", async () => {
  const { servers } = editorServers([{ name: "fix", command: process.execPath, args: [FIXTURE], env: [] }]);
  const { home, command, toolNames } = await open({ servers });
  expect(await command("disable fix echo")).toBe("echo of fix is off from the next message on.");
  expect(toolNames()).not.toContain("mcp__fix__echo");
  const second = await open({ servers, home });
  expect(second.toolNames()).not.toContain("mcp__fix__echo");
  expect(second.toolNames()).toContain("mcp__fix__look");
  expect(await second.command("disable fix")).toBe("fix is off.");
  const third = await open({ servers, home });
  expect(third.item()).toMatchObject({ state: "off", actions: ["enable"] });
  expect(await third.command("enable fix")).toMatch(/^fix: on/);
  await third.command("enable fix echo");
  expect(third.toolNames()).toContain("mcp__fix__echo");
});

/** A server that requires a sign-in, and a browser whose user agrees. */
async function openGuarded(circumstances: Circumstances = {}) {
  const guarded = await startIssuer();
  issuer = guarded;
  const pages: URL[] = [];
  const { servers } = editorServers([{ type: "http", name: "guarded", url: guarded.url.href, headers: [] }]);
  const openPage: OpenPage = async ({ url }) => {
    pages.push(url);
    void guarded.visit(url);
    return "opened";
  };
  return { ...(await open({ servers, openPage, ...circumstances })), pages, guarded };
}

test("a server that requires a sign-in gets one on request, starts again, and can be signed out of", async () => {
  const { extension, lines, command, toolNames, item, pages } = await openGuarded();
  expect(item()).toMatchObject({ state: "needs-sign-in", actions: ["sign-in", "restart", "disable"] });
  expect(lines).toEqual(["The MCP server guarded: guarded requires a sign-in. Type `/mcp signin guarded`."]);
  expect(pages).toEqual([]);
  expect(await command("signin guarded")).toMatch(
    /^Sign in to guarded in your browser\. .*\/mcp signin guarded ADDRESS/,
  );
  await expect.poll(() => lines.at(-1)).toBe("You are signed in to guarded: on, 1 tool.");
  expect(toolNames()).toEqual(["mcp__guarded__whoami"]);
  expect(item()).toMatchObject({ state: "on", actions: ["restart", "disable", "sign-out"] });
  expect(await extension.act("mcp:guarded", "sign-out")).toBe("You are signed out of guarded.");
  expect(item()).toMatchObject({ state: "needs-sign-in" });
});

test("the command line waits for the end of the sign-in", async () => {
  const { command } = await openGuarded();
  expect(await command("signin guarded --wait")).toBe("You are signed in to guarded: on, 1 tool.");
});

test("a client without a browser shows the link, and the user may paste the address of the redirect", async () => {
  const { lines, command, guarded } = await openGuarded({ openPage: async () => "unavailable" });
  const answer = String(await command("signin guarded"));
  expect(lines.at(-1)).toBe(answer);
  const [link = ""] = /http:\S+/.exec(answer) ?? [];
  expect(link).toContain(`${guarded.origin}/authorize?`);
  const { headers } = await fetch(link, { redirect: "manual" });
  await command(`signin guarded ${headers.get("location")}`);
  await expect.poll(() => lines.at(-1)).toBe("You are signed in to guarded: on, 1 tool.");
});

test("switching a server off cancels its sign-in", async () => {
  const { lines, command } = await openGuarded({ openPage: async () => "unavailable" });
  await command("signin guarded");
  expect(await command("disable guarded")).toBe("guarded is off.");
  await expect.poll(() => lines.at(-1)).toBe("The sign-in to guarded was cancelled.");
});

test.each([
  ["the user does not open the page", async () => "refused" as const, "the page was not opened"],
  ["the client fails", () => Promise.reject(new Error("gone")), "the page could not be opened: gone"],
])("a sign-in fails in one line when %s", async (_case, openPage, reason) => {
  const { command } = await openGuarded({ openPage });
  await expect(command("signin guarded")).rejects.toThrow(`Could not sign in to guarded: ${reason}.`);
});

test("a sign-in that ends during the session says so once, and the server waits for a new one", async () => {
  const { extension, lines, command, item, guarded, cwd } = await openGuarded();
  await command("signin guarded --wait");
  guarded.expireTokens();
  guarded.faults.refusesRenewal = true;
  const [tool] = extension.tools();
  const prepared = tool?.prepare({}, cwd);
  if (!prepared?.ok) throw new Error("the call was not prepared");
  const staged = await prepared.call.stage({ signal: never, show: () => undefined } as never);
  if (!staged.ok) throw new Error("the call was not staged");
  await expect(staged.run()).rejects.toThrow("guarded ended your sign-in. Type `/mcp signin guarded`.");
  expect(item()).toMatchObject({ state: "needs-sign-in" });
  expect(lines.filter((line) => line.includes("ended your sign-in"))).toHaveLength(1);
});

test("a crashed server of the workspace does not restart when its script has changed since the consent", async () => {
  const cwd = temporaryFolder("hermes-mcp-");
  const log = join(cwd, "log");
  writeFileSync(join(cwd, "server.mjs"), `import ${JSON.stringify(FIXTURE)};\n`);
  const server = { command: process.execPath, args: ["server.mjs", `--log=${log}`, "--crash-at=1"] };
  writeFileSync(join(cwd, ".mcp.json"), JSON.stringify({ mcpServers: { fix: server } }));
  const { command, extension, lines } = await open({ cwd });
  await command("allow fix");
  const look = extension.tools().find(({ name }) => name.endsWith("__look"));
  const prepared = look?.prepare({}, cwd);
  writeFileSync(join(cwd, "server.mjs"), `import ${JSON.stringify(FIXTURE)};\n// changed\n`);
  const staged = prepared?.ok ? await prepared.call.stage(toolBench().context) : undefined;
  await expect(staged?.ok && staged.run()).rejects.toThrow("ended during the call");
  await expect.poll(() => lines.join("\n")).toContain("its program changed since you allowed it");
  expect(readFileSync(log, "utf8").match(/^initialize$/gm)).toHaveLength(1);
});
