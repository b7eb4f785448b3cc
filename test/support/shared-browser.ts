/** The browser of the tests of a worker. */
import { type BrowserContext, chromium, type Page } from "playwright-core";
import { chromiumArguments, ensureChromium } from "../../scripts/system-programs.ts";

let started: Promise<BrowserContext> | undefined;

/**
 * One browser with one profile, which ends with this worker, for all pages of its tests. It keeps its cache from page to page,
 * as a user's does. A profile for each page would be another window, whose frame alone takes a second of processor time, and
 * VS Code in it would be compiled again. A browser in another process would send each message of a page twice.
 */
export function sharedBrowser(): Promise<BrowserContext> {
  started ??= start();
  return started;
}

async function start(): Promise<BrowserContext> {
  return chromium.launchPersistentContext("", { executablePath: await ensureChromium(), args: [...chromiumArguments] });
}

/** A window with a profile of its own, for pages that are in use beside others. Whoever asked for it closes it. */
export async function separateWindow(): Promise<BrowserContext> {
  const browser = (await sharedBrowser()).browser();
  if (browser === null) throw new Error("The browser of the tests opens no further window.");
  return browser.newContext();
}

/** Pages of other origins, which may be in use in the same browser, are left as they are. */
export function allowClipboard(page: Page): Promise<void> {
  const { origin } = new URL(page.url());
  return page.context().grantPermissions(["clipboard-read", "clipboard-write"], { origin });
}
