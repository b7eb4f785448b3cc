// A server and its client in network namespaces of their own, as on two machines: the line between them breaks again and again.
import { execFileSync, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as delay } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";
import { temporaryFolder } from "../../support/acp-client.ts";
import { AcpProcess } from "../../support/acp-process.ts";
import { sweep } from "../../support/scale.ts";
import { TOKEN } from "../../support/served-agent.ts";

const CUTS = sweep(12, 2);
/** Time between two cuts, and of a cut. Milliseconds. */
const EVERY_MS = sweep(20_000, 1_000);
const CUT_MS = 3_000;
/** Addresses of documentation, which no machine has: they exist in the two namespaces alone. */
const [THERE, HERE] = ["192.0.2.1", "192.0.2.2"];
const [SERVER, CLIENT] = [`hermes-s${process.pid}`, `hermes-c${process.pid}`];

const ip = (...args: readonly string[]): void => void execFileSync("ip", args);
const within = (name: string, ...command: readonly string[]) => ["netns", "exec", name, ...command];
const canSeparate = process.getuid?.() === 0 && spawnSync("ip", ["netns", "add", SERVER]).status === 0;

test.runIf(canSeparate)(
  `Each message is answered once while the line between two machines breaks ${CUTS} times`,
  async () => {
    onTestFinished(() => {
      for (const name of [SERVER, CLIENT]) spawnSync("ip", ["netns", "delete", name]);
    });
    ip("netns", "add", CLIENT);
    const [far, near] = [`hs${process.pid}`, `hc${process.pid}`];
    ip("link", "add", far, "netns", SERVER, "type", "veth", "peer", "name", near, "netns", CLIENT);
    for (const [name, link, address] of [
      [SERVER, far, THERE],
      [CLIENT, near, HERE],
    ] as const) {
      ip("-n", name, "address", "add", `${address}/24`, "dev", link);
      ip("-n", name, "link", "set", link, "up");
      ip("-n", name, "link", "set", "lo", "up");
    }
    const home = temporaryFolder("hermes-far-");
    const serve = ["dist/cli.js", "serve", "--listen", `${THERE}:9120`, "--trust-proxy", "--root", tmpdir()];
    const { PATH } = process.env;
    const secret = { HERMES_SERVE_TOKEN: TOKEN, HERMES_LOCAL_SERVERS: "off" };
    const server = spawn("ip", within(SERVER, "node", ...serve, "--allow-origin", `http://${THERE}:9120`), {
      env: { PATH, HOME: home, HERMES_HOME: home, HERMES_PROVIDER: "offline", ...secret },
      stdio: ["ignore", "pipe", "inherit"],
    });
    onTestFinished(async () => {
      server.kill();
      await once(server, "exit");
    });
    await once(createInterface({ input: server.stdout }), "line");
    const bridge = within(CLIENT, "node", "dist/cli.js", "connect", `ws://${THERE}:9120`);
    const client = new AcpProcess(secret, undefined, undefined, { program: "ip", args: bridge });
    onTestFinished(() => client.stop());
    let asked = 0;
    client.on("session/request_permission", () => {
      asked += 1;
      return { outcome: { outcome: "selected", optionId: "once" } };
    });
    await client.initialize();
    const sessionId = await client.newSession();
    await client.request("session/set_mode", { sessionId, modeId: "ask" });
    const breaking = breakLine(far);
    let isOver = false;
    void breaking.then(() => {
      isOver = true;
    });
    const answers: unknown[] = [];
    while (!isOver) {
      const { result } = await client.prompt(sessionId, `run sleep 0.3; echo ${answers.length} >> made.txt`);
      answers.push(result?.["stopReason"]);
    }
    await breaking;
    expect(new Set(answers)).toEqual(new Set(["end_turn"]));
    const made = readFileSync(join(client.cwd, "made.txt"), "utf8").trim().split("\n");
    expect(made).toEqual(answers.map((_, index) => String(index)));
    expect(asked).toBe(answers.length);
    expect(client.of("tool_call")).toHaveLength(answers.length);
  },
  sweep(600_000, 90_000),
);

/** The line is reset, and goes silent, in turn. */
async function breakLine(link: string): Promise<void> {
  const reset = ["INPUT", "-p", "tcp", "-j", "REJECT", "--reject-with", "tcp-reset"];
  for (let cut = 0; cut < CUTS; cut += 1) {
    await delay(EVERY_MS - CUT_MS / 10);
    if (cut % 2 === 0) {
      for (const name of [SERVER, CLIENT]) ip(...within(name, "iptables", "-I", ...reset));
      await delay(CUT_MS);
      for (const name of [SERVER, CLIENT]) ip(...within(name, "iptables", "-D", ...reset));
    } else {
      ip("-n", SERVER, "link", "set", link, "down");
      await delay(CUT_MS);
      ip("-n", SERVER, "link", "set", link, "up");
    }
  }
  await delay(EVERY_MS);
}
