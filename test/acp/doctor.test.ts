import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { text } from "node:stream/consumers";
import { expect, test } from "vitest";
import { AcpProcess } from "../support/acp-process.ts";
import { hasSandbox } from "../support/programs.ts";

const home = mkdtempSync(join(tmpdir(), "hermes-acp-home-"));
const cwd = mkdtempSync(join(tmpdir(), "hermes-acp-"));

function doctor(environment: Readonly<Record<string, string>> = {}, folder = cwd) {
  const env = { PATH: process.env["PATH"], TMPDIR: tmpdir(), HOME: home, HERMES_HOME: home, ...environment };
  return spawnSync("node", ["dist/cli.js", "--cwd", folder, "doctor"], { env, encoding: "utf8" });
}

const model = { HERMES_BASE_URL: "http://127.0.0.1:9/v1", HERMES_MODEL: "m", HERMES_API_KEY: "sk-1" };

test.runIf(hasSandbox())("hermes doctor says what works, and does not contact the model", () => {
  const { status, stdout } = doctor(model);
  expect(status).toBe(0);
  expect(stdout).toMatch(/^ok {4}sandbox {3}on: commands run inside \(\/\S+\/bwrap\)/);
  expect(stdout).toMatch(/^ok {4}shell {5}\/\S+$/m);
  expect(stdout).toMatch(/^ok {4}git {7}\/\S+\/git$/m);
  expect(stdout).toMatch(
    /^ok {4}model {5}m of custom at http:\/\/127.0.0.1:9\/v1, not contacted; hermes acp --check asks it$/m,
  );
  expect(stdout).toMatch(/^ok {4}keys {6}HERMES_API_KEY$/m);
  expect(stdout).toMatch(/^ok {4}versions {2}Hermes \S+, Node\.js \S+, git \S+/m);
  expect(stdout.match(/^(ok|!) +\w+/gm)?.map((line) => line.split(/ +/)[1])).toEqual(
    "sandbox shell ripgrep git python browser home disk config tools keys model mcp proxy hooks plugins skills versions".split(
      " ",
    ),
  );
  expect(stdout).not.toContain("sk-1");
});

test("hermes doctor says how to fix what is wrong, and exits with 1 when Hermes cannot work", () => {
  const yaml =
    "terminal:\n  sandbox: off\n  timeout: soon\nmodel:\n  provider: nowhere\nnetwork:\n  proxy: 'socks5://h:1'\n  ca_file: /none.pem\nmcp_servers:\n  gone:\n    command: no-such-program\n  far:\n    url: https://mcp.example/\ntoolset: [file]\nmoa: {}\nhooks: {no_event: [{command: x}]}\n";
  mkdirSync(join(home, "skills", "broken"), { recursive: true });
  writeFileSync(join(home, "skills", "broken", "SKILL.md"), "---\nname: broken\n---\n");
  writeFileSync(join(home, "config.yaml"), yaml);
  writeFileSync(join(home, ".env"), "OPENAI_API_KEY=sk-2\n", { mode: 0o644 });
  const { status, stdout } = doctor({ PATH: join(process.execPath, "..") });
  expect(status).toBe(1);
  expect(stdout).toContain("install git");
  expect(stdout).toContain("run hermes setup");
  expect(stdout).toMatch(/^! {5}config {4}config.yaml: terminal.timeout: /m);
  expect(stdout).toMatch(/^! {5}config {4}config.yaml: unknown settings without effect: moa\n.*correct it in /m);
  expect(stdout).toMatch(/^FAIL {2}config {4}config.yaml: toolset is not a setting\. Did you mean toolsets\?/m);
  expect(stdout).toMatch(/^FAIL {2}proxy {5}certificates cannot be read: \/none.pem\n.*correct network.ca_file/m);
  expect(stdout).toMatch(/^! {5}mcp {7}gone: no-such-program was not found on PATH\n.*install no-such-program/m);
  expect(stdout).toMatch(/^ok {4}mcp {7}far: https:\/\/mcp.example\/, not contacted$/m);
  expect(stdout).toMatch(/^! {5}hooks {5}config.yaml: hooks.no_event is not an event .*\n.*correct config.yaml/m);
  expect(stdout).toMatch(/^! {5}skills {4}\S+SKILL.md:1: .*\n.*correct the skill/m);
  expect(stdout).toMatch(/^! {5}home {6}\S+\.env is open to other users\n.*run chmod 600/m);
});

test("hermes doctor names the sessions of an original Hermes, skills for other systems and custom commands", () => {
  const [folder, own] = [mkdtempSync(join(tmpdir(), "hermes-acp-")), mkdtempSync(join(tmpdir(), "hermes-acp-home-"))];
  const put = (path: string, content: string): void => {
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, content);
  };
  put(join(own, "state.db"), "");
  const elsewhere = process.platform === "darwin" ? "windows" : "macos";
  put(join(own, "skills", "ocr", "SKILL.md"), `---\nname: ocr\ndescription: d\nplatforms: [${elsewhere}]\n---\nx\n`);
  put(join(folder, ".claude", "agents", "reviewer.md"), "You review.\n");
  put(join(folder, ".claude", "commands", "fix-issue.md"), "Fix issue $ARGUMENTS.\n");
  put(join(folder, ".claude", "settings.json"), JSON.stringify({ permissions: { deny: ["Read(.env)"] } }));
  const { stdout } = doctor({ ...model, HERMES_HOME: own }, folder);
  expect(stdout).toMatch(
    /^ok {4}others {4}\S+state\.db of an original Hermes: hermes "\/import" copies its sessions$/m,
  );
  expect(stdout).toMatch(
    /^! {5}others {4}permissions of \.claude\/settings\.json has no effect here\n.*: correct the mode, or \/grants\.$/m,
  );
  expect(stdout).not.toContain("reviewer"); // it is a custom agent
  expect(stdout).toContain(`ok    skills    ocr (off: it is for ${elsewhere}), fix-issue\n`);
});

test("hermes doctor names a proxy that cannot be reached, and the hooks and servers that wait for consent", () => {
  const workspace = mkdtempSync(join(tmpdir(), "hermes-acp-"));
  mkdirSync(join(workspace, ".claude"));
  const guard = { matcher: "Bash", hooks: [{ type: "command", command: "sh guard.sh" }] };
  writeFileSync(join(workspace, ".claude", "settings.json"), JSON.stringify({ hooks: { PreToolUse: [guard] } }));
  writeFileSync(join(workspace, ".mcp.json"), JSON.stringify({ mcpServers: { db: { command: "db-server" } } }));
  const fresh = mkdtempSync(join(tmpdir(), "hermes-acp-home-"));
  writeFileSync(join(fresh, "config.yaml"), "hooks: {on_stop: [{command: make check}]}\n");
  const { stdout } = doctor({ ...model, HERMES_HOME: fresh, HTTPS_PROXY: "http://127.0.0.1:9" }, workspace);
  expect(stdout).toMatch(
    /^FAIL {2}proxy {5}http:\/\/127\.0\.0\.1:9 cannot be reached \(ECONNREFUSED\).*\n.*start the proxy/m,
  );
  expect(stdout).toMatch(/^! {5}hooks {5}needs your consent: on_stop of config.yaml: make check\n.*run hermes hooks/m);
  expect(stdout).toMatch(
    /^! {5}hooks {5}needs your consent: pre_tool_call Bash of .claude\/settings.json: sh guard.sh$/m,
  );
  expect(stdout).toMatch(/^! {5}mcp {7}needs your consent: db of .mcp.json: db-server\n.*run hermes mcp allow db\.$/m);
});

test("hermes doctor starts the servers of a session, and names one that ends at once with its exit code and last lines", () => {
  const fresh = mkdtempSync(join(tmpdir(), "hermes-acp-home-"));
  const script = "console.error('DB_URL is not set'); process.exit(3)";
  const servers = {
    dies: { command: process.execPath, args: ["-e", script] },
    fix: { command: process.execPath, args: [join(import.meta.dirname, "../support/mcp-fixture.mjs"), "--mute"] },
  };
  writeFileSync(join(fresh, "config.yaml"), JSON.stringify({ mcp_servers: servers }));
  const { stdout } = doctor({ ...model, HERMES_HOME: fresh });
  expect(stdout).toMatch(
    /^! {5}mcp {7}dies: .*: it ended at its start \(exit code 3: DB_URL is not set\)\n.*correct dies in config.yaml\.$/m,
  );
  expect(stdout).toMatch(/^ok {4}mcp {7}fix: .*, 1 tool$/m);
});

test("a list whose reader left early, such as head, ends quietly", async () => {
  const env = { PATH: process.env["PATH"], HOME: home, HERMES_HOME: mkdtempSync(join(tmpdir(), "hermes-acp-home-")) };
  const lists = [["skills", "list"], ["plugins", "list"], ["--help"]];
  const ends = lists.map(async (args) => {
    const child = spawn("node", ["dist/cli.js", "--cwd", cwd, ...args], { env, stdio: ["ignore", "pipe", "pipe"] });
    child.stdout.destroy();
    const [trace, [code]] = await Promise.all([text(child.stderr), once(child, "close")]);
    return { trace, code };
  });
  expect(await Promise.all(ends)).toEqual(lists.map(() => ({ trace: "", code: 0 })));
});

test("/status and the opened session say whether the sandbox is on, and how to enable it", async () => {
  const agent = new AcpProcess(model);
  writeFileSync(join(agent.home, "config.yaml"), "terminal:\n  sandbox: off\n");
  await agent.initialize({ _meta: { hermes: { sandbox: true } } });
  const { result } = await agent.request("session/new", { cwd: agent.cwd, mcpServers: [] });
  const advice = "set terminal.sandbox in config.yaml to auto";
  const text = "off: commands run with your own rights, because terminal.sandbox is off in config.yaml";
  expect(result?.["_meta"]).toMatchObject({ hermes: { sandbox: { isOn: false, text, advice } } });
  await agent.prompt(String(result?.["sessionId"]), "/status");
  expect(agent.text()).toContain(`Sandbox ${text}. To enable it, ${advice}.`);
  await agent.stop();
});
