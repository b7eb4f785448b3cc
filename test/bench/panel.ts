/** The panel in a real Chromium, fed by the real event log: first paint, a long session read back, a long answer. */
import { setImmediate as nextTurn, setInterval } from "node:timers/promises";
import type { SessionUpdate } from "@zed-industries/agent-client-protocol";
import type { Browser, Page } from "playwright-core";
import type { MentionItem } from "../../agent-core/protocol/attachments.ts";
import type { HostMessage } from "../../agent-core/protocol/panel-events.ts";
import type { PanelMessage } from "../../agent-core/protocol/panel-messages.ts";
import { PAGE_MESSAGES } from "../../extension/chat/earlier-messages.ts";
import { EventLog } from "../../extension/chat/event-log.ts";
import { AcpProcess } from "../support/acp-process.ts";
import { answerOf, writeLongSession } from "../support/long-session.ts";
import { delegation, nestedCall, task, tasksUpdate } from "../support/panel/delegated-tasks.ts";
import { launchBrowser, PanelPage } from "../support/panel/panel-page.ts";
import { median, quantile, type Row } from "./measuring.ts";

const REPLAYED_MESSAGES = 10_000;
const STREAMED_MESSAGES = 5_000;
const ROUNDS = 5;
const TOKENS_A_SECOND = 200;
const STREAMED_SECONDS = 10;
const IDLE_SECONDS = 2;
/** Of the whole panel, composer included; a conversation drawn as a whole has more than 100,000. */
const MAX_NODES = 1_500;
const SESSION_ID = "20261101_120000_abcdef01";

/** Script that measures inside the page. */
const INSTRUMENTS = `
// Resolves when this answer has been drawn.
globalThis.endShown = (answer) => new Promise((resolve) => {
  const look = () => {
    // Not the text of the whole transcript: reading that of 100,000 paragraphs takes longer than the work to measure.
    const shown = [...document.querySelectorAll(".transcript .markdown-block")].at(-1)?.textContent.includes(answer + ":");
    requestAnimationFrame(shown ? () => resolve() : look);
  };
  look();
});
// The script may be running before the browser has put its first picture on the screen.
globalThis.firstPaint = () => new Promise((resolve) => {
  const observer = new PerformanceObserver((list) => {
    const paint = list.getEntriesByName("first-contentful-paint")[0];
    if (paint === undefined) return;
    observer.disconnect();
    resolve(paint.startTime);
  });
  observer.observe({ type: "paint", buffered: true });
});
// Longest time in which the page answers nothing, drawing included.
globalThis.startGaps = () => {
  let last = performance.now();
  globalThis.longestGap = 0;
  const { port1, port2 } = new MessageChannel();
  port1.onmessage = () => {
    const now = performance.now();
    globalThis.longestGap = Math.max(globalThis.longestGap, now - last);
    last = now;
    port2.postMessage(0);
  };
  port2.postMessage(0);
};
// Types a text letter by letter; gives the time that the page was busy with each letter. Milliseconds.
globalThis.typeInComposer = async (text) => {
  const composer = document.querySelector(".composer .draft-field > textarea");
  composer.focus();
  const times = [];
  for (const letter of text) {
    const begin = performance.now();
    document.execCommand("insertText", false, letter);
    await Promise.resolve();
    times.push(performance.now() - begin);
    await new Promise(requestAnimationFrame);
  }
  return times;
};
globalThis.readGap = () => globalThis.longestGap;
// Opens the first task of a delegation, which then shows its calls.
globalThis.openTask = () => new Promise((resolve) => {
  const look = () => {
    const row = document.querySelector("[data-task] button");
    row?.click();
    if (row === null) requestAnimationFrame(look);
    else resolve();
  };
  look();
});
globalThis.nextFrame = () => new Promise((resolve) => requestAnimationFrame(() => resolve()));
let frames, nodes, meter;
globalThis.startMeter = () => {
  frames = [];
  nodes = 0;
  const step = (time) => {
    frames.push(time);
    if (frames.length % 60 === 0) nodes = Math.max(nodes, document.querySelectorAll("*").length);
    meter = requestAnimationFrame(step);
  };
  meter = requestAnimationFrame(step);
};
globalThis.readMeter = () => {
  cancelAnimationFrame(meter);
  return { frames: frames.slice(1).map((time, index) => time - frames[index]), nodes };
};
`;

export async function measurePanel(): Promise<readonly Row[]> {
  return [
    ...(await measureReplay()),
    ...(await measureStream()),
    ...(await measureDelegation()),
    ...(await measureMentions()),
    ...(await measureHostileTexts()),
  ];
}

const HOSTILE_CHARS = 300_000;

function filled(line: string, chars = HOSTILE_CHARS): string {
  return line.repeat(Math.ceil(chars / line.length));
}

const hostileTexts: Readonly<Record<string, string>> = {
  "300 kB of emphasis": filled("a**"),
  "300 kB of emphasis in lines": filled(`${"a**".repeat(100)}\n`),
  "300 kB of brackets": filled("[a]("),
  "300 kB of short paragraphs": filled("a\n\n"),
  "300 kB of list": filled("- a `b` **c**\n"),
  "300 kB of one word": filled("a"),
  "300 kB of nested quotes": filled(`${">".repeat(50)} a\n`),
  "300 kB of code blocks": filled(`\`\`\`ts\n${"const a = [1, 'b'];\n".repeat(400)}\`\`\`\n\n`),
  "a table of 20,000 rows": `| a | b |\n|---|---|\n${"| 1 | 2 |\n".repeat(20_000)}`,
  "2 MB of code": `\`\`\`ts\n${filled("const a = 1;\n", 2_000_000)}\`\`\``,
};

/** An answer arrives as one text; the page must answer while it draws it. */
async function measureHostileTexts(): Promise<readonly Row[]> {
  const panel = await FedPanel.open();
  const rows: Row[] = [];
  try {
    for (const [what, text] of Object.entries(hostileTexts)) {
      const gaps: number[] = [];
      for (let round = 0; round < ROUNDS; round += 1) {
        panel.leave();
        panel.log.clear();
        await panel.load();
        await panel.call("startGaps");
        panel.log.push({ kind: "prompt", id: "bench", text: "Say much." });
        const content = { type: "text", text: `${text}\n\nAnswer 1: end` } as const;
        panel.log.push({ kind: "update", update: { sessionUpdate: "agent_message_chunk", messageId: "b", content } });
        panel.log.push({ kind: "turn-end", stopReason: "end_turn" });
        await panel.call("endShown", "Answer 1");
        gaps.push(await panel.call<number>("readGap"));
      }
      rows.push({ what: `panel: ${what}, longest time without an answer`, ours: median(gaps), target: 50, unit: "ms" });
    }
  } finally {
    await panel.close();
  }
  return rows;
}

/** A stored session is opened, then shown again after the view was hidden, each time from nothing. */
async function measureReplay(): Promise<readonly Row[]> {
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
async function measureStream(): Promise<readonly Row[]> {
  const agent = new AcpProcess({ HERMES_PROVIDER: "offline" });
  writeLongSession({ home: agent.home, id: SESSION_ID, cwd: agent.cwd, messages: STREAMED_MESSAGES });
  await agent.initialize();
  const panel = await FedPanel.open();
  try {
    await panel.load();
    await panel.loadSession(agent, {});
    await panel.call("endShown", `Answer ${STREAMED_MESSAGES / 4}`);
    const idle = await panel.meter(async () => panel.stream(0, IDLE_SECONDS));
    const busy = await panel.meter(async () => {
      panel.log.push({ kind: "prompt", id: "bench", text: "Say much." });
      await panel.stream(TOKENS_A_SECOND, STREAMED_SECONDS);
    });
    const what = `panel: ${TOKENS_A_SECOND} tokens/s behind ${STREAMED_MESSAGES.toLocaleString("en")} messages`;
    return [
      {
        what: `${what}, frame time p95`,
        ours: quantile(busy.frames, 0.95),
        floor: quantile(idle.frames, 0.95),
        target: 17,
        unit: "ms",
      },
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
async function measureDelegation(): Promise<readonly Row[]> {
  const panel = await FedPanel.open();
  try {
    await panel.load();
    panel.log.push({ kind: "prompt", id: "bench", text: "Delegate much." });
    const tasksAt = (step: number) =>
      Array.from({ length: TASKS }, (_, index) =>
        task(`t${index}`, {
          ...{ status: "running", attempt: 1, tokens: step * 100, iterations: step, step: `Step ${step}` },
          dependsOn: index < 3 ? [] : [`t${index - 3}`],
        }),
      );
    panel.log.push({ kind: "update", update: delegation("d", tasksAt(0)) });
    await panel.call("openTask");
    await panel.call("startGaps");
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
    const gap = await panel.call<number>("readGap");
    const what = `panel: ${TASKS} tasks with ${CALLS} calls each, longest time without an answer`;
    return [{ what, ours: gap, target: 50, unit: "ms" }];
  } finally {
    await panel.close();
  }
}

const CHIPS = 50;
const MATCHES = 50;
const TYPED = "look at @src/components/prices-of-today.ts".repeat(2);

/** A mention is typed beside many chips, while the host answers each letter with matches. */
async function measureMentions(): Promise<readonly Row[]> {
  const panel = await FedPanel.open();
  try {
    await panel.load();
    panel.log.push({ kind: "notice", severity: "info", text: "The page is there." });
    const attachments = Array.from({ length: CHIPS }, (_, index) => mention(`chip-${index}.ts`).attachment);
    panel.send({ type: "command", id: "chips", command: { kind: "attach", attachments } });
    const times = await panel.call<readonly number[]>("typeInComposer", TYPED);
    const what = `panel: a mention beside ${CHIPS} chips, one letter p95`;
    return [{ what, ours: quantile(times, 0.95), target: 16, unit: "ms" }];
  } finally {
    await panel.close();
  }
}

function mention(label: string): MentionItem {
  const attachment = { kind: "file", uri: `file:///project/src/components/${label}`, label } as const;
  return { attachment, detail: "src/components", icon: "file", marks: [[0, 3]] };
}

type Metered = { readonly frames: readonly number[]; readonly nodes: number };

/** The page with the event log behind it, as the extension joins them. */
export class FedPanel {
  readonly log = new EventLog();
  readonly #panel: PanelPage;
  readonly #browser: Browser;
  #ready = Promise.withResolvers<number>();

  private constructor(panel: PanelPage, browser: Browser) {
    this.#panel = panel;
    this.#browser = browser;
  }

  static async open(): Promise<FedPanel> {
    const browser = await launchBrowser();
    const panel = await PanelPage.open(browser, { receive: (message) => fed.#receive(message as PanelMessage) });
    await panel.page.addInitScript({ content: INSTRUMENTS });
    const fed = new FedPanel(panel, browser);
    return fed;
  }

  get page(): Page {
    return this.#panel.page;
  }

  /** The view is hidden: nothing is sent to it any more. */
  leave(): void {
    this.log.detach(this.send);
  }

  /** The view is shown, from nothing; gives the time at which its script asked for the events. */
  async load(): Promise<number> {
    this.#ready = Promise.withResolvers<number>();
    await this.#panel.load();
    return this.#ready.promise;
  }

  /** As extension/chat/chat-session.ts does it, which asks for the end of a session; without `tail` for all of it. */
  async loadSession(agent: AcpProcess, hermes: { readonly tail?: number }): Promise<void> {
    this.log.hold();
    this.log.clear();
    this.log.push({
      kind: "session",
      sessionId: SESSION_ID,
      cwd: agent.cwd,
      agentName: "Hermes",
      configOptions: [],
      commands: [],
    });
    const before = agent.updates.length;
    const place = { cwd: agent.cwd, mcpServers: [], _meta: { hermes } };
    await agent.request("session/load", { sessionId: SESSION_ID, ...place });
    // The agent's updates follow the protocol's types.
    for (const update of agent.updates.slice(before) as SessionUpdate[]) this.log.push({ kind: "update", update });
    this.log.release();
  }

  async stream(tokensASecond: number, seconds: number): Promise<void> {
    const tokens =
      Array.from({ length: 40 }, (_, number) => answerOf(number))
        .join("\n\n")
        .match(/\s*\S{1,6}/g) ?? [];
    const begin = performance.now();
    let said = 0;
    for await (const _ of setInterval(5)) {
      const elapsed = (performance.now() - begin) / 1_000;
      for (; said < elapsed * tokensASecond; said += 1) {
        const text = tokens[said % tokens.length] ?? "";
        const update: SessionUpdate = {
          sessionUpdate: "agent_message_chunk",
          messageId: "b",
          content: { type: "text", text },
        };
        this.log.push({ kind: "update", update });
      }
      if (elapsed >= seconds) return;
    }
  }

  async meter(work: () => Promise<void>): Promise<Metered> {
    await this.call("startMeter");
    await work();
    return this.call<Metered>("readMeter");
  }

  async call<Value>(name: string, argument?: string): Promise<Value> {
    return this.#panel.call<Value>(name, argument);
  }

  async close(): Promise<void> {
    await this.#panel.close();
    await this.#browser.close();
  }

  readonly send = (message: HostMessage): void => void this.#panel.send(message);

  #receive(message: PanelMessage): void {
    if (message.type === "mention-search") {
      const items = Array.from({ length: MATCHES }, (_, index) =>
        mention(`prices-${message.query.length}-${index}.ts`),
      );
      this.send({ type: "mentions", id: message.id, items, isComplete: true });
    }
    if (message.type === "ack") this.log.acknowledge(message.epoch, message.next);
    if (message.type !== "ready") return;
    this.#ready.resolve(performance.now());
    this.log.attach(this.send, message.epoch, message.next);
  }
}
