/** Browser of the user for the browser tools: the setting `browser.executable`, or else the known places of each system. */
import { join } from "node:path";
import type { Config } from "../config/sections.ts";
import { canRun, findProgram } from "../platform/find-program.ts";

export type BrowserSettings = Partial<Config["browser"]>;

/** On PATH, the user's usual browser first. */
const PROGRAMS =
  "google-chrome google-chrome-stable chromium chromium-browser chrome microsoft-edge microsoft-edge-stable".split(" ");

const APPLICATIONS = [
  "Google Chrome.app/Contents/MacOS/Google Chrome",
  "Chromium.app/Contents/MacOS/Chromium",
  "Microsoft Edge.app/Contents/MacOS/Microsoft Edge",
];

/** Below the folders of programs. */
const WINDOWS_FILES = [
  "Google\\Chrome\\Application\\chrome.exe",
  "Chromium\\Application\\chrome.exe",
  "Microsoft\\Edge\\Application\\msedge.exe",
];

/** Result of the search, which reads dozens of folders. A browser that is installed later needs a new process. */
let known: { readonly path: string | undefined } | undefined;

/** Absolute path of the browser; undefined when there is none. `executable`: the user's choice, and no other counts. */
export function findBrowser(executable?: string): string | undefined {
  if (executable !== undefined) return canRun(executable) ? executable : findProgram(executable);
  known ??= { path: installed() };
  return known.path;
}

function installed(): string | undefined {
  for (const name of PROGRAMS) {
    const path = findProgram(name);
    if (path !== undefined) return path;
  }
  return applications().find(canRun);
}

function applications(): readonly string[] {
  const { HOME = "", PROGRAMFILES = "", LOCALAPPDATA = "", "PROGRAMFILES(X86)": older = "" } = process.env;
  switch (process.platform) {
    case "darwin":
      return ["/Applications", join(HOME, "Applications")].flatMap((folder) =>
        APPLICATIONS.map((file) => join(folder, file)),
      );
    case "win32":
      return [PROGRAMFILES, older, LOCALAPPDATA]
        .filter((folder) => folder !== "")
        .flatMap((folder) => WINDOWS_FILES.map((file) => join(folder, file)));
    default:
      return [];
  }
}
