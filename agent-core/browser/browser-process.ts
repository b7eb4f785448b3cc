/** Process of the browser: its arguments, a profile in a temporary folder, and its end with the session. */
import { rmSync } from "node:fs";
import { rm } from "node:fs/promises";
import { OWN_VARIABLES } from "../host/terminals/backend.ts";
import { commandEnvironment } from "../host/terminals/command-environment.ts";
import { type GroupProcess, startGroup } from "../platform/children/group-process.ts";
import { messageOf } from "../platform/errors.ts";
import { makeOwnedFolder } from "../platform/make-folder.ts";
import { DevTools } from "./devtools.ts";

/** Time from the start to the first answer. A cold disk needs ten seconds. Milliseconds. */
const START_MS = 30_000;
/** Last part of the browser's log for the error of a failed start, in characters and lines. */
const LOG_CHARS = 2_000;
const LOG_LINES = 3;

/** No first run, no accounts, no services of the vendor, and no way to the network but the proxy. */
const ARGUMENTS = [
  "--remote-debugging-pipe",
  "--no-first-run",
  "--no-default-browser-check",
  "--no-pings",
  "--disable-background-networking",
  "--disable-breakpad",
  "--disable-client-side-phishing-detection",
  "--disable-component-update",
  "--disable-default-apps",
  "--disable-domain-reliability",
  "--disable-extensions",
  "--disable-search-engine-choice-screen",
  "--disable-sync",
  "--disable-quic",
  "--disable-features=MediaRouter,OptimizationHints,Translate,AutofillServerCommunication",
  "--force-webrtc-ip-handling-policy=disable_non_proxied_udp",
  "--webrtc-ip-handling-policy=disable_non_proxied_udp",
  "--password-store=basic",
  "--use-mock-keychain",
  "--mute-audio",
  "--window-size=1280,900",
];

export type BrowserStart = {
  /** Absolute. */
  readonly executable: string;
  readonly headless: boolean;
  /** Port of the address proxy. */
  readonly proxyPort: number;
};

export type BrowserProcess = {
  readonly devtools: DevTools;
  /** Absolute folder that ends with the browser. */
  readonly profile: string;
  /** Resolves when no process of the browser and nothing of its profile is left. */
  end(): Promise<void>;
};

/** Rejects with an error in one line when the browser does not start. */
export async function startBrowser({ executable, headless, proxyPort }: BrowserStart): Promise<BrowserProcess> {
  const profile = makeOwnedFolder("hermes-browser-");
  const args = [
    ...ARGUMENTS,
    ...(headless ? ["--headless=new", "--hide-scrollbars"] : []),
    // Chrome refuses to start for root with its sandbox.
    ...(process.getuid?.() === 0 ? ["--no-sandbox"] : []),
    `--user-data-dir=${profile}`,
    `--proxy-server=http://127.0.0.1:${proxyPort}`,
    "--proxy-bypass-list=<-loopback>",
    "about:blank",
  ];
  const env = commandEnvironment(OWN_VARIABLES, undefined);
  const group = await startGroup({ command: executable, args, env, cwd: profile, pipes: 2 }).catch((error: unknown) => {
    rmSync(profile, { recursive: true, force: true });
    throw new Error(`${executable} does not start: ${messageOf(error)}`);
  });
  const log = lastOutput(group);
  const end = async (): Promise<void> => {
    await group.end();
    await removeProfile(profile);
  };
  try {
    const [input, output] = group.pipes;
    if (input === undefined || output === undefined) throw new Error("it has no pipes");
    const devtools = new DevTools(input, output);
    await devtools.send("Browser.getVersion", undefined, { timeoutMs: START_MS });
    return { devtools, profile, end };
  } catch (error) {
    await end();
    const lines = log()
      .split("\n")
      .filter((line) => line.trim() !== "");
    const reasons = [messageOf(error), await group.ended, ...lines.slice(-LOG_LINES)];
    throw new Error(`${executable} does not start: ${reasons.join(" | ")}`);
  }
}

/** Reads what the browser prints, so that it never waits for a reader. The returned function gives its end. */
function lastOutput({ stdout, stderr }: GroupProcess): () => string {
  let text = "";
  stdout.resume();
  stderr.setEncoding("utf8").on("data", (part: string) => {
    text = (text + part).slice(-LOG_CHARS);
  });
  return () => text;
}

/** A helper of the browser may still write while the folder is deleted, so the deletion is repeated. */
async function removeProfile(profile: string): Promise<void> {
  await rm(profile, { recursive: true, force: true, maxRetries: 5, retryDelay: 50 }).catch(() => undefined);
}
