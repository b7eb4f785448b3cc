/** Starts the user's browser with a profile in a temporary folder, and no way to the network but the proxy. */
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { type BrowserContext, chromium } from "playwright-core";
import { OWN_VARIABLES } from "../host/terminals/backend.ts";
import { commandEnvironment } from "../host/terminals/command-environment.ts";
import { messageOf } from "../platform/errors.ts";
import { makeOwnedFolder } from "../platform/make-folder.ts";

/** Time from the start to the first page. A cold disk needs ten seconds. Milliseconds. */
const START_MS = 30_000;
const VIEW = { width: 1280, height: 800 };

/** No accounts, no services of the vendor, and no connection past the proxy. Added to Playwright's own arguments. */
const ARGUMENTS = [
  "--no-pings --disable-domain-reliability --disable-sync --disable-quic --mute-audio",
  "--force-webrtc-ip-handling-policy=disable_non_proxied_udp --webrtc-ip-handling-policy=disable_non_proxied_udp",
].flatMap((line) => line.split(" "));

/** Arguments of Playwright for tests, which would take protection from a user's browser. */
const LEFT_OUT = ["--disable-popup-blocking", "--disable-ipc-flooding-protection"];

export type BrowserStart = {
  /** Absolute. */
  readonly executable: string;
  readonly headless: boolean;
  readonly proxy: { readonly port: number; readonly username: string; readonly password: string };
};

export type StartedBrowser = {
  readonly context: BrowserContext;
  /** Absolute folder of files that are not complete. */
  readonly downloads: string;
  /** Resolves when no process of the browser and nothing of its profile is left. */
  end(): Promise<void>;
};

/** Rejects with an error in one line when the browser does not start. */
export async function startBrowser({ executable, headless, proxy }: BrowserStart): Promise<StartedBrowser> {
  const profile = makeOwnedFolder("hermes-browser-");
  const downloads = join(profile, "downloads");
  let context: BrowserContext | undefined;
  const end = async (): Promise<void> => {
    await context?.close().catch(() => undefined); // it has ended by itself
    await removeProfile(profile);
  };
  try {
    context = await chromium.launchPersistentContext(profile, {
      executablePath: executable,
      headless,
      args: ARGUMENTS,
      ignoreDefaultArgs: LEFT_OUT,
      // Chrome refuses to start for root with its sandbox.
      chromiumSandbox: process.getuid?.() !== 0,
      env: commandEnvironment(OWN_VARIABLES, undefined),
      proxy: {
        server: `http://127.0.0.1:${proxy.port}`,
        username: proxy.username,
        password: proxy.password,
        bypass: "<-loopback>",
      },
      viewport: headless ? VIEW : null,
      artifactsDir: join(profile, "artifacts"),
      downloadsPath: downloads,
      handleSIGINT: false,
      handleSIGTERM: false,
      handleSIGHUP: false,
      timeout: START_MS,
    });
    await context.grantPermissions([]); // all others are denied without a question
    return { context, downloads, end };
  } catch (error) {
    await end();
    throw new Error(`${executable} does not start: ${startFault(messageOf(error))}`);
  }
}

/** The exit code or the first line of an error that ends with the browser's log. */
function startFault(text: string): string {
  const code = /<process did exit: exitCode=(\d+)/.exec(text)?.[1];
  return code === undefined ? (text.split("\n")[0] ?? "") : `it ended with exit code ${code}`;
}

/** A helper of the browser may still write while the folder is deleted, so the deletion is repeated. */
async function removeProfile(profile: string): Promise<void> {
  await rm(profile, { recursive: true, force: true, maxRetries: 5, retryDelay: 50 }).catch(() => undefined);
}
