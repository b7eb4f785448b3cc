/** The packaged extension with its real agent and its real panel, the panel in a browser page instead of a VS Code window. */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import type { Worker } from "node:worker_threads";
import type { Locator, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, expect } from "vitest";
import { resultsFolder } from "../../../scripts/project.ts";
import { type ModelServer, startModelServer } from "../model-server/model-server.ts";
import { type Extension, loadExtension } from "./load-extension.ts";
import { PanelPage } from "./panel-page.ts";
import { applyTheme, type Theme } from "./panel-theme.ts";
import type { ThinWarning } from "./thin-dialogs.ts";
import { type ChatAnswer, ChatResponseTurn, ThinVSCode, type WindowMemory } from "./thin-vscode.ts";

/** A locator finds nothing in this time: the step before it failed. */
const STEP_LIMIT_MS = 60_000;
/** A page whose next frame takes longer is not drawn at all. */
const FRAME_LIMIT_MS = 5_000;
/** Pixels of a usual side bar. */
const WIDTH = 320;
const HEIGHT = 800;

export type PanelOptions = {
  /** Files of the workspace by relative path. Default: a.txt with the lines one, two, three. */
  readonly files?: Readonly<Record<string, string>>;
  /** The model that answers: this server, the offline interpreter (the default), or none. */
  readonly model?: ModelServer | "offline" | "none";
  /** Places where the agent looks for local model servers, as in HERMES_LOCAL_SERVERS. Default: none. */
  readonly localServers?: string;
  /** Values of settings by their full names. */
  readonly settings?: Readonly<Record<string, unknown>>;
  /** Language of VS Code. Default: English. */
  readonly language?: string;
  /** VS Code runs in a browser, and a reload empties its secret storage. Default: false. */
  readonly forgetsKeys?: boolean;
  /** Puts files into the home before the agent starts. */
  readonly prepare?: (place: { readonly home: string; readonly cwd: string }) => void | Promise<void>;
};

type Running = { readonly vscode: ThinVSCode; readonly extension: Extension; readonly unload: () => void };

type Place = {
  /** Folder with the workspace and the home. */
  readonly root: string;
  readonly settings: Readonly<Record<string, unknown>>;
  readonly language: string;
  readonly forgetsKeys: boolean;
};

/** Opens a panel with a workspace and a home of its own. Close it. Needs the bundles in dist. */
export async function openPanel(options: PanelOptions = {}): Promise<Panel> {
  const root = mkdtempSync(join(tmpdir(), "hermes-panel-"));
  const place = { home: join(root, "home"), cwd: join(root, "workspace") };
  writeFiles(place.cwd, options.files ?? { "a.txt": "one\ntwo\nthree\n" });
  const settings = {
    "hermes.sessionTitles": "words",
    ...options.settings,
    ...modelSettings(place.home, options.model),
    "hermes.home": place.home,
  };
  await options.prepare?.(place);
  process.env["HERMES_LOCAL_SERVERS"] = options.localServers ?? "off"; // the extension hands its environment to the agent
  const { language = "en", forgetsKeys = false } = options;
  return Panel.open({ root, settings, language, forgetsKeys });
}

export class Panel {
  /** Absolute path of the workspace's folder. */
  readonly workspace: string;
  /** HERMES_HOME of the agent. */
  readonly home: string;
  readonly page: Page;
  readonly #page: PanelPage;
  readonly #root: string;
  readonly #settings: Place["settings"];
  readonly #language: string;
  readonly #forgetsKeys: boolean;
  readonly #memory: WindowMemory = { global: new Map(), workspace: new Map(), secrets: new Map() };
  readonly #workers = new Set<Worker>();
  #theme: Theme = "dark";
  #running: Running | undefined;
  /** Messages reach the panel in the order in which the extension posts them. */
  #sent: Promise<unknown> = Promise.resolve();

  private constructor(page: PanelPage, { root, settings, language, forgetsKeys }: Place) {
    this.page = page.page;
    this.#page = page;
    this.#root = root;
    this.#settings = settings;
    this.#language = language;
    this.#forgetsKeys = forgetsKeys;
    this.workspace = join(root, "workspace");
    this.home = join(root, "home");
    process.on("worker", this.#keepWorker);
  }

  static async open(place: Place): Promise<Panel> {
    const page = await PanelPage.open({
      receive: (message) => panel.#running?.vscode.receive(message),
      html: () => panel.#started().vscode.showPanel(),
    });
    page.page.setDefaultTimeout(STEP_LIMIT_MS);
    const panel = new Panel(page, place);
    await panel.setWidth(WIDTH);
    try {
      await panel.#load();
    } catch (error) {
      await panel.close();
      throw error;
    }
    return panel;
  }

  get composer(): Locator {
    return this.page.locator(".composer textarea");
  }

  /** Runs the command that opens a page in a tab of the editor. Resolves with the page. Close it. */
  async openTab(title: string): Promise<PanelPage> {
    const { vscode } = this.#started();
    await vscode.runCommand(title);
    const tab = vscode.tabs.at(-1);
    if (tab === undefined) throw new Error(`The command "${title}" opened no tab.`);
    const page = await PanelPage.open({
      receive: (message) => tab.receive(message),
      html: (origin) => tab.html.replaceAll(this.#page.origin, origin),
    });
    let sent: Promise<unknown> = Promise.resolve();
    tab.toPage = (message) => {
      sent = sent.then(() => page.send(message)).catch(() => undefined); // the page is gone
    };
    page.page.setDefaultTimeout(STEP_LIMIT_MS);
    await page.load();
    return page;
  }

  /** Notifications of the extension without a warning, newest last. */
  get notifications(): readonly ThinWarning[] {
    return this.#started().vscode.dialogs.notifications;
  }

  /** Number on the icon of the side bar. */
  badge(): Promise<number> {
    return this.#started().vscode.badge();
  }

  /** Runs the command that the palette shows with this title. */
  async runCommand(title: string): Promise<void> {
    await this.#started().vscode.runCommand(title);
  }

  /** Asks `@hermes` in VS Code's own chat, after these answers. Resolves with the text, all else shown, and the result. */
  async askParticipant(prompt: string, answers: readonly ChatAnswer[] = []) {
    const handler = await this.#started().vscode.chatHandler.promise;
    const shown: string[] = [];
    let text = "";
    const show = (kind: string) => (value: unknown) => shown.push(`${kind}: ${String(value)}`);
    const button = ({ title }: { readonly title: string }) => shown.push(`button: ${title}`);
    const answer = await handler(
      { prompt, references: [] },
      { history: answers.map((result) => new ChatResponseTurn(result)) },
      { markdown: (part: string) => (text += part), progress: show("progress"), reference: show("file"), button },
      { isCancellationRequested: false, onCancellationRequested: () => ({ dispose: () => undefined }) },
    );
    return { text, shown, answer };
  }

  /** Types `prompt` and sends it. */
  async send(prompt: string): Promise<void> {
    await this.composer.fill(prompt);
    await this.composer.press("Enter");
  }

  /** Resolves when no turn runs. */
  async idle(): Promise<void> {
    await this.page.locator(".send-button .codicon-debug-stop").waitFor({ state: "detached" });
  }

  /** Tool cards of the conversation; `status` is ACP's: pending, in_progress, completed, failed. */
  toolCalls(status?: string): Locator {
    return this.page.locator(status === undefined ? "[data-tool-call]" : `[data-tool-call][data-status="${status}"]`);
  }

  /** Texts of the user's messages that are in the page. */
  bubbles(): Promise<string[]> {
    return this.page.locator(".user .bubble").allTextContents();
  }

  /** Makes the side bar `width` pixels wide. */
  async setWidth(width: number): Promise<void> {
    await this.page.setViewportSize({ width, height: HEIGHT });
  }

  async setTheme(theme: Theme): Promise<void> {
    this.#theme = theme;
    await applyTheme(this.page, theme);
  }

  /** Pictures of a state, where the run takes pictures. */
  async pictures(state: string): Promise<void> {
    await this.#page.pictures(state);
    await this.setTheme(this.#theme);
  }

  /** Hides the side bar until `hideAndShow`. */
  async hide(): Promise<void> {
    await this.#started().vscode.hidePanel();
    await this.page.goto("about:blank");
  }

  /** Errors of the extension in notifications, newest last. */
  get errors(): readonly ThinWarning[] {
    return this.#started().vscode.dialogs.errors;
  }

  /** Warnings of the extension in notifications, newest last. */
  get warnings(): readonly ThinWarning[] {
    return this.#started().vscode.dialogs.warnings;
  }

  /** Texts of new files that the extension opened, newest last. */
  get newTexts(): readonly string[] {
    return this.#started().vscode.files.newTexts;
  }

  /** Texts typed into terminals of the user's shell, newest last. */
  get typed(): readonly string[] {
    return this.#started().vscode.dialogs.typed;
  }

  /** Chooses the row of the list that the extension shows next, or has shown. */
  async pick(label: string): Promise<void> {
    await expect.poll(() => this.#started().vscode.dialogs.picks.at(-1)?.labels ?? []).toContain(label);
    this.#started().vscode.dialogs.picks.pop()?.choose(label);
  }

  /** Enters a text into the field that the extension shows next, or has shown. Resolves with its message if it refuses it. */
  async enter(title: RegExp, text: string): Promise<string | undefined> {
    const { inputs } = this.#started().vscode.dialogs;
    await expect.poll(() => inputs.at(-1)?.title ?? "").toMatch(title);
    const input = inputs.pop();
    const problem = input?.enter(text);
    if (input !== undefined && problem !== undefined) inputs.push(input);
    return problem;
  }

  /** Value of a context key, on which menus depend. */
  context(key: string): unknown {
    return this.#started().vscode.contexts.get(key);
  }

  /** Value of a setting by its full name. */
  setting(name: string): unknown {
    return this.#started().vscode.setting(name);
  }

  /** Changes a setting by its full name, until the window is loaded again. */
  changeSetting(name: string, value: unknown): void {
    this.#started().vscode.changeSetting(name, value);
  }

  /** Makes a folder beside that of the workspace, and adds it. */
  addFolder(name: string, files: Readonly<Record<string, string>>): void {
    writeFiles(join(this.#root, name), files);
    this.#started().vscode.addFolder(join(this.#root, name), name);
  }

  /** Hides the side bar, with which the panel's page goes away, and shows it again. */
  async hideAndShow(): Promise<void> {
    await this.#started().vscode.hidePanel();
    await this.#loadPage();
  }

  /** Ends extension and agent and starts them again, as when the user reloads the window. */
  async reload(): Promise<void> {
    await this.#end();
    if (this.#forgetsKeys) this.#memory.secrets.clear();
    await this.#load();
  }

  readFile(path: string): string {
    return readFileSync(join(this.workspace, path), "utf8");
  }

  /** Ends the extension with its agent, and removes workspace and home. */
  async close(): Promise<void> {
    await this.#page.close();
    await this.#end();
    process.off("worker", this.#keepWorker);
    rmSync(this.#root, { recursive: true, force: true });
  }

  readonly #keepWorker = (worker: Worker): void => {
    this.#workers.add(worker);
    worker.once("exit", () => this.#workers.delete(worker));
  };

  #started(): Running {
    if (this.#running === undefined) throw new Error("The extension does not run.");
    return this.#running;
  }

  async #load(): Promise<void> {
    const page = this.#page;
    const vscode = new ThinVSCode({
      workspace: this.workspace,
      storage: join(this.#root, "storage"),
      settings: this.#settings,
      memory: this.#memory,
      language: this.#language,
      isWeb: this.#forgetsKeys,
      origin: page.origin,
      toPanel: (message) => {
        this.#sent = this.#sent.then(() => page.send(message)).catch(() => undefined); // the page is gone
      },
    });
    const { extension, unload } = loadExtension(vscode.api);
    this.#running = { vscode, extension, unload };
    extension.activate(vscode.context);
    await this.#loadPage();
  }

  async #loadPage(): Promise<void> {
    await this.#page.load();
    await applyTheme(this.page, this.#theme);
    await this.composer.waitFor();
    await this.composer.focus();
  }

  async #end(): Promise<void> {
    const running = this.#running;
    this.#running = undefined;
    const ended = [...this.#workers].map((worker) => new Promise((resolve) => worker.once("exit", resolve)));
    await running?.extension.deactivate();
    running?.vscode.close();
    await Promise.all(ended);
    running?.unload();
  }
}

/**
 * Panel of a `describe` block: opened before its tests and closed after them. A failed test leaves a picture of it in
 * test-results/screens/FAILED-….png.
 */
export function usePanel(open: () => Promise<Panel>): () => Panel {
  let panel: Panel | undefined;
  beforeAll(async () => {
    panel = await open();
  });
  afterEach(async ({ task }) => {
    if (task.result?.state !== "fail") return;
    const name = task.name.replaceAll(/[^a-z0-9]+/gi, "-").toLowerCase();
    if (panel === undefined) return;
    if (await draws(panel.page)) {
      await panel.page.screenshot({ path: join(resultsFolder, "screens", `FAILED-${name}.png`) });
      return;
    }
    const other = await panel.page.context().newPage();
    const others = (await draws(other)) ? "does" : "does not either";
    process.stdout.write(`The browser draws no frame of the page of "${name}"; a new page ${others}.\n`);
    await other.close();
  });
  afterAll(() => panel?.close());
  return () => {
    if (panel === undefined) throw new Error("The panel is open only while the tests run.");
    return panel;
  };
}

/** False when the browser draws no frame of the page: clicks and pictures of it would wait until their limit. */
function draws(page: Page): Promise<boolean> {
  return page.evaluate(
    `new Promise((done) => {
      requestAnimationFrame(() => done(true));
      setTimeout(done, ${FRAME_LIMIT_MS}, false);
    })`,
  );
}

/** Model server of a `describe` block, from before its tests to after them. */
export function useModelServer(): () => ModelServer {
  let model: ModelServer | undefined;
  beforeAll(async () => {
    model = await startModelServer();
  });
  afterAll(() => model?.stop());
  return () => {
    if (model === undefined) throw new Error("The model server runs only while the tests run.");
    return model;
  };
}

function modelSettings(home: string, model: PanelOptions["model"] = "offline"): Readonly<Record<string, unknown>> {
  if (model === "offline") return { "hermes.provider": "offline" };
  if (model === "none") return {};
  const section = { provider: "custom", base_url: model.baseUrl, api_key: "sk-1", default: "m" };
  writeFiles(home, { "config.yaml": JSON.stringify({ model: section }) });
  return {};
}

function writeFiles(folder: string, files: Readonly<Record<string, string>>): void {
  for (const [path, text] of Object.entries(files)) {
    const file = join(folder, path);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, text);
  }
}
