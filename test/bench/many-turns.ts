/** Memory of the agent in a conversation of several days, over stdio and with compression. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { AcpProcess } from "../support/acp-process.ts";
import { call, startModelServer } from "../support/model-server/model-server.ts";
import type { Row } from "./measuring.ts";

/** Before the first sample everything has been loaded and something has been compressed. */
const FIRST_SAMPLE = 500;
const TURNS = 1_500;
const CHARS_A_TOKEN = 4;
const QUESTION = "And what about this part of it, and the next one? ".repeat(6);
const ANSWER = "It reads a line, and says what stands in it. ".repeat(15);

export async function measureManyTurns(): Promise<readonly Row[]> {
  const model = await startModelServer();
  const agent = new AcpProcess({
    HERMES_BASE_URL: model.baseUrl,
    HERMES_MODEL: "bench",
    HERMES_API_KEY: "sk-bench-123456",
    NODE_OPTIONS: `--import=${fileURLToPath(new URL("report-heap.mjs", import.meta.url))}`,
  });
  const heaps = heapsOf(agent);
  let turn = 0;
  model.respondWith((body) => {
    const { messages } = body;
    model.forget();
    // Counted as a provider does: only so is there anything to compress.
    const usage = { input: Math.round(JSON.stringify(body).length / CHARS_A_TOKEN), output: 100 };
    const isAsked =
      messages.at(-1)?.["role"] === "user" && String(messages[0]?.["content"]).startsWith("You are Hermes");
    const parts = isAsked
      ? [call("read_file", { path: "a.txt", limit: 1 + turn })]
      : [{ type: "text", text: ANSWER } as const];
    return { parts, usage };
  });
  try {
    await agent.initialize();
    const sessionId = await agent.newSession();
    writeFileSync(join(agent.cwd, "a.txt"), "one line of the file that is read\n".repeat(60));
    let first = 0;
    for (; turn < TURNS; turn += 1) {
      if (turn === FIRST_SAMPLE) first = await heaps();
      await agent.prompt(sessionId, `Question ${turn}. ${QUESTION}`);
      agent.updates.length = 0;
    }
    const slope = ((await heaps()) - first) / 1_000 / (TURNS - FIRST_SAMPLE);
    return [{ what: `${TURNS} turns: what each leaves in the agent's memory`, ours: slope, target: 2, unit: "kB" }];
  } finally {
    await agent.stop();
    await model.stop();
  }
}

/** Asks for the size of what is in use. */
function heapsOf({ child }: AcpProcess): () => Promise<number> {
  const { stderr } = child;
  if (stderr === null) throw new Error("The agent's standard error is needed.");
  const lines = createInterface({ input: stderr });
  return () =>
    new Promise((resolve) => {
      lines.on("line", function heard(line) {
        const [, bytes] = line.match(/^heap (\d+)$/) ?? [];
        if (bytes === undefined) return;
        lines.off("line", heard);
        resolve(Number(bytes));
      });
      child.kill("SIGUSR2");
    });
}
