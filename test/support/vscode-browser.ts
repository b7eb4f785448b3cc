/** A window of a real VS Code in a real browser, with the packaged extension installed. */
import {
  type Dirent,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import type { BrowserContext, FrameLocator, Locator, Page } from "playwright-core";
import { afterEach, expect, inject } from "vitest";
import { picturesFolder, resultsFolder } from "../../scripts/project.ts";
import { calmSettings, windowUrl } from "../../scripts/vscode-server.ts";
import type { ModelServer } from "./model-server/model-server.ts";
import { type Theme, themes } from "./panel/panel-theme.ts";
import { separateWindow, sharedBrowser } from "./shared-browser.ts";

const START_LIMIT_MS = 60_000;

/** A locator that finds nothing in this time means that the step before it failed. */
const STEP_LIMIT_MS = 60_000;

/** Options of a window. */
export type WindowOptions = {
  /** Begins the name of its folder. */
  readonly name: string;
  /** Files of the workspace by relative path. Default: a.txt with the lines one, two, three. */
  readonly files?: Readonly<Record<string, string>>;
  /** Host and port of a proxy before the server. Default: the server's. */
  readonly authority?: string;
  /** Runs in the workspace before the window is loaded. */
  readonly prepare?: (workspace: string) => void;
  /** User settings beside those of every test. */
  readonly settings?: Readonly<Record<string, unknown>>;
  /** The model that answers: this server, the offline interpreter (the default), or none. */
  readonly model?: ModelServer | "offline" | "none";
  /** True lets VS Code ask for trust in the workspace. Default false. */
  readonly askForTrust?: boolean;
};

const workbenchClasses: Readonly<Record<Theme, string>> = {
  light: "vs",
  dark: "vs-dark",
  "high-contrast": "hc-black",
  "high-contrast-light": "hc-light",
};

const VIEWPORT = { width: 1280, height: 800 };

const testSettings = {
  ...calmSettings,
  "terminal.integrated.gpuAcceleration": "off", // as text in the page instead of pixels on a canvas
  "files.autoSave": "off",
  "window.autoDetectColorScheme": false,
  "workbench.colorTheme": themes.dark,
};

/**
 * A window of VS Code on a workspace and a home of its own, in the server and the browser of the whole run. Only one
 * file may have a window open: the settings are the server's. Close it: `await using window = await VSCodeWindow.open(…)`.
 */
export class VSCodeWindow {
  readonly page: Page;
  /** Absolute path of the workspace's folder. */
  readonly workspace: string;
  /** HERMES_HOME of the extension. */
  readonly home: string;
  /** The document inside the Hermes panel, a frame in a frame. */
  readonly panel: FrameLocator;
  readonly composer: Locator;
  readonly #root: string;
  readonly #authority: string;
  readonly #others: VSCodeWindow[] = [];

  private constructor(root: string, page: Page, authority: string) {
    this.page = page;
    this.#authority = authority;
    this.#root = root;
    this.workspace = join(root, "workspace");
    this.home = join(root, "home");
    this.panel = this.page
      .frameLocator('iframe.webview[src*="extensionId=hermes-agent.hermes-vscode"]')
      .frameLocator("#active-frame");
    this.composer = this.panel.locator('textarea[aria-label="Message Hermes"]');
  }

  /** Opens a window in the server of this run, with settings, a workspace and a home of its own. */
  static async open(options: WindowOptions): Promise<VSCodeWindow> {
    const root = mkdtempSync(join(inject("vscode").root, `${options.name}-`));
    writeFiles(join(root, "workspace"), options.files ?? { "a.txt": "one\ntwo\nthree\n" });
    options.prepare?.(join(root, "workspace"));
    writeSettings(join(root, "home"), options);
    await forget(options.authority ?? inject("vscode").authority);
    return VSCodeWindow.#openAt(root, options.authority);
  }

  /** Closes the window with its extension host, and removes its workspace and home. */
  async close(): Promise<void> {
    for (const window of [...this.#others, this]) {
      // The workbench ends its extension host when its page goes away in order.
      await window.page.goto("about:blank");
      await window.page.close();
    }
    await Promise.all(this.#others.map(({ page }) => page.context().close()));
    rmSync(this.#root, { recursive: true, force: true });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  /** Opens a second window on the same workspace; it is closed with this one. A tab beside this one would hide it. */
  async another(): Promise<VSCodeWindow> {
    const window = await VSCodeWindow.#openAt(this.#root, inject("vscode").authority, await separateWindow());
    this.#others.push(window);
    return window;
  }

  static async #openAt(root: string, authority = inject("vscode").authority, context?: BrowserContext) {
    const page = await (context ?? (await sharedBrowser())).newPage();
    await page.setViewportSize(VIEWPORT);
    page.setDefaultTimeout(STEP_LIMIT_MS);
    const window = new VSCodeWindow(root, page, authority);
    await window.#load();
    return window;
  }

  /** Loads the window again, as F5 in the browser does. */
  async reload(): Promise<void> {
    await this.#load();
  }

  /** Resolves when VS Code has stored `text` for a reload: in a browser, when the window loses the focus or 5 s later. */
  async stored(text: RegExp): Promise<void> {
    const layout = () => this.page.evaluate<readonly string[]>(STORED_LAYOUT);
    await expect.poll(async () => (await layout()).some((value) => text.test(value))).toBe(true);
  }

  /** Resolves when VS Code has a copy of an unsaved document with `text`: it makes one a second after a change. */
  async backedUp(text: string): Promise<void> {
    const folder = join(inject("vscode").userDataFolder, "User", "Backups");
    const copies = () =>
      readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
    const hasText = ({ parentPath, name }: Dirent) => readFileSync(join(parentPath, name), "utf8").includes(text);
    await expect.poll(() => copies().some(hasText)).toBe(true);
  }

  /** Runs the command of the palette with this whole title, once there is one. */
  async runCommand(title: string): Promise<void> {
    const input = this.quickInput.locator("input").first();
    const row = this.quickInput
      .locator(".quick-input-list .monaco-list-row .label-name")
      .getByText(title, { exact: true });
    const deadline = Date.now() + START_LIMIT_MS;
    // The palette lists the commands that are known when it opens; an extension may add its commands later.
    for (let timeout = 500; ; timeout = Math.min(2 * timeout, 4_000)) {
      await this.page.keyboard.press("F1");
      // Text goes to where the keyboard is, which may still be the panel when the palette is already visible.
      // The palette closes when an editor or a view that opens takes the focus.
      const isRun = await this.quickInput
        .locator("input:focus")
        .first()
        .waitFor({ timeout: 4_000 })
        .then(() => input.fill(`>${title}`, { timeout: 4_000 }))
        .then(() => row.first().waitFor({ timeout }))
        .then(() => row.first().click({ timeout: 10_000 }))
        .then(
          () => true,
          () => false,
        );
      if (isRun) return;
      if (Date.now() > deadline) throw new Error(`The palette offers no command "${title}".`);
      await this.page.keyboard.press("Escape");
    }
  }

  /** Shows the Hermes panel, waits for its composer, and focuses it. */
  async openPanel(): Promise<void> {
    await this.runCommand("Hermes: Focus Chat");
    await this.composer.waitFor({ timeout: START_LIMIT_MS });
    await this.composer.focus();
  }

  /** Opens a file of the workspace in an editor, and clicks into its text. */
  async openFile(path: string): Promise<void> {
    await this.runCommand("File: Open File...");
    const field = this.quickInput.locator("input").first();
    await expect.poll(() => field.inputValue()).toContain("workspace");
    await field.fill(join(this.workspace, path));
    await field.press("Enter");
    await this.page.locator(".tab.active", { hasText: path }).waitFor();
    await this.page.locator(".monaco-editor .view-lines").first().click();
  }

  /** Begins a new session in the panel, without open editors. */
  async newSession(): Promise<void> {
    await this.runCommand("View: Close All Editors");
    await this.runCommand("Hermes: New Session");
    await this.panel.locator(".user .bubble").first().waitFor({ state: "detached" });
  }

  /** Types `prompt` into the panel and sends it. */
  async send(prompt: string): Promise<void> {
    await this.composer.fill(prompt);
    await this.composer.press("Enter");
  }

  /**
   * Clicks a button that a row of a list has while the pointer is over it, until `effect`, which waits some seconds for
   * what the button does, resolves: VS Code may draw the row anew between the pointer's arrival and the click.
   */
  async clickInRow(row: Locator, button: Locator, effect: () => Promise<unknown>): Promise<void> {
    const succeeds = (step: () => Promise<unknown>): Promise<boolean> =>
      step().then(
        () => true,
        () => false,
      );
    const deadline = Date.now() + START_LIMIT_MS;
    do {
      if (Date.now() > deadline) throw new Error(`Without effect: ${button}`);
      await this.page.mouse.move(0, 0); // a row that is new below a pointer at rest does not notice it
      await succeeds(() => row.hover({ timeout: 4_000 }).then(() => button.click({ timeout: 4_000 })));
    } while (!(await succeeds(effect)));
  }

  /** Tool cards of the conversation; `status` is ACP's: pending, in_progress, completed, failed. */
  toolCalls(status?: string): Locator {
    return this.panel.locator(status === undefined ? "[data-tool-call]" : `[data-tool-call][data-status="${status}"]`);
  }

  /** The panel's button that keeps all edits; present while there are edits to review. */
  get keepButton(): Locator {
    return this.panel.getByRole("button", { name: /^Keep/ }).first();
  }

  /** The quick pick or input box in the middle of the top edge. */
  get quickInput(): Locator {
    return this.page.locator(".quick-input-widget");
  }

  /** Notifications in the corner, newest first. */
  get notifications(): Locator {
    return this.page.locator(".notifications-toasts .notification-list-item");
  }

  /** The rows of text in the visible terminal. */
  get terminal(): Locator {
    return this.page.locator(".terminal-wrapper.active .xterm-rows, .terminal-editor .xterm-rows").first();
  }

  /** The visible diff editor. */
  get diffEditor(): Locator {
    return this.page.locator(".monaco-diff-editor").first();
  }

  /** The visible text editors. */
  get editor(): Locator {
    return this.page.locator(".editor-group-container");
  }

  /** Lenses over the lines of the visible editors whose title contains `title`, from the top. */
  lens(title: string): Locator {
    return this.editor.locator(".codelens-decoration a").filter({ hasText: title });
  }

  /** True when there is a file at `path` below the workspace. */
  hasFile(path: string): boolean {
    return existsSync(join(this.workspace, path));
  }

  /** Text on disk of the file at `path` below the workspace. */
  readFile(path: string): string {
    return readFileSync(join(this.workspace, path), "utf8");
  }

  /** Switches the colour theme as a user does, and waits until the workbench has it. */
  async setTheme(theme: Theme): Promise<void> {
    await this.runCommand("Preferences: Color Theme");
    const input = this.quickInput.locator("input").first();
    await input.fill(themes[theme]);
    await this.quickInput.locator(".monaco-list-row.focused", { hasText: themes[theme] }).waitFor();
    await input.press("Enter");
    await this.page.locator(`.monaco-workbench.${workbenchClasses[theme]}`).waitFor();
    await this.quickInput.waitFor({ state: "hidden" });
  }

  /** Makes the secondary side bar `width` pixels wide by dragging its edge. */
  async setSideBarWidth(width: number): Promise<void> {
    const sideBar = this.page.locator(".part.auxiliarybar");
    const box = await boxOf(sideBar);
    const y = box.y + box.height / 2;
    await this.page.mouse.move(box.x - 1, y);
    await this.page.mouse.down();
    await this.page.mouse.move(box.x - 1 + box.width - width, y, { steps: 5 });
    await this.page.mouse.up();
    await this.page.mouse.move(0, 0); // else the edge stays highlighted
    const reached = (await boxOf(sideBar)).width;
    if (Math.abs(reached - width) > 2) throw new Error(`The side bar is ${reached} px wide instead of ${width}.`);
  }

  /** Pictures of the window with a side bar of 320 px, where the run takes pictures: FOLDER/STATE-THEME.png. */
  async pictures(state: string, shown: readonly Theme[] = ["light", "dark"]): Promise<void> {
    if (picturesFolder === undefined) return;
    for (const theme of shown) {
      await this.setTheme(theme);
      await this.setSideBarWidth(320);
      const fading = this.page.locator(".monaco-sash.hover, .terminal-resize-overlay.visible");
      await fading.first().waitFor({ state: "detached" });
      await this.page.screenshot({ path: join(picturesFolder, `vscode-${state}-${theme}.png`) });
    }
  }

  /** Picture of the window as it is, where the run takes pictures: a change of the theme would close a box at its top. */
  async picture(state: string): Promise<void> {
    if (picturesFolder !== undefined) await this.page.screenshot({ path: join(picturesFolder, `vscode-${state}.png`) });
  }

  async #load(): Promise<void> {
    await this.page.goto(windowUrl(this.#authority, this.workspace), { timeout: START_LIMIT_MS });
    await this.page.locator(".monaco-workbench .part.statusbar").waitFor({ timeout: START_LIMIT_MS });
  }
}

/** Removes what earlier windows stored: only the browser's cache is left. */
async function forget(authority: string): Promise<void> {
  const context = await sharedBrowser();
  const [page = await context.newPage()] = context.pages();
  const protocol = await context.newCDPSession(page);
  await protocol.send("Storage.clearDataForOrigin", { origin: `http://${authority}`, storageTypes: "all" });
  await protocol.detach();
}

/** Takes a picture of the window after each test of this file that failed: test-results/screens/FAILED-….png. */
export function pictureOfFailure(window: () => VSCodeWindow): void {
  afterEach(async ({ task }) => {
    if (task.result?.state !== "fail") return;
    const name = task.name.replaceAll(/[^a-z0-9]+/gi, "-").toLowerCase();
    await window().page.screenshot({ path: join(resultsFolder, "screens", `FAILED-${name}.png`) });
  });
}

function writeFiles(folder: string, files: Readonly<Record<string, string>>): void {
  for (const [path, text] of Object.entries(files)) {
    const file = join(folder, path);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, text);
  }
}

/** Settings of the user and of the machine, which a window reads when it is loaded. */
function writeSettings(home: string, { settings, model = "offline", askForTrust = false }: WindowOptions): void {
  const user = { ...testSettings, "security.workspace.trust.enabled": askForTrust, ...settings };
  const provider = model === "offline" ? { "hermes.provider": "offline" } : {};
  writeFiles(inject("vscode").userDataFolder, {
    "User/settings.json": JSON.stringify(user, null, 2),
    "Machine/settings.json": JSON.stringify({ "hermes.home": home, ...provider }, null, 2),
  });
  if (typeof model === "string") return;
  const section = { provider: "custom", base_url: model.baseUrl, api_key: "sk-1", default: "m" };
  writeFiles(home, { "config.yaml": JSON.stringify({ model: section }) });
}

/** Lets VS Code see the loss of the focus, and returns what its storage has. Evaluated in the page. */
const STORED_LAYOUT = `(async () => {
  for (const focus of [false, true]) {
    document.hasFocus = () => focus;
    document.dispatchEvent(new Event("visibilitychange"));
  }
  const done = (request) => new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });
  const values = [];
  for (const { name } of await indexedDB.databases()) {
    if (!name.startsWith("vscode-web-state-db-")) continue;
    const database = await done(indexedDB.open(name));
    values.push(...(await done(database.transaction("ItemTable").objectStore("ItemTable").getAll())));
    database.close();
  }
  return values.map(String);
})()`;

async function boxOf(locator: Locator) {
  const box = await locator.boundingBox();
  if (box === null) throw new Error("The secondary side bar is not visible.");
  return box;
}
