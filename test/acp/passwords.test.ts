// Commands that wait for a password: the client's user gives it, and nothing else ever holds it.
import { chmodSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { type Json, temporaryFolder } from "../support/acp-client.ts";
import { AcpProcess } from "../support/acp-process.ts";
import { call, type ModelServer, say, startModelServer } from "../support/model-server/model-server.ts";

const PASSWORD = "Vier'und zwanzig$";
const METHOD = "_hermes/terminal/password";

/** As the real one: it asks a helper up to three times, and only with -A while it has no terminal. */
const SUDO = `#!/bin/sh
[ "$1" = -A ] || { echo "sudo: a terminal is required to read the password" >&2; exit 1; }
shift
while [ "$tries" != xxx ]; do
  given=$("$SUDO_ASKPASS" "[sudo] password for tester: ") || { echo "sudo: no password was provided" >&2; exit 1; }
  [ "$given" = "${PASSWORD.replace("$", "\\$")}" ] && exec "$@"
  echo "Sorry, try again." >&2
  tries=x$tries
done
exit 1
`;

type Bench = {
  readonly agent: AcpProcess;
  readonly model: ModelServer;
  readonly sessionId: string;
  readonly asked: Json[];
};

/** `answers`: what the user types, in order. */
async function start(answers: readonly (string | null)[], hermes: Json = { passwords: true }): Promise<Bench> {
  const model = await startModelServer();
  const programs = temporaryFolder("hermes-programs-");
  writeFileSync(join(programs, "sudo"), SUDO);
  chmodSync(join(programs, "sudo"), 0o755);
  const agent = new AcpProcess({
    HERMES_BASE_URL: model.baseUrl,
    HERMES_MODEL: "test-model",
    HERMES_API_KEY: "sk-1",
    PATH: `${programs}:${process.env["PATH"]}`,
  });
  onTestFinished(async () => {
    await agent.stop();
    await model.stop();
  });
  const asked: Json[] = [];
  agent.on(METHOD, (params) => {
    asked.push(params);
    return { password: answers[asked.length - 1] ?? null };
  });
  await agent.initialize({ _meta: { hermes } });
  const sessionId = await agent.newSession();
  await agent.request("session/set_mode", { sessionId, modeId: "auto" });
  agent.on("session/request_permission", () => ({ outcome: { outcome: "selected", optionId: "once" } }));
  return { agent, model, sessionId, asked };
}

/** Runs commands in one turn, and returns their results. */
async function run({ agent, model, sessionId }: Bench, ...commands: readonly (string | Json)[]): Promise<string[]> {
  const inputs = commands.map((command) => (typeof command === "string" ? { command } : command));
  model.script(...inputs.map((input) => ({ parts: [call("terminal", { ...input, unsandboxed: true })] })), say("done"));
  await agent.prompt(sessionId, "go");
  const messages = model.requests.at(-1)?.body.messages ?? [];
  return messages.filter(({ role }) => role === "tool").map(({ content }) => String(content));
}

/** All that the agent stored, sent to the model or to the client, and wrote to its log. */
function everything({ agent, model }: Bench): string {
  const stored = readdirSync(agent.home, { recursive: true, encoding: "utf8" })
    .map((name) => join(agent.home, name))
    .filter((path) => statSync(path).isFile())
    .map((path) => readFileSync(path, "latin1"));
  return [...stored, JSON.stringify(model.requests.map(({ body }) => body)), JSON.stringify(agent.updates)].join("\n");
}

test("sudo in a script gets the password from the user once, and keeps it for the session", async () => {
  const bench = await start([PASSWORD]);
  const script = "printf 'sudo echo inner\\n' > run.sh; sh run.sh";
  const [first, second] = await run(
    bench,
    script,
    "sudo sh -c 'echo second; ps -eo args >seen'; cat seen | grep -c sudo",
  );
  expect(first).toContain("inner");
  expect(second).toContain("second");
  expect(bench.asked).toMatchObject([{ prompt: "[sudo] password for tester: ", isRetry: false }]);
  expect(bench.asked[0]?.["command"]).toContain("-A echo inner");
  expect(everything(bench)).not.toContain(PASSWORD);
  expect(readFileSync(join(bench.agent.cwd, "seen"), "utf8")).not.toContain(PASSWORD);
});

test("a refused password is asked again, and no password ends the command with a reason", async () => {
  const bench = await start(["wrong", PASSWORD, null]);
  const [first] = await run(bench, "sudo echo in");
  expect(first).toMatch(/Sorry, try again\.\nin\n/);
  expect(bench.asked.map(({ isRetry }) => isRetry)).toEqual([false, true]);
  const none = await start([null]);
  expect((await run(none, "sudo echo in"))[0]).toMatch(/no password was provided\n\[.*the user gave none/);
});

test("a client without masked questions is not asked, and the model is told", async () => {
  const bench = await start([PASSWORD], {});
  expect((await run(bench, "sudo echo in"))[0]).toContain("no user can be asked for one here");
  expect(bench.asked).toEqual([]);
});

test("a program that hides its input on a terminal gets the password from the user", async () => {
  const bench = await start(["wrong", PASSWORD]);
  const script = [
    "for n in 1 2; do",
    "read -rsp 'Key of the vault: ' key; echo",
    '[ $(printf %s "$key" | wc -c) = 17 ] && echo opened',
    "done",
  ];
  writeFileSync(join(bench.agent.cwd, "vault.sh"), script.join("\n"));
  const results = await run(bench, { command: "bash vault.sh", pty: true });
  expect(results[0]).toContain("opened");
  expect(bench.asked).toMatchObject([{ prompt: "Key of the vault:", isRetry: false }, { isRetry: true }]);
  expect(everything(bench)).not.toContain(PASSWORD);
});

test("a question of a command that was stopped is withdrawn, and its time limit waits for the user", async () => {
  const bench = await start([]);
  const { promise: reached, resolve } = Promise.withResolvers<void>();
  bench.agent.on(METHOD, () => {
    resolve();
    return new Promise(() => undefined);
  });
  bench.model.script(
    { parts: [call("terminal", { command: "sudo echo in", unsandboxed: true, timeout: 1 })] },
    say("ok"),
  );
  const turn = bench.agent.prompt(bench.sessionId, "go");
  await reached;
  bench.agent.notify("session/cancel", { sessionId: bench.sessionId });
  expect((await turn).result).toMatchObject({ stopReason: "cancelled" });
});
