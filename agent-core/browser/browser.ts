/** A running browser: its pages, the actions on the current one, and the reports about them for the model. */
import type { Page as Driver } from "playwright-core";
import { messageOf } from "../platform/errors.ts";
import { wrapData } from "../prompt/injection-scan.ts";
import { addressGuard } from "../web/address-guard.ts";
import { ActionError, click, press, scroll, type } from "./actions.ts";
import { AddressProxy, PROXY_USER } from "./address-proxy.ts";
import { Downloads } from "./downloads.ts";
import { type BrowserSettings, findBrowser } from "./find-browser.ts";
import { type StartedBrowser, startBrowser } from "./launch.ts";
import { Closed, type DialogAnswers, Lost, Page, type RefCounter } from "./page.ts";
import { siteOf } from "./page-address.ts";
import { largePicture, listImages, type Picture, readPage, type SnapshotKind, smallPicture } from "./read-page.ts";

/** Time for the first answer of a server. Milliseconds. */
const ANSWER_MS = 30_000;
/** Limit of loading after that, and after an action. The page is then shown as it is. Milliseconds. */
const LOADING_MS = 15_000;
/** Pages at the same time; further pop-ups are closed. */
const MAX_PAGES = 6;
/** Events that one report names. */
const MAX_NOTES = 30;

/** Result of a call. `picture`: the page in view, for people. */
export type Report = { readonly ok: boolean; readonly text: string; readonly picture?: Picture | undefined };

export type Action =
  | { readonly kind: "click"; readonly ref: string }
  | { readonly kind: "type"; readonly ref: string; readonly text: string; readonly submit: boolean }
  | { readonly kind: "press"; readonly key: string }
  | { readonly kind: "scroll"; readonly ref?: string | undefined; readonly isUp: boolean }
  | { readonly kind: "back" };

export type Acting = {
  /** `accept`, or the text for a prompt. Default: dialogs are dismissed. */
  readonly dialog?: string | undefined;
  /** Site that the user allowed the action on; on any other it is refused. Default: any. */
  readonly site?: string | undefined;
  readonly signal: AbortSignal;
};

export class Browser {
  readonly #started: StartedBrowser;
  readonly #proxy: AddressProxy;
  readonly #downloads: Downloads;
  readonly #folder: string;
  /** The last one is the current one. */
  readonly #pages: Page[] = [];
  readonly #notes: string[] = [];
  readonly #refs: RefCounter = { last: 0 };

  /** `folder`: for downloads and long snapshots, absolute. Rejects with an error in one line. */
  static async start(settings: BrowserSettings, folder: string): Promise<Browser> {
    const executable = findBrowser(settings.executable);
    if (executable === undefined) {
      throw new Error(
        settings.executable === undefined
          ? "No Chrome, Chromium or Edge was found. Install one."
          : `browser.executable in config.yaml is ${JSON.stringify(settings.executable)}, and there is no such program. The user can correct or remove it.`,
      );
    }
    const proxy = new AddressProxy(addressGuard(settings.allowPrivateUrls ?? false));
    try {
      const user = { port: await proxy.listen(), username: PROXY_USER, password: proxy.password };
      const started = await startBrowser({ executable, headless: settings.headless ?? true, proxy: user });
      return new Browser(started, proxy, folder);
    } catch (error) {
      proxy.close();
      throw error;
    }
  }

  private constructor(started: StartedBrowser, proxy: AddressProxy, folder: string) {
    this.#started = started;
    this.#proxy = proxy;
    this.#folder = folder;
    this.#downloads = new Downloads(started.downloads, folder, (note) => this.#note(note));
    for (const driver of started.context.pages()) this.#attach(driver);
    started.context.on("page", (driver) => {
      if (this.#attach(driver)) this.#note("A new tab opened and is the page now; browser_back closes it.");
    });
  }

  get url(): string {
    return this.#pages.at(-1)?.url ?? "about:blank";
  }

  /** True when the browser stays usable after this error of a call. */
  isUsable(error: unknown): boolean {
    return !(error instanceof Lost) && this.#pages.length > 0;
  }

  async end(): Promise<void> {
    await this.#started.end();
    this.#proxy.close();
  }

  /** Opens an address. A server of this machine may be reached from then on: the caller asked the user. */
  async navigate(url: URL, signal: AbortSignal): Promise<Report> {
    this.#proxy.allow(url);
    const page = this.#begin({ isLeaving: true });
    const opening = page.driver.goto(url.href, { waitUntil: "commit", timeout: ANSWER_MS, signal });
    try {
      await page.ask(opening, ANSWER_MS * 2);
      return await this.#report(signal);
    } catch (error) {
      signal.throwIfAborted();
      const failure = messageOf(error);
      if (/Timeout .* exceeded/.test(failure)) {
        throw new ActionError(`${url.href} did not answer within ${ANSWER_MS / 1_000} s.`);
      }
      const code = /net::ERR_\w+/.exec(failure)?.[0];
      if (code === undefined && !/Download is starting/.test(failure)) throw error;
      return this.#report(signal, code);
    }
  }

  /** Acts on the current page as a person does. Rejects with `ActionError` when it cannot. */
  async act(action: Action, { dialog, site, signal }: Acting): Promise<Report> {
    const current = siteOf(this.url);
    if (site !== undefined && site !== current) {
      throw new ActionError(`The page is now of ${current}, no longer of ${site}. Look at it, then repeat the action.`);
    }
    const answer = dialog === "dismiss" ? undefined : dialog;
    const page = this.#begin({ answer, isLeaving: action.kind === "back" });
    try {
      await this.#perform(page, action);
    } catch (error) {
      if (!(error instanceof Closed)) throw error;
      this.#detach(page); // a click can close its own tab
    }
    return this.#report(signal);
  }

  async snapshot(isCompact: boolean): Promise<Report> {
    return this.#content(isCompact ? "compact" : "page");
  }

  /** Console of the page since its navigation, oldest first. */
  console(isCleared: boolean): Report {
    const lines = this.#current.takeConsole(isCleared);
    return this.#wrapped(lines.length === 0 ? "The console is empty." : lines.join("\n"));
  }

  async images(): Promise<Report> {
    return this.#wrapped(await this.#read(listImages));
  }

  /** Picture of the page in view, for a model that accepts pictures. */
  picture(): Promise<Picture> {
    return this.#read(largePicture);
  }

  /** False for a page beyond the limit, which is closed. */
  #attach(driver: Driver): boolean {
    if (this.#pages.length >= MAX_PAGES) {
      this.#note("The page opens tabs without end: the last one was closed.");
      driver.close().catch(() => undefined); // closed by itself
      return false;
    }
    const page = new Page(driver, this.#refs, (note) => this.#note(note));
    this.#pages.push(page);
    driver.on("close", () => this.#detach(page));
    // A download ends with its browser.
    driver.on("download", (download) => void this.#downloads.keep(download).catch(() => undefined));
    return true;
  }

  #detach(page: Page): void {
    const index = this.#pages.indexOf(page);
    if (index === -1) return;
    this.#pages.splice(index, 1);
    page.end(new Closed("the page was closed"));
    if (index === this.#pages.length && index > 0) {
      this.#note("The tab was closed; the earlier page is the page now.");
    }
  }

  get #current(): Page {
    const page = this.#pages.at(-1);
    if (page === undefined) throw new Lost("the browser has ended");
    return page;
  }

  /** Reads the current page, or the earlier one when it is closed meanwhile. */
  async #read<Value>(work: (page: Page) => Promise<Value>): Promise<Value> {
    const page = this.#current;
    try {
      return await work(page);
    } catch (error) {
      if (!(error instanceof Closed)) throw error;
      this.#detach(page);
      return this.#read(work);
    }
  }

  #begin(answers: DialogAnswers): Page {
    this.#proxy.takeRefusals();
    const page = this.#current;
    page.begin(answers);
    return page;
  }

  async #perform(page: Page, action: Action): Promise<void> {
    switch (action.kind) {
      case "click":
        return click(page, action.ref);
      case "type":
        await type(page, action.ref, action.text);
        if (action.submit) await press(page, "Enter");
        return;
      case "press":
        return press(page, action.key);
      case "scroll":
        return scroll(page, action);
      case "back":
        return this.#back(page);
    }
  }

  /** Opens the previous page of the history, or closes a tab that has none. */
  async #back(page: Page): Promise<void> {
    const devtools = await page.devtools();
    const { currentIndex, entries } = await page.ask(devtools.send("Page.getNavigationHistory"));
    const earlier = entries[currentIndex - 1];
    if (earlier !== undefined && earlier.url !== "about:blank") {
      await page.ask(devtools.send("Page.navigateToHistoryEntry", { entryId: earlier.id }));
    } else if (this.#pages.length > 1) {
      await page.driver.close();
      this.#detach(page);
    } else {
      throw new ActionError("There is no earlier page.");
    }
  }

  /** Waits until the current page has settled, and describes it. A pop-up or a closed tab changes the current page. */
  async #report(signal: AbortSignal, failure?: string): Promise<Report> {
    let page: Page;
    let hasSettled: boolean;
    do {
      page = this.#current;
      hasSettled = await settled(page, signal);
    } while (page !== this.#current);
    if (!hasSettled) this.#note(`The page still loads after ${LOADING_MS / 1_000} s.`);
    await this.#downloads.settle(signal);
    const refusals = this.#proxy.takeRefusals();
    for (const { text } of refusals) this.#note(text);
    const isRefused = refusals.some(({ host }) => host === siteOf(page.url));
    // After a failure the page may still be the one before, whose refused connection the browser tries again by itself.
    const cause = failure === undefined || failure === "net::ERR_ABORTED" ? [] : [`The page did not open: ${failure}.`];
    if (isRefused || cause.length > 0) return { ok: false, text: [...cause, ...this.#takeNotes()].join("\n") };
    const [text, picture] = [await this.#readAs("view"), await this.#read(smallPicture)];
    // On a busy machine a pop-up comes when the page before it has settled.
    if (page !== this.#current) return this.#report(signal, failure);
    return { ...this.#wrapped(text), picture };
  }

  async #content(kind: SnapshotKind): Promise<Report> {
    return this.#wrapped(await this.#readAs(kind));
  }

  #readAs(kind: SnapshotKind): Promise<string> {
    return this.#read((page) => readPage(page, kind, this.#folder));
  }

  /** The text and the events since the last call, as foreign data. */
  #wrapped(text: string): Report {
    const notes = this.#takeNotes();
    return { ok: true, text: wrapData("web-page", this.url, [...notes, text].join("\n")) };
  }

  #note(text: string): void {
    if (this.#notes.length < MAX_NOTES) this.#notes.push(text);
  }

  #takeNotes(): readonly string[] {
    return this.#notes.splice(0);
  }
}

/** False after the limit. A page that is closed meanwhile has settled. */
async function settled(page: Page, signal: AbortSignal): Promise<boolean> {
  try {
    return await page.settle(LOADING_MS, signal);
  } catch (error) {
    if (error instanceof Closed) return true;
    throw error;
  }
}
