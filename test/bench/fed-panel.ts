/** The panel in a real Chromium, fed by the real event log, and what it measures there. */
import { setInterval } from "node:timers/promises";
import type { SessionUpdate } from "@zed-industries/agent-client-protocol";
import { type Browser, chromium, type Page } from "playwright-core";
import type { MentionItem } from "../../agent-core/protocol/attachments.ts";
import type { HostMessage } from "../../agent-core/protocol/panel-events.ts";
import type { PanelMessage } from "../../agent-core/protocol/panel-messages.ts";
import { EventLog } from "../../extension/chat/event-log.ts";
import { chromiumArguments, ensureChromium } from "../../scripts/system-programs.ts";
import type { AcpProcess } from "../support/acp-process.ts";
import { answerOf } from "../support/long-session.ts";
import { PanelPage } from "../support/panel/panel-page.ts";

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
// Types a text letter by letter; gives the time that the page was busy with each letter. Milliseconds.
globalThis.typeInComposer = async (text) => {
  const composer = document.querySelector(".composer .draft-text > textarea");
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

/** Session that `loadSession` opens. */
export const SESSION_ID = "20261101_120000_abcdef01";
const MATCHES = 50;

export function mention(label: string): MentionItem {
  const attachment = { kind: "file", uri: `file:///project/src/components/${label}`, label } as const;
  return { attachment, detail: "src/components", icon: "file", marks: [[0, 3]] };
}

/** `tdur`: microseconds on the processor. */
type TraceEvent = {
  readonly name: string;
  readonly pid: number;
  readonly tid: number;
  readonly tdur?: number;
  readonly args: { readonly name?: string };
};

type Trace = { readonly traceEvents: readonly TraceEvent[] };

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
    const browser = await chromium.launch({ executablePath: await ensureChromium(), args: [...chromiumArguments] });
    const options = { receive: (message: unknown) => fed.#receive(message as PanelMessage) };
    const panel = await PanelPage.open(options, browser.newContext());
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

  /** Tasks of the page's main thread during the work. Milliseconds on the processor: they hardly depend on the load. */
  async tasks(work: () => Promise<void>): Promise<readonly number[]> {
    await this.#browser.startTracing(this.page, { categories: ["toplevel", "disabled-by-default-devtools.timeline"] });
    await work();
    const { traceEvents } = JSON.parse(String(await this.#browser.stopTracing())) as Trace; // Chromium's format
    const threads = traceEvents.filter(({ args }) => args.name === "CrRendererMain");
    const isMain = (event: TraceEvent): boolean =>
      threads.some(({ pid, tid }) => pid === event.pid && tid === event.tid) && event.name === "RunTask";
    return traceEvents.filter(isMain).map(({ tdur = 0 }) => tdur / 1_000);
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
