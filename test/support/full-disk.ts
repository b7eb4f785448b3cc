/** Program for a mount namespace with a small disk at `argv[2]`: fills it, runs a session and prints the outcome as JSON. */
import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { spaceReserveFile } from "../../agent-core/config/home.ts";
import { SpaceReserve } from "../../agent-core/sessions/write-fault.ts";
import type { Json } from "./acp-client.ts";
import { AcpProcess } from "./acp-process.ts";

const CHUNK = Buffer.alloc(64 * 1_024, "x");
const home = process.argv[2] ?? "";

/** Writes until the disk has no free byte. */
function fill(): void {
  for (let number = 0, size = CHUNK.length; size > 0; number += 1) {
    try {
      writeFileSync(join(home, `filler-${number}`), CHUNK.subarray(0, size));
    } catch {
      size = Math.floor(size / 2);
    }
  }
}

const textsOf = (agent: AcpProcess, kind: string): string[] =>
  agent.of(kind).map(({ content }) => String((content as Json)["text"]));

const agent = new AcpProcess({}, home);
await agent.initialize();
const id = await agent.newSession();
await agent.prompt(id, "list files");
await agent.prompt(id, "read a.txt");
const reserve = new SpaceReserve(spaceReserveFile(home));
while (!(await reserve.isKept())) await setTimeout(10);
fill();
// Larger than the free rest of the journal's last block.
const { result } = await agent.prompt(id, `search for "${"two".repeat(CHUNK.length / 3)}"`);
const told = textsOf(agent, "agent_thought_chunk").join("");
agent.child.kill("SIGKILL");
await agent.exited;

const next = new AcpProcess({}, home);
await next.initialize();
const { error } = await next.request("session/load", { sessionId: id, cwd: agent.cwd, mcpServers: [] });
const found = textsOf(next, "user_message_chunk").map((text) => text.slice(0, 15));
const { sessions } = (await next.request("session/list", {})).result as { readonly sessions: readonly Json[] };
await next.stop();
for (const { cwd } of [agent, next]) rmSync(cwd, { recursive: true });
process.stdout.write(JSON.stringify({ result, told, error: error?.message, found, listed: sessions.length }));
