/** The learning page in a browser, alone or with the messages of a test. */
import type { Locator, Page } from "playwright-core";
import { afterAll, beforeAll } from "vitest";
import type {
  LearningData,
  LearningHostMessage,
  LearningPageMessage,
} from "../../../agent-core/protocol/learning-page.ts";
import { NOW } from "./learning-sample.ts";
import { PanelPage, plainHtml } from "./panel-page.ts";
import { applyTheme, type Theme } from "./panel-theme.ts";

/** The learning page in a browser. */
export class LearningTab {
  readonly #page: PanelPage;

  constructor(page: PanelPage) {
    this.#page = page;
  }

  get page(): Page {
    return this.#page.page;
  }

  locator(selector: string): Locator {
    return this.page.locator(selector);
  }

  async setWidth(width: number): Promise<void> {
    await this.page.setViewportSize({ width, height: 900 });
  }

  /** A tab of the editor has the editor's background. */
  async setTheme(theme: Theme): Promise<void> {
    await applyTheme(this.page, theme);
    await this.locator("html").evaluate((html: { style: { background: string } }) => {
      html.style.background = "var(--vscode-editor-background)";
    });
  }

  /** Pictures of the whole page, where the run takes pictures. */
  async pictures(state: string): Promise<void> {
    await this.#page.pictures(state, { widths: [320, 900], fullPage: true });
    await this.setTheme("dark");
  }

  close(): Promise<void> {
    return this.#page.close();
  }
}

/** The learning page without extension and agent: the test plays the host, and reads what the page posts. */
export class FedLearning extends LearningTab {
  readonly posted: LearningPageMessage[] = [];
  readonly #page: PanelPage;
  readonly #setGerman: (isGerman: boolean) => void;

  private constructor(page: PanelPage, setGerman: (isGerman: boolean) => void) {
    super(page);
    this.#page = page;
    this.#setGerman = setGerman;
  }

  static async open(): Promise<FedLearning> {
    let isGerman = false;
    const page = await PanelPage.open({
      receive: (message) => learning.posted.push(message as LearningPageMessage),
      html: (origin) => plainHtml(origin, isGerman ? "de" : "en", "learning"),
    });
    const learning = new FedLearning(page, (next) => {
      isGerman = next;
    });
    await page.page.clock.setFixedTime(NOW);
    await learning.load();
    return learning;
  }

  /** Loads the page anew, as when VS Code shows a hidden tab. */
  async load({ isGerman = false } = {}): Promise<void> {
    this.#setGerman(isGerman);
    await this.#page.load();
    await this.setTheme("dark");
    await this.setWidth(900);
    await this.locator(".learning").waitFor();
  }

  async send(message: LearningHostMessage): Promise<void> {
    await this.#page.send(message);
  }

  async show(data: LearningData, section: Extract<LearningHostMessage, { type: "show" }>["section"]): Promise<void> {
    await this.send({ type: "data", data });
    await this.send({ type: "show", section });
    await this.locator(`[role=tab][id=learning-tab-${section}][aria-selected=true]`).waitFor();
    // The tab may have been selected before: the data are on the page after the next frame.
    await this.#page.nextFrame();
  }
}

/** Page of a `describe` block: opened before its tests and closed after them. */
export function useFedLearning(): () => FedLearning {
  let learning: FedLearning | undefined;
  beforeAll(async () => {
    learning = await FedLearning.open();
  });
  afterAll(() => learning?.close());
  return () => {
    if (learning === undefined) throw new Error("The page is open only while the tests run.");
    return learning;
  };
}
