/** A running browser: its pages, the actions on the current one, and the reports about them for the model. */
import { abortable, Deadline } from "../platform/deadline.ts";
import { wrapData } from "../prompt/injection-scan.ts";
import { addressGuard } from "../web/address-guard.ts";
import { AddressProxy, PROXY_USER, SIGN_IN_ADDRESS } from "./address-proxy.ts";
import { type BrowserProcess, startBrowser } from "./browser-process.ts";
import { Lost, Unresponsive } from "./devtools.ts";
import { Downloads } from "./downloads.ts";
import { type BrowserSettings, findBrowser } from "./find-browser.ts";
import { ActionError, click, press, scroll, type } from "./input.ts";
import { type DialogAnswers, Page } from "./page.ts";
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

/** A tab was closed, by its page or by `back`. */
class Closed extends Error {}

export class Browser {
  readonly #process: BrowserProcess;
  readonly #proxy: AddressProxy;
  readonly #downloads: Downloads;
  readonly #folder: string;
  /** The last one is the current one. */
  readonly #pages: Page[] = [];
  readonly #notes: string[] = [];
  /** Address that a page asked for in a new tab, until the tab is attached. */
  #newTabUrl: string | undefined;

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
    const proxy = new AddressProxy(addressGuard(settings.allowPrivate ?? false));
    const proxyPort = await proxy.listen();
    try {
      const started = await startBrowser({ executable, headless: settings.headless ?? true, proxyPort });
      const browser = new Browser(started, proxy, folder);
      await browser.#open().catch(async (error: unknown) => {
        await started.end();
        throw error;
      });
      return browser;
    } catch (error) {
      proxy.close();
      throw error;
    }
  }

  private constructor(started: BrowserProcess, proxy: AddressProxy, folder: string) {
    this.#process = started;
    this.#proxy = proxy;
    this.#folder = folder;
    const { devtools, profile } = started;
    this.#downloads = new Downloads(devtools, { profile, folder }, (note) => this.#note(note));
  }

  get url(): string {
    return this.#pages.at(-1)?.url ?? "about:blank";
  }

  /** True when the browser stays usable after this error of a call. */
  isUsable(error: unknown): boolean {
    return !(error instanceof Lost) && this.#pages.length > 0;
  }

  async end(): Promise<void> {
    await this.#process.end();
    this.#proxy.close();
  }

  /** Opens an address. A server of this machine may be reached from then on: the caller asked the user. */
  async navigate(url: URL, signal: AbortSignal): Promise<Report> {
    this.#proxy.allow(url);
    const page = this.#begin({ isLeaving: true });
    const opening = page.send("Page.navigate", { url: url.href }, ANSWER_MS);
    const { errorText } = await abortable(opening, signal).catch((error: unknown) => {
      const isSlow = error instanceof Unresponsive;
      if (isSlow || signal.aborted) page.send("Page.stopLoading").catch(() => undefined); // the page has ended
      throw isSlow ? new ActionError(`${url.href} did not answer within ${ANSWER_MS / 1_000} s.`) : error;
    });
    return this.#report(signal, errorText);
  }

  /** Acts on the current page as a person does. Rejects with `ActionError` when it cannot. */
  async act(action: Action, { dialog, site, signal }: Acting): Promise<Report> {
    const current = siteOf(this.url);
    if (site !== undefined && site !== current) {
      throw new ActionError(`The page is now of ${current}, no longer of ${site}. Look at it, then repeat the action.`);
    }
    const answer = dialog === "dismiss" ? undefined : dialog;
    const page = this.#begin({ answer, isLeaving: action.kind === "back" });
    const note = await this.#perform(page, action);
    if (note !== undefined) this.#note(note);
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
    return this.#wrapped(await listImages(this.#current));
  }

  /** Picture of the page in view, for a model that accepts pictures. */
  picture(): Promise<Picture> {
    return largePicture(this.#current);
  }

  async #open(): Promise<void> {
    const { devtools } = this.#process;
    const first = Promise.withResolvers<void>();
    devtools.on("Target.attachedToTarget", ({ sessionId, targetInfo }) => {
      this.#attach(sessionId, targetInfo.targetId).then(first.resolve, first.reject);
    });
    devtools.on("Target.detachedFromTarget", ({ sessionId }) => this.#detach(sessionId));
    await this.#downloads.begin();
    await devtools.send("Browser.grantPermissions", { permissions: [] }); // all others are denied without a question
    await devtools.send("Target.setAutoAttach", {
      autoAttach: true,
      waitForDebuggerOnStart: true,
      flatten: true,
      filter: [{ type: "page" }],
    });
    if (!(await new Deadline(LOADING_MS).waitFor(first.promise))) {
      throw new Unresponsive(`the browser opened no page within ${LOADING_MS / 1_000} s`);
    }
    await first.promise;
    await this.#current.signIn(SIGN_IN_ADDRESS, { username: PROXY_USER, password: this.#proxy.password });
  }

  async #attach(session: string, targetId: string): Promise<void> {
    const { devtools } = this.#process;
    const isPopup = this.#pages.length > 0;
    if (this.#pages.length >= MAX_PAGES) {
      this.#note("The page opens tabs without end: the last one was closed.");
      await devtools.send("Target.closeTarget", { targetId }).catch(() => undefined); // closed by itself
      return;
    }
    const firstRef = this.#pages.reduce((highest, { refCount }) => Math.max(highest, refCount), 0);
    // A page of another site in a frame opens tabs without a report of their address.
    const isLoading = isPopup && /^https?:/.test(this.#newTabUrl ?? "https:");
    this.#newTabUrl = undefined;
    const page = new Page(devtools, { session, targetId, firstRef, isLoading }, (note) => this.#note(note));
    this.#pages.push(page);
    devtools.on(
      "Page.windowOpen",
      ({ url }) => {
        this.#newTabUrl = url;
      },
      session,
    );
    if (isPopup) this.#note("A new tab opened and is the page now; browser_back closes it.");
    try {
      await page.open();
    } catch (error) {
      if (!isPopup) throw error;
      this.#detach(session);
    }
  }

  #detach(session: string): void {
    const index = this.#pages.findIndex((page) => page.session === session);
    const [page] = index === -1 ? [] : this.#pages.splice(index, 1);
    page?.end(new Closed("the page was closed"));
    if (page !== undefined && index === this.#pages.length && index > 0) {
      this.#note("The tab was closed; the earlier page is the page now.");
    }
  }

  get #current(): Page {
    const page = this.#pages.at(-1);
    if (page === undefined) throw new Lost("the last page was closed");
    return page;
  }

  #begin(answers: DialogAnswers): Page {
    this.#proxy.takeRefusals();
    const page = this.#current;
    page.begin(answers);
    return page;
  }

  async #perform(page: Page, action: Action): Promise<string | undefined> {
    switch (action.kind) {
      case "click":
        return click(page, action.ref);
      case "type":
        await type(page, action.ref, action.text);
        if (action.submit) await press(page, "Enter");
        return undefined;
      case "press":
        await press(page, action.key);
        return undefined;
      case "scroll":
        await scroll(page, action);
        return undefined;
      case "back":
        await this.#back(page);
        return undefined;
    }
  }

  /** Opens the previous page of the history, or closes a tab that has none. */
  async #back(page: Page): Promise<void> {
    const { currentIndex, entries } = await page.send("Page.getNavigationHistory");
    const earlier = entries[currentIndex - 1];
    if (earlier !== undefined && earlier.url !== "about:blank") {
      await page.send("Page.navigateToHistoryEntry", { entryId: earlier.id });
    } else if (this.#pages.length > 1) {
      await this.#process.devtools.send("Target.closeTarget", { targetId: page.targetId });
      this.#detach(page.session);
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
    const refused = refusals.find(({ host }) => host === siteOf(page.url));
    const isDownload = failure === "net::ERR_ABORTED";
    if (refused !== undefined || (failure !== undefined && !isDownload)) {
      const notes = this.#takeNotes();
      return { ok: false, text: notes.length > 0 ? notes.join("\n") : `The page did not open: ${failure}.` };
    }
    const [content, picture] = [await this.#content("view"), await smallPicture(page)];
    return { ...content, picture };
  }

  async #content(kind: SnapshotKind): Promise<Report> {
    const page = this.#current;
    return this.#wrapped(await readPage(page, kind, this.#folder));
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
