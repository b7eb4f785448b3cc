// Browser of the tests: Chrome or Chromium of this machine, or Debian's package.
import { findOnPath, installPackages, isExecutable } from "./system-packages.ts";

const programs = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"];

const applications = [
  "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
  "/Applications/Chromium.app/Contents/MacOS/Chromium",
];

/** Chromium without its recommended packages has no font and shows boxes for letters. */
const debianPackages = ["chromium", "fonts-dejavu-core", "fonts-liberation"];

/** Arguments for a browser that reaches only this machine. `--no-sandbox`, because root may run it. */
export const chromiumArguments: readonly string[] = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];

/** Path of Chrome or Chromium: `CHROME_PATH`, or else one on the PATH, or else a macOS application. */
export function findChromium(): string | undefined {
  const chosen = process.env["CHROME_PATH"];
  if (chosen !== undefined && chosen !== "") return chosen;
  for (const program of programs) {
    const path = findOnPath(program);
    if (path !== undefined) return path;
  }
  return applications.find(isExecutable);
}

/**
 * Path of Chrome or Chromium; installs Debian's packages when there is none.
 * @throws when it is missing and cannot be installed here.
 */
export async function ensureChromium(): Promise<string> {
  const present = findChromium();
  if (present !== undefined) return present;
  await installPackages(debianPackages, "a browser for VS Code");
  const installed = findChromium();
  if (installed === undefined) {
    throw new Error("apt-get installed chromium, but no chromium is on the PATH. Set CHROME_PATH to the browser.");
  }
  return installed;
}
