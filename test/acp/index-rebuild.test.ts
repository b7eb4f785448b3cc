import { mkdirSync, mkdtempSync, readFileSync, realpathSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, expect, test, vi } from "vitest";
import { AcpAgent } from "../support/acp-agent.ts";
import type { AcpClient, Json } from "../support/acp-client.ts";
import { AcpProcess } from "../support/acp-process.ts";
import { sweep } from "../support/scale.ts";

const SESSIONS = sweep(2_000, 300);
const PAGE = 50;
/** A busy machine needs long for two thousand journals. */
const BUILD_TIMEOUT_MS = 60_000;

vi.setConfig({ testTimeout: 3 * BUILD_TIMEOUT_MS });
const running: AcpClient[] = [];

afterEach(async () => {
  for (const agent of running.splice(0)) await agent.stop();
});

async function start(home: string): Promise<AcpAgent> {
  return initialized(new AcpAgent({}, home), { sessionIndex: true });
}

async function initialized<Client extends AcpClient>(agent: Client, hermes: Json): Promise<Client> {
  running.push(agent);
  await agent.initialize({ _meta: { hermes } });
  return agent;
}

function homeOfMany(): string {
  const home = realpathSync(mkdtempSync(join(tmpdir(), "hermes-acp-many-")));
  const folder = join(home, "vscode", "sessions");
  mkdirSync(folder, { recursive: true });
  for (let number = 0; number < SESSIONS; number += 1) {
    const id = `20261120_120000_${number.toString(16).padStart(8, "0")}`;
    const entries = [
      { type: "session", version: 1, id, cwd: "/project", at: 1_000 + number },
      { type: "message", message: { role: "user", content: `about subject${number}` }, at: 1_000 + number },
      { type: "message", message: { role: "assistant", content: "well said" }, at: 1_000 + number },
    ];
    writeFileSync(join(folder, `${id}.jsonl`), `${entries.map((entry) => JSON.stringify(entry)).join("\n")}\n`);
  }
  return home;
}

const buildings = (agent: AcpClient): Json[] => agent.notified("_hermes/sessions/building");

const isBuilt = (agent: AcpClient): boolean => buildings(agent).some(({ done }) => done === SESSIONS);

test("during an index build turns run, lists show indexed sessions, and the client sees the progress", async () => {
  const agent = await start(homeOfMany());
  const first = await agent.request("session/list", {});
  expect(first.result).toMatchObject({ _meta: { hermes: { building: { total: SESSIONS } } } });
  expect(buildings(agent)[0]).toEqual({ done: 0, total: SESSIONS });
  const id = await agent.newSession();
  expect((await agent.prompt(id, "read a.txt")).result).toMatchObject({ stopReason: "end_turn" });
  await agent.prompt(id, "/resume nothing like it");
  await expect.poll(() => isBuilt(agent), { timeout: BUILD_TIMEOUT_MS }).toBe(true);
  const after = await agent.request("session/list", { cwd: "/project" });
  expect(after.result?.["_meta"]).toBeUndefined();
  const sessions = after.result?.["sessions"] as Json[];
  expect(sessions).toHaveLength(PAGE);
  expect(sessions[0]).toMatchObject({ _meta: { hermes: { messages: 2 } } });
  const { result } = await agent.request("_hermes/session/search", { query: "subject77 " }); // typed to its end
  expect(result).toMatchObject({ hits: [{ sessionId: "20261120_120000_0000004d" }] });
});

test("a client without the capability gets no progress; a killed agent restarts the build", async () => {
  const home = homeOfMany();
  const killed = await initialized(new AcpProcess({}, home), {});
  const { result } = await killed.request("session/list", {});
  expect(result).toMatchObject({ _meta: { hermes: { building: { total: SESSIONS } } } });
  killed.child.kill("SIGKILL");
  await killed.exited;
  expect(killed.notifications).not.toContain("_hermes/sessions/building");
  running.length = 0;
  const next = await start(home);
  await next.request("session/list", {});
  await expect.poll(() => isBuilt(next), { timeout: BUILD_TIMEOUT_MS }).toBe(true);
  await next.stop();
  running.length = 0;
  const file = join(home, "vscode", "index.sqlite");
  const bytes = readFileSync(file);
  bytes[bytes.length - 5_000] = (bytes[bytes.length - 5_000] ?? 0) ^ 4;
  writeFileSync(file, bytes);
  const mended = await start(home);
  await mended.request("session/list", {});
  await expect.poll(() => isBuilt(mended), { timeout: BUILD_TIMEOUT_MS }).toBe(true);
});

test("lists are notified of a rename and a deletion", async () => {
  const agent = await start(realpathSync(mkdtempSync(join(tmpdir(), "hermes-acp-few-"))));
  const changes = () => agent.notifications.filter((method) => method === "_hermes/sessions/changed").length;
  const id = await agent.newSession();
  await agent.prompt(id, "read a.txt");
  const told = async (work: () => Promise<unknown>): Promise<void> => {
    const before = changes();
    await work();
    await expect.poll(changes).toBeGreaterThan(before);
  };
  await told(() => agent.prompt(id, "/title Letters"));
  await agent.request("session/close", { sessionId: id });
  await told(() => agent.request("_hermes/session/rename", { sessionId: id, title: "Figures" }));
  await told(() => agent.request("session/delete", { sessionId: id }));
});
