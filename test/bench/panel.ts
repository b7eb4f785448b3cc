/** The panel in a real Chromium: first paint, a long session read back, a long answer, a delegation, a mention. */
import { setImmediate as nextTurn } from "node:timers/promises";
import { PAGE_MESSAGES } from "../../extension/chat/earlier-messages.ts";
import { AcpProcess } from "../support/acp-process.ts";
import { writeLongSession } from "../support/long-session.ts";
import { delegation, nestedCall, task, tasksUpdate } from "../support/panel/delegated-tasks.ts";
import { FedPanel, mention, SESSION_ID } from "./fed-panel.ts";
import { median, quantile, type Row } from "./measuring.ts";

const REPLAYED_MESSAGES = 10_000;
const STREAMED_MESSAGES = 5_000;
const ROUNDS = 5;
const TOKENS_A_SECOND = 200;
const STREAMED_SECONDS = 10;
const IDLE_SECONDS = 2;
/** Shorter tasks draw nothing. Milliseconds. */
const DRAWING_MS = 1;
/** Of the whole panel, composer included; a conversation drawn as a whole has more than 100,000. */
const MAX_NODES = 1_500;

/** A stored session is opened, then shown again after the view was hidden, each time from nothing. */
export async function measurePanelReplay(): Promise<readonly Row[]> {
  const last = `Answer ${REPLAYED_MESSAGES / 4}`;
  const [paints, opened, shown]: [number[], number[], number[]] = [[], [], []];
  const agent = new AcpProcess({ HERMES_PROVIDER: "offline" });
  writeLongSession({ home: agent.home, id: SESSION_ID, cwd: agent.cwd, messages: REPLAYED_MESSAGES });
  await agent.initialize();
  const panel = await FedPanel.open();
  try {
    for (let round = 0; round < ROUNDS; round += 1) {
      panel.leave();
      panel.log.clear();
      await panel.load();
      paints.push(await panel.call<number>("firstPaint"));
      const begin = performance.now();
      await panel.loadSession(agent, { tail: PAGE_MESSAGES });
      await panel.call("endShown", last);
      opened.push(performance.now() - begin);
      panel.leave();
      const asked = await panel.load();
      await panel.call("endShown", last);
      shown.push(performance.now() - asked);
    }
  } finally {
    await panel.close();
    await agent.stop();
  }
  const session = `panel: session of ${REPLAYED_MESSAGES.toLocaleString("en")} messages`;
  return [
    { what: "panel: first paint", ours: median(paints), target: 400, unit: "ms" },
    { what: `${session}, from opening it to its end on screen`, ours: median(opened), target: 500, unit: "ms" },
    { what: `${session}, shown again: its end on screen`, ours: median(shown), target: 500, unit: "ms" },
  ];
}

/** An answer streams at the end of a long conversation. The floor is the same page when nothing happens. */
export async function measurePanelStream(): Promise<readonly Row[]> {
  const agent = new AcpProcess({ HERMES_PROVIDER: "offline" });
  writeLongSession({ home: agent.home, id: SESSION_ID, cwd: agent.cwd, messages: STREAMED_MESSAGES });
  await agent.initialize();
  const panel = await FedPanel.open();
  try {
    await panel.load();
    await panel.loadSession(agent, {});
    await panel.call("endShown", `Answer ${STREAMED_MESSAGES / 4}`);
    const idle = await panel.meter(async () => panel.stream(0, IDLE_SECONDS));
    panel.log.push({ kind: "prompt", id: "bench", text: "Say much." });
    const busy = await panel.meter(async () => panel.stream(TOKENS_A_SECOND, STREAMED_SECONDS));
    const tasks = await panel.tasks(async () => panel.stream(TOKENS_A_SECOND, STREAMED_SECONDS));
    const drawing = tasks.filter((ms) => ms > DRAWING_MS);
    const what = `panel: ${TOKENS_A_SECOND} tokens/s behind ${STREAMED_MESSAGES.toLocaleString("en")} messages`;
    return [
      {
        what: `${what}, frame time p95`,
        ours: quantile(busy.frames, 0.95),
        floor: quantile(idle.frames, 0.95),
        target: 17,
        unit: "ms",
      },
      { what: `${what}, a frame's work p95`, ours: quantile(drawing, 0.95), target: 8, unit: "ms" },
      { what: `${what}, nodes of the page`, ours: busy.nodes, target: MAX_NODES, unit: "nodes" },
    ];
  } finally {
    await panel.close();
    await agent.stop();
  }
}

const TASKS = 50;
const CALLS = 50;

/** A delegation whose sub-agents call tools as fast as the panel takes the updates. */
export async function measurePanelDelegation(): Promise<readonly Row[]> {
  const panel = await FedPanel.open();
  try {
    await panel.load();
    panel.log.push({ kind: "prompt", id: "bench", text: "Delegate much." });
    const tasksAt = (step: number) =>
      Array.from({ length: TASKS }, (_, index) =>
        task(`t${index}`, {
          status: "running",
          attempt: 1,
          tokens: step * 100,
          iterations: step,
          step: `Step ${step}`,
          dependsOn: index < 3 ? [] : [`t${index - 3}`],
        }),
      );
    panel.log.push({ kind: "update", update: delegation("d", tasksAt(0)) });
    await panel.call("openTask");
    const tasks = await panel.tasks(async () => {
      for (let number = 0; number < CALLS; number += 1) {
        for (const { id } of tasksAt(number)) {
          const call = { title: `Read file ${number}`, kind: "read", status: "in_progress" } as const;
          panel.log.push({ kind: "update", update: nestedCall("d", id, number, call) });
          panel.log.push({ kind: "update", update: nestedCall("d", id, number, { ...call, status: "completed" }) });
          panel.log.push({ kind: "update", update: tasksUpdate("d", tasksAt(number)) });
          if (id.endsWith("9")) await nextTurn();
        }
      }
      const text = "Answer 1: end";
      const content = { type: "text", text } as const;
      panel.log.push({ kind: "update", update: { sessionUpdate: "agent_message_chunk", messageId: "b", content } });
      await panel.call("endShown", "Answer 1");
    });
    const what = `panel: ${TASKS} tasks with ${CALLS} calls each, longest task`;
    return [{ what, ours: Math.max(...tasks), target: 50, unit: "ms" }];
  } finally {
    await panel.close();
  }
}

const CHIPS = 50;
const TYPED = "look at @src/components/prices-of-today.ts".repeat(2);

/** A mention is typed beside many chips, while the host answers each letter with matches. */
export async function measurePanelMentions(): Promise<readonly Row[]> {
  const panel = await FedPanel.open();
  try {
    await panel.load();
    panel.log.push({ kind: "notice", severity: "info", text: "The page is there." });
    const attachments = Array.from({ length: CHIPS }, (_, index) => mention(`chip-${index}.ts`).attachment);
    panel.send({ type: "command", id: "chips", command: { kind: "compose", attachments } });
    const times = await panel.call<readonly number[]>("typeInComposer", TYPED);
    const what = `panel: a mention beside ${CHIPS} chips, one letter p95`;
    return [{ what, ours: quantile(times, 0.95), target: 16, unit: "ms" }];
  } finally {
    await panel.close();
  }
}
