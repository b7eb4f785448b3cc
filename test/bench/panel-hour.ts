/** An hour of streaming in the panel, as fast as the page draws it: neither its nodes nor its memory may grow. */
import type { Page } from "playwright-core";
import { FedPanel } from "./fed-panel.ts";
import type { Row } from "./measuring.ts";

const TOKENS_A_SECOND = 200;
const SECONDS = 3_600;
/** Turns of a minute: a question, a tool call and an answer. */
const TURN_SECONDS = 60;
/** Measurements are taken at these parts of the hour. */
const PARTS = 6;
/** Of the whole panel; an answer of a minute has 2,500 tokens in view at most. */
const MAX_NODES = 2_500;
/** The state keeps the texts: 4 MB an hour, and twice as much for each text with a letter outside Latin-1. */
const MAX_GROWTH_MB = 24;
const MEGABYTE = 1_000_000;

type Size = { readonly nodes: number; readonly heapMb: number };

export async function measurePanelHour(): Promise<readonly Row[]> {
  const turns = await measure("turns", (second) => second % TURN_SECONDS === 0);
  const answer = await measure("one answer", (second) => second === 0);
  return [...turns, ...answer];
}

/** `begins`: true for a second in which a turn begins. */
async function measure(what: string, begins: (second: number) => boolean): Promise<readonly Row[]> {
  const panel = await FedPanel.open();
  try {
    await panel.load();
    const sizes: Size[] = [];
    for (let second = 0; second < SECONDS; second += 1) {
      if (begins(second)) beginTurn(panel, second);
      say(panel, second);
      // A frame for each second: the page draws all of it.
      await panel.call("nextFrame");
      if ((second + 1) % (SECONDS / PARTS) === 0) sizes.push(await sizeOf(panel.page));
    }
    const [first, last] = [sizes[0], sizes.at(-1)];
    const grown = (last?.heapMb ?? 0) - (first?.heapMb ?? 0);
    const name = `panel: an hour of ${TOKENS_A_SECOND} tokens/s in ${what}`;
    return [
      {
        what: `${name}, nodes of the page`,
        ours: Math.max(...sizes.map(({ nodes }) => nodes)),
        target: MAX_NODES,
        unit: "nodes",
      },
      { what: `${name}, growth of the memory`, ours: grown, target: MAX_GROWTH_MB, unit: "MB" },
    ];
  } finally {
    await panel.close();
  }
}

function beginTurn({ log }: FedPanel, second: number): void {
  if (second > 0) log.push({ kind: "turn-end", stopReason: "end_turn" });
  log.push({ kind: "prompt", id: `p${second}`, text: "Go on." });
  const call = { toolCallId: `c${second}`, title: "Read a.ts", kind: "read", status: "completed" } as const;
  const content = [{ type: "content", content: { type: "text", text: "const a = 1;\n".repeat(200) } }] as const;
  log.push({ kind: "update", update: { sessionUpdate: "tool_call", ...call, content: [...content] } });
}

function say({ log }: FedPanel, second: number): void {
  const messageId = `m${second - (second % TURN_SECONDS)}`;
  for (let token = 0; token < TOKENS_A_SECOND; token += 1) {
    const isLast = token % 50 === 49;
    const content = { type: "text", text: isLast ? "`code`\n\n" : "word " } as const;
    log.push({ kind: "update", update: { sessionUpdate: "agent_message_chunk", messageId, content } });
  }
}

async function sizeOf(page: Page): Promise<Size> {
  const session = await page.context().newCDPSession(page);
  await session.send("HeapProfiler.collectGarbage");
  const { usedSize } = await session.send("Runtime.getHeapUsage");
  const nodes = await page.locator("*").count();
  await session.detach();
  return { nodes, heapMb: usedSize / MEGABYTE };
}
