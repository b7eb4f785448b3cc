import { type ChildProcess, spawn } from "node:child_process";
import { chmodSync, chownSync, existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeEach, expect, onTestFinished, test } from "vitest";
import { temporaryFolder } from "../support/acp-client.ts";
import { AcpProcess } from "../support/acp-process.ts";
import { call, callTools, type ModelServer, say, startModelServer } from "../support/model-server/model-server.ts";
import { untilProcesses } from "../support/processes.ts";
import { NOBODY } from "../support/start-agent.ts";
import { FIXTURE } from "../unit/mcp/support/open-servers.ts";

type Ended = { readonly stdout: string; readonly stderr: string; readonly code: number | null };

let model: ModelServer;
const home = temporaryFolder("hermes-headless-");

beforeEach(async () => {
  model = await startModelServer();
  onTestFinished(() => model.stop());
});

/** Runs a line in a shell, where `hermes` is the program. `began` gets the shell, which leads a group. */
function shell(line: string, began?: (child: ChildProcess) => void, user?: number): Promise<Ended> {
  const child = spawn("sh", ["-c", `hermes() { node "$HERMES_CLI" "$@"; }\n${line}`], {
    cwd: home,
    env: {
      PATH: process.env["PATH"],
      TMPDIR: tmpdir(),
      HOME: home,
      HERMES_CLI: `${process.cwd()}/dist/cli.js`,
      HERMES_HOME: home,
      HERMES_LOCAL_SERVERS: "off",
      HERMES_BASE_URL: model.baseUrl,
      HERMES_MODEL: "test-model",
      HERMES_API_KEY: "sk-test-key-123456",
    },
    stdio: ["ignore", "pipe", "pipe"],
    detached: true,
    ...(user !== undefined && { uid: user, gid: user }),
  });
  began?.(child);
  const printed = { stdout: "", stderr: "" };
  for (const name of ["stdout", "stderr"] as const) {
    child[name].on("data", (data) => {
      printed[name] += String(data);
    });
  }
  return new Promise((resolve) => child.once("close", (code) => resolve({ ...printed, code })));
}

/** The newest message of the user, as text. */
function asked(): string {
  const { content } = model.requests.at(-1)?.body.messages.findLast(({ role }) => role === "user") ?? {};
  return JSON.stringify(content);
}

test("standard input from a pipe or a file is attached to the prompt", async () => {
  model.respondWith(() => say("ok"));
  expect(await shell(`printf '+PIPED\\n' | hermes review`)).toEqual({ stdout: "ok\n", stderr: "", code: 0 });
  expect(asked()).toContain(String.raw`review\n\n<attachment name=\"stdin\">\n+PIPED\n`);
  await shell(`printf 'b.ts\\0c.ts\\0' | hermes review`);
  expect(asked()).toMatch(/b\.ts.*c\.ts/);
  await shell(`head -c 30000 "$(command -v node)" | hermes review`);
  expect(asked()).toContain("binary content was left out");
  await shell("echo FROM-FILE > in.txt; hermes review < in.txt");
  expect(asked()).toContain("FROM-FILE");
  const picture = String.raw`printf '\211PNG\r\n\032\n\0\0\0\rIHDR' | hermes review`;
  const blind = await shell(`echo 'model: {supports_vision: false}' > config.yaml; ${picture}; rm config.yaml`);
  expect(blind.stderr).toContain("cannot see pictures");
  await shell("hermes alone < /dev/null");
  expect(asked()).toBe('"alone"');
  await shell("echo PIPED | hermes -");
  expect(asked()).toBe('"PIPED"');
});

test("a prompt starts with the first part of an input that never ends", async () => {
  model.respondWith(() => say("ok"));
  expect(await shell("yes | hermes review")).toMatchObject({ stdout: "ok\n", code: 0 });
  expect(asked()).toContain(String.raw`y\ny\n`);
});

test("a prompt beside a pipe that nobody writes to and nobody closes starts without it", async () => {
  model.respondWith(() => say("ok"));
  const { stdout, stderr } = await shell("mkfifo open; exec 3<>open; hermes alone < open");
  expect([stdout, asked()]).toEqual(["ok\n", '"alone"']);
  expect(stderr).toContain("nothing came on standard input in 10 s: starting without it.");
  expect(await shell("(sleep 0.2; echo LATE) | hermes review")).toMatchObject({ code: 0 });
  expect(asked()).toContain("LATE");
});

test("standard input from a program's socket is attached when it comes at once, in UTF-16 too", async () => {
  model.respondWith(() => say("ok"));
  const parent = (then: string): string =>
    `node -e 'const { stdin } = require("node:child_process").spawn("node", [process.env.HERMES_CLI, "review"], { stdio: ["pipe", "inherit", "inherit"] }); ${then}'`;
  const sent = parent(`stdin.end(Buffer.from("\\ufeffFROM A PROGRAM", "utf16le"))`);
  expect(await shell(sent)).toMatchObject({ stdout: "ok\n", stderr: "" });
  expect(asked()).toContain("FROM A PROGRAM");
  expect(await shell(parent("stdin.unref?.()"))).toMatchObject({ stdout: "ok\n", stderr: "" });
  expect(asked()).toBe('"review"');
});

test("a session of a project that has moved is continued, and says so to the user and once to the model", async () => {
  model.respondWith(() => say("ok"));
  await shell("mkdir -p new project; cd project && hermes first; cd .. && mv project new/");
  const moved = await shell("cd new/project && hermes -c second && hermes -c third");
  expect(moved).toMatchObject({
    code: 0,
    stderr: expect.stringMatching(/was in \S+\/project, and goes on in \S+\/new\/project\./),
  });
  const { messages = [] } = model.requests.at(-1)?.body ?? {};
  const told = JSON.stringify(messages.slice(1)).match(/Working folder: [^"\\]*/g);
  expect(told).toEqual([expect.stringMatching(/\/new\/project$/)]);
  expect(JSON.stringify(messages)).toContain("first");
  const none = await shell("mkdir other; cd other && hermes -c fourth");
  expect(none).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(/in \S+\/other\. The last one of \S+: hermes --resume \S+\.\n$/),
  });
  await shell("cd other && hermes --resume first fifth");
  expect(await shell("cd other && hermes -c sixth")).toMatchObject({ code: 0, stderr: "" });
  await shell("rm -r other");
  expect(await shell("mkdir third; cd third && hermes -c seventh")).toMatchObject({
    code: 1,
    stderr: expect.stringContaining("hermes --resume "),
  });
});

test("standard input that is too long is cut, and a line says so", async () => {
  model.respondWith(() => say("ok"));
  const { stderr } = await shell("head -c 300000 /dev/zero | tr '\\0' x | hermes review");
  expect(stderr).toBe("! stdin is too long: the model gets its first 200,000 characters.\n");
});

test("a line about a call begins a line of its own where both streams are one", async () => {
  const looks = { parts: [{ type: "text", text: "I look." } as const, call("search_files", { pattern: "x" })] };
  model.script(looks, say("Nothing."), looks, say("Nothing."));
  expect((await shell("hermes look 2>&1 | cat")).stdout).toMatch(/^I look\.\n✓ [^\n]+\n\nNothing\.\n$/);
  expect((await shell("hermes look")).stdout).toBe("I look.\n\nNothing.\n");
});

test("an answer that is not complete ends with a line and exit code 1", async () => {
  model.script({ parts: [], finish: "content_filter" });
  const { stderr, code } = await shell("hermes hi");
  const advice = "Word the prompt differently, or choose another model (--model).";
  const place = new URL(model.baseUrl).host;
  expect(stderr).toBe(`hermes: The content filter of ${place} refused the request to test-model. ${advice}\n`);
  expect(code).toBe(1);
  model.script({ parts: [{ type: "text", text: "Once" }], finish: "content_filter" });
  const begun = await shell("hermes hi");
  expect(begun).toMatchObject({
    stdout: "Once\n",
    stderr: `hermes: the model refused to answer. ${advice}\n`,
    code: 1,
  });
  model.script({ parts: [], finish: "content_filter" });
  expect(await shell("hermes -z hi")).toEqual({ stdout: "", stderr, code });
});

test.runIf(process.platform === "linux")(
  "an output that cannot be written ends with a line and exit code 1",
  async () => {
    model.respondWith(() => say("ok"));
    const { stderr, code } = await shell("hermes hi > /dev/full");
    expect([stderr, code]).toEqual([expect.stringMatching(/^hermes: the output could not be written: ENOSPC.*\n$/), 1]);
  },
);

test("--model and --mode apply to the prompt", async () => {
  model.lookUps.set("/models", { data: ["test-model", "other-model", "other-model-mini"].map((id) => ({ id })) });
  model.respondWith(() => say("ok"));
  expect(await shell("hermes --model other-model hi")).toMatchObject({ code: 0, stderr: "" });
  expect(model.requests.at(-1)?.body["model"]).toBe("other-model");
  model.script(callTools(call("write_file", { path: "a.txt", content: "x" })));
  await shell("hermes --mode plan hi");
  expect(JSON.stringify(model.requests.at(-1)?.body.messages)).toContain("Plan mode is read-only");
  await shell("hermes --model mini hi");
  expect(model.requests.at(-1)?.body["model"]).toBe("other-model-mini");
  const several = await shell("hermes --model model hi");
  expect(several.stderr).toBe(
    'hermes: 3 models match "model": custom:test-model, custom:other-model, custom:other-model-mini\n',
  );
  const unknown = await shell("hermes --mode fast hi");
  expect(unknown.stderr).toContain("--mode fast: expected ask, code, plan, auto");
});

test("servers, hooks and tools are managed before a key is set; a prompt names the real place of the key", async () => {
  const without = "unset HERMES_BASE_URL HERMES_MODEL HERMES_API_KEY; export HERMES_PROVIDER=openrouter;";
  for (const command of ["mcp list", "hooks", "tools"]) {
    expect(await shell(`${without} hermes ${command}`)).toMatchObject({ code: 0, stderr: "" });
  }
  const { stderr, code } = await shell(`${without} hermes hi`);
  expect(stderr).toContain(`Set OPENROUTER_API_KEY in the environment or in ${home}/.env.`);
  expect(code).toBe(1);
  expect(model.requests).toEqual([]);
});

test("an MCP server is added by a command line, shows its tools, and is removed", async () => {
  const added = await shell(`hermes mcp add every -e 'API_KEY=a secret' -- node ${FIXTURE}`);
  expect(added).toMatchObject({ code: 0, stdout: expect.stringMatching(/^every: on, \d+ tools\.\n$/) });
  expect(readFileSync(join(home, "config.yaml"), "utf8")).toContain(`API_KEY: \${MCP_EVERY_API_KEY}`);
  expect(readFileSync(join(home, ".env"), "utf8")).toBe("MCP_EVERY_API_KEY='a secret'\n");
  expect(await shell("hermes mcp remove every")).toMatchObject({ code: 0, stderr: "" });
  expect((await shell("hermes mcp")).stdout).toContain("There are no MCP servers");
  await shell(`hermes mcp add --transport sse far http://127.0.0.1:9/sse -H 'Authorization: Bearer x:y'`);
  expect(readFileSync(join(home, "config.yaml"), "utf8")).toMatch(/^ {4}url: http:\S+\n {4}type: sse\n {4}headers:$/m);
  expect(readFileSync(join(home, ".env"), "utf8")).toContain("MCP_FAR_AUTHORIZATION='Bearer x:y'\n");
});

test.each([
  ["add every", "needs a name, then an address, or -- and a command"],
  ["add 'a b' node x.js", "a name has letters, digits"],
  ["add far https://exa_mple:x", "is no valid address"],
  ["add fs npx -y server", 'options of a command come after "--": hermes mcp add fs -- COMMAND'],
  ["add far https://example.org -e A=b", "-e belongs to a command"],
  ["add fs -t sse -- node x.js", "-t sse belongs to an address"],
  ["add far https://example.org -H token", 'has no ":" between name and value'],
  ["remove nobody", "there is no server nobody"],
])("hermes mcp %s changes nothing, and says why", async (words, reason) => {
  rmSync(join(home, "config.yaml"), { force: true });
  const { code, stderr } = await shell(`hermes mcp ${words}`);
  expect([code === 0, stderr.includes(reason), existsSync(join(home, "config.yaml"))]).toEqual([false, true, false]);
});

test("-z prints the last message alone, and --usage-file has its tokens", async () => {
  const looks = { parts: [{ type: "text", text: "I look." } as const, call("search_files", { pattern: "x" })] };
  model.script(looks, say("Nothing."));
  expect(await shell("hermes -z --usage-file usage.json look")).toEqual({ stdout: "Nothing.\n", stderr: "", code: 0 });
  const usage = JSON.parse(readFileSync(join(home, "usage.json"), "utf8"));
  expect(usage).toMatchObject({ sessionId: expect.any(String), models: [{ model: "custom:test-model" }] });
  expect(usage.models[0].outputTokens).toBeGreaterThan(0);
});

test("toolsets, steps, a picture and a skill can be chosen for one prompt", async () => {
  const picture = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
  writeFileSync(join(home, "dot.png"), Buffer.from(picture, "base64"));
  writeFileSync(join(home, "config.yaml"), "model: {supports_vision: true}\n");
  model.respondWith(() => say("ok"));
  await shell("hermes -t file,skills --image dot.png -s create-skill look");
  expect(asked()).toContain("image_url");
  expect(asked()).toContain("look");
  const tools: readonly { function: { name: string } }[] = Object(model.requests.at(-1)?.body["tools"]);
  const names = tools.map((tool) => tool.function.name);
  expect([names.includes("read_file"), names.includes("terminal")]).toEqual([true, false]);
  model.respondWith(() => callTools(call("search_files", { pattern: "x" })));
  const { stderr, code } = await shell("hermes --max-turns 2 look");
  expect([code, stderr.trimEnd().split("\n").at(-1)]).toEqual([
    1,
    'hermes: the turn reached its limit of steps. Continue with: hermes --continue "go on".',
  ]);
  rmSync(join(home, "config.yaml"));
  const wrong = await shell("hermes -s creat-skill look; echo $?; hermes --max-turns 0 look");
  expect(wrong).toEqual({
    stdout: "2\n",
    stderr: expect.stringMatching(
      /^hermes: --skills: there is no skill creat-skill\. Near names: create-skill[^\n]*\nhermes: --max-turns is 0\. Give a whole number from 1 on\.\n$/,
    ),
    code: 2,
  });
});

test("--worktree works in a worktree of its own, which stays only with changes", async () => {
  await shell(
    "mkdir -p repo && cd repo && git init -q && git -c user.name=t -c user.email=t@example.com commit -q --allow-empty -m one",
  );
  model.script(say("ok"));
  const same = await shell("cd repo && hermes -w look && git worktree list | wc -l");
  expect([same.code, same.stdout]).toEqual([0, expect.stringMatching(/^ok\n\s*1\n$/)]);
  model.script(callTools(call("write_file", { path: "new.txt", content: "x" })), say("done"));
  const changed = await shell("cd repo && hermes -y -w look && git worktree list | wc -l && ls");
  expect(changed.stdout).toMatch(/^done\n\s*2\n$/);
  const [, folder = ""] = /the work is in (\S+)\. \/worktree merge/.exec(changed.stderr) ?? [];
  expect(readFileSync(join(folder, "new.txt"), "utf8")).toBe("x");
});

test("worktree: true in config.yaml gives each new session of a repository a worktree of its own", async () => {
  await shell(
    "mkdir -p set plain && cd set && git init -q && git -c user.name=t -c user.email=t@example.com commit -q --allow-empty -m one",
  );
  const write = callTools(call("write_file", { path: "new.txt", content: "x" }));
  model.script(write, say("done"), say("again"), say("here"));
  const config = await shell("echo 'worktree: true' > $HERMES_HOME/config.yaml");
  const first = await shell("cd set && hermes -y look && git worktree list | wc -l && ls");
  const second = await shell("cd set && hermes -y look && git worktree list | wc -l");
  const elsewhere = await shell("cd plain && hermes look");
  rmSync(join(home, "config.yaml"));
  expect([config.code, first.stdout, second.stdout, elsewhere.stdout]).toEqual([
    0,
    expect.stringMatching(/^done\n\s*2\n$/),
    expect.stringMatching(/^again\n\s*2\n$/),
    "here\n",
  ]);
});

test("a prompt that the offline interpreter carries out ends with exit code 0", async () => {
  const line =
    "unset HERMES_BASE_URL HERMES_MODEL HERMES_API_KEY; hermes -y 'create done.txt with hello' && cat done.txt";
  const { stdout, stderr, code } = await shell(line);
  expect([code, stdout]).toEqual([0, expect.stringContaining("hello")]);
  expect(stderr).toContain("hermes: no language model answered. hermes setup chooses one.\n");
});

test("advice of the agent names commands of the shell, as this user starts the program", async () => {
  const { stderr } = await shell(
    "unset HERMES_BASE_URL HERMES_API_KEY; npm_lifecycle_event=chat HERMES_PROVIDER=openrouter hermes hi",
  );
  expect(stderr).toContain("Or run `npm run chat -- setup` in a terminal.");
  model.respondWith(() => say("ok"));
  const server = JSON.stringify({ mcpServers: { fix: { command: "node" } } });
  const folder = await shell(
    `mkdir served && cd served && echo '${server}' > .mcp.json && hermes mcp list && hermes hi`,
  );
  expect(folder.stdout).toContain("Type `hermes mcp allow fix` to start it");
  expect(folder.stderr).toContain('`hermes -c "/mcp"` shows the command, `hermes -c "/mcp allow NAME"` starts it.');
});

test("a server that cannot start is named once, and again after it worked", async () => {
  model.respondWith(() => say("ok"));
  const config = (command: string): void =>
    writeFileSync(join(home, "config.yaml"), `mcp_servers: {fix: {command: ${command}, args: [${FIXTURE}]}}\n`);
  const warnings = async (): Promise<number> =>
    (await shell("hermes hi")).stderr.split("The MCP server fix: its command").length - 1;
  config("no-such-program");
  const counts = [await warnings(), await warnings()];
  config("node");
  counts.push(await warnings());
  config("no-such-program");
  expect([...counts, await warnings()]).toEqual([1, 0, 0, 1]);
  rmSync(join(home, "config.yaml"));
});

test("a prompt that no language model answers ends with a line and exit code 1", async () => {
  const { stderr, code } = await shell("unset HERMES_BASE_URL HERMES_MODEL HERMES_API_KEY; hermes hi");
  expect([code, stderr.trimEnd().split("\n").at(-1)]).toEqual([
    1,
    "hermes: no language model answered. hermes setup chooses one.",
  ]);
});

test.for([["SIGTERM", 1] as const, ["SIGINT", 3] as const])(
  "%s, %i times, while a command runs: one line, exit code 130, and no process is left",
  async ([signal, times]) => {
    const seconds = Number(`1${process.pid}${times}`);
    model.script(callTools(call("terminal", { command: `trap '' INT TERM; sleep ${seconds}` })), say("never"));
    const { promise: begun, resolve } = Promise.withResolvers<ChildProcess>();
    const ended = shell('trap : INT TERM; hermes --yes "wait"', resolve);
    const { pid = 0 } = await begun;
    await untilProcesses(seconds, (count) => count > 0);
    for (let press = 0; press < times; press += 1) process.kill(-pid, signal);
    const { stderr, stdout, code } = await ended;
    expect([code, stdout, stderr.split("\n")[0]]).toEqual([130, "", "hermes: interrupted."]);
    await untilProcesses(seconds, (count) => count === 0);
  },
);

test("an unknown option is refused with the way to the others", async () => {
  const { stderr, code } = await shell("hermes --nonsense");
  expect(stderr).toBe(
    `hermes: Unknown option '--nonsense'. hermes --help lists the options. A prompt that begins with "-" comes after "--".\n`,
  );
  expect(code).toBe(2);
});

test("a folder that cannot be used is named at once, and a wrong name is a wrong command line", async () => {
  const refused = async (line: string): Promise<string> => {
    const { stdout, stderr, code } = await shell(line);
    expect(stdout).toBe("");
    return `${code} ${stderr.trimEnd()}`;
  };
  const missing = "hermes: --cwd: /nope does not exist";
  expect(await refused("hermes doctor --cwd /nope")).toBe(`2 ${missing}`);
  expect(await refused("hermes skills list --cwd /nope")).toBe(`2 ${missing}`);
  await shell("touch a-file");
  const noHome = `1 hermes: the Hermes home ${home}/a-file is not a folder. Set HERMES_HOME to a folder.`;
  for (const command of ["hi", "plugins list", "cron list", "learning state"]) {
    expect(await refused(`HERMES_HOME=$PWD/a-file; export HERMES_HOME; hermes ${command}`)).toBe(noHome);
  }
  const gone = "mkdir gone; cd gone; rmdir ../gone;";
  for (const command of ["list", "cron create 1h x"]) {
    const line = `${gone} hermes ${command}`;
    expect(await refused(line)).toBe("1 hermes: the current folder no longer exists. Change to another one.");
  }
  expect(await refused("hermes plugins disable NOPE")).toBe('2 hermes: There is no plugin "NOPE".');
  expect(await refused("hermes hooks allow 9")).toMatch(/^2 hermes: There is no hook 9\./);
  expect(await refused("hermes /staus")).toBe("2 hermes: There is no command `/staus`. Did you mean `/status`?");
  expect(await refused("hermes /import")).toBe(`1 hermes: The import failed: ${home}/state.db does not exist.`);
  expect(await refused("hermes cron create")).toBe('2 hermes: cron create needs a schedule, such as "every 2h"');
  expect(model.requests).toEqual([]);
});

test("a home that this user may not enter is named by the command line, and ends no agent of an editor", async () => {
  const closed = temporaryFolder("hermes-closed-");
  chmodSync(closed, 0o000);
  onTestFinished(() => chmodSync(closed, 0o700));
  if (NOBODY !== undefined) chmodSync(home, 0o755);
  const line = `HERMES_HOME=${closed}; export HERMES_HOME; hermes`;
  for (const command of ["hi", "plugins list"]) {
    const { stdout, stderr, code } = await shell(`${line} ${command}`, undefined, NOBODY);
    expect([code, stdout, stderr.match(/^hermes: the Hermes home .* cannot be used: EACCES: .*\n$/)]).toEqual([
      1,
      "",
      expect.anything(),
    ]);
  }
  const doctor = await shell(`HERMES_HOME=${closed}/none; export HERMES_HOME; hermes doctor`, undefined, NOBODY);
  const missing = `FAIL  home      ${closed}/none cannot be created: ${closed} is not writable\n`;
  expect([doctor.code, doctor.stdout]).toEqual([1, expect.stringContaining(missing)]);
  const agent = new AcpProcess({}, closed, NOBODY);
  onTestFinished(() => agent.stop());
  if (NOBODY !== undefined) chownSync(agent.cwd, NOBODY, NOBODY);
  await agent.initialize();
  const { result } = await agent.prompt(await agent.newSession(), "list files");
  expect(result).toMatchObject({ stopReason: "end_turn" });
  expect(JSON.stringify(agent.of("agent_thought_chunk"))).toContain("This session is not being saved");
});
