/** The panel's page without extension and agent: the test feeds it a session's events, and reads what it posts. */
import type { SessionUpdate } from "@zed-industries/agent-client-protocol";
import type { Locator, Page } from "playwright-core";
import { afterAll, beforeAll } from "vitest";
import type { HostMessage, PanelEvent } from "../../../agent-core/protocol/panel-events.ts";
import type { PanelMessage } from "../../../agent-core/protocol/panel-messages.ts";
import { PanelPage, plainHtml } from "./panel-page.ts";
import { applyTheme, type Theme } from "./panel-theme.ts";

const HEIGHT = 900;

export class FedPanel {
  readonly posted: PanelMessage[] = [];
  readonly #page: PanelPage;
  #next = 0;
  #sessions = 0;

  private constructor(page: PanelPage) {
    this.#page = page;
  }

  /** Opens an empty session. */
  static async open(language = "en"): Promise<FedPanel> {
    const page = await PanelPage.open({
      receive: (message) => panel.posted.push(message as PanelMessage),
      html: (origin) => plainHtml(origin, language),
    });
    const panel = new FedPanel(page);
    await page.load();
    await panel.setTheme("dark");
    await panel.setWidth(320);
    await panel.reset();
    return panel;
  }

  get page(): Page {
    return this.#page.page;
  }

  /** Id of the session that `reset` began last. */
  get sessionId(): string {
    return `s${this.#sessions}`;
  }

  locator(selector: string): Locator {
    return this.page.locator(selector);
  }

  /** Begins a session without entries. */
  reset(): Promise<void> {
    return this.begin();
  }

  /** Begins a session that the panel gets with these updates at once. Resolves when it is on screen. */
  async begin(...updates: readonly SessionUpdate[]): Promise<void> {
    this.#next = 0;
    this.#sessions += 1;
    await this.#send([
      {
        kind: "session",
        sessionId: this.sessionId,
        agentName: "Hermes",
        configOptions: [],
        commands: [],
      },
      ...updates.map((update) => ({ kind: "update", update }) as const),
    ]);
    await this.#page.nextFrame();
  }

  async feed(...events: readonly PanelEvent[]): Promise<void> {
    await this.#send(events);
  }

  async update(...updates: readonly SessionUpdate[]): Promise<void> {
    await this.#send(updates.map((update) => ({ kind: "update", update })));
  }

  /** A message beside the session's events. */
  async tell(message: HostMessage): Promise<void> {
    await this.#page.send(message);
  }

  async setWidth(width: number): Promise<void> {
    await this.page.setViewportSize({ width, height: HEIGHT });
    // Pages above the composer take their place with the next frame.
    await this.#page.nextFrame();
  }

  async setTheme(theme: Theme): Promise<void> {
    await applyTheme(this.page, theme);
  }

  /** Pictures of a state, where the run takes pictures. */
  async pictures(state: string): Promise<void> {
    await this.#page.pictures(state);
    await this.setTheme("dark");
  }

  close(): Promise<void> {
    return this.#page.close();
  }

  async #send(events: readonly PanelEvent[]): Promise<void> {
    const first = this.#next;
    this.#next += events.length;
    await this.tell({ type: "events", epoch: "e", first, reset: first === 0, events });
  }
}

/** Panel of a `describe` block: opened before its tests and closed after them. */
export function useFedPanel(language?: string): () => FedPanel {
  let panel: FedPanel | undefined;
  beforeAll(async () => {
    panel = await FedPanel.open(language);
  });
  afterAll(() => panel?.close());
  return () => {
    if (panel === undefined) throw new Error("The panel is open only while the tests run.");
    return panel;
  };
}
