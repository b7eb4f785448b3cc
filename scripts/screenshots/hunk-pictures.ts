// npm run screenshots -- FOLDER --hunks [KIND…]: sheets of pictures of the review in VS Code, every kind of hunk in four
// themes, and in a narrow editor. The workbench's lenses and hovers are those of the sources; nothing needs to be built.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { format } from "node:util";
import * as esbuild from "esbuild";
import { type Browser, chromium, type Page } from "playwright-core";
import type { PictureOrder } from "../../test/vscode/hunk-pictures.ts";
import { lazySchemas } from "../lazy-schemas.ts";
import { projectFolder } from "../project.ts";
import { readyMade } from "../ready-made.ts";
import { chromiumArguments, ensureChromium } from "../system-programs.ts";
import { startVSCodeServer } from "../vscode-server.ts";

/** Themes by their ids, with the class of the workbench. */
const THEMES = new Map([
  ["Dark Modern", "vs-dark"],
  ["Light Modern", "vs"],
  ["Default High Contrast", "hc-black"],
  ["Default High Contrast Light", "hc-light"],
]);

const PICTURES_OF_SHEET = 6;
const HEIGHT = 330;

/** Time in which VS Code draws lenses after it has computed them. Milliseconds. */
const SETTLE_MS = 600;

/** Limit for a step of a busy machine. Milliseconds. */
const WINDOW_LIMIT_MS = 120_000;

const settings = {
  "window.autoDetectColorScheme": false,
  "workbench.statusBar.visible": false,
  "workbench.activityBar.location": "hidden",
  "breadcrumbs.enabled": false,
  "git.enabled": false,
};

type Picture = { readonly theme: string; readonly name: string; readonly png: string };

/** Takes pictures at normal width in all themes and at narrow width in one. `kinds`: names; empty means all. */
export async function takeHunkPictures(folder: string, kinds: readonly string[]): Promise<void> {
  const root = mkdtempSync(join(tmpdir(), "hermes-hunks-"));
  const executablePath = await ensureChromium();
  const browser = await chromium.launch({ executablePath, args: [...chromiumArguments] });
  try {
    await bundleHost(join(root, "host.cjs"));
    for (const [name, width, themes] of [
      ["normal", 1000, [...THEMES.keys()]],
      ["narrow", 520, ["Dark Modern"]],
    ] as const) {
      const order = { taken: join(root, "taken"), themes, kinds };
      await saveSheets(browser, folder, name, await takePictures(browser, root, width, order));
    }
  } finally {
    await browser.close();
    rmSync(root, { recursive: true, force: true });
  }
}

async function bundleHost(outfile: string): Promise<void> {
  await esbuild.build({
    bundle: true,
    entryPoints: [join(projectFolder, "test", "vscode", "hunk-pictures.ts")],
    outfile,
    format: "cjs",
    define: { "import.meta.url": "__moduleUrl" },
    banner: { js: 'const __moduleUrl = require("node:url").pathToFileURL(__filename).href;' },
    platform: "node",
    target: "node22",
    mainFields: ["module", "main"],
    external: ["vscode"],
    plugins: [readyMade, lazySchemas],
    logLevel: "warning",
  });
}

async function takePictures(browser: Browser, root: string, width: number, order: PictureOrder): Promise<Picture[]> {
  const run = mkdtempSync(join(root, "run-"));
  const workspace = join(run, "workspace");
  mkdirSync(workspace);
  const server = await startVSCodeServer({
    userDataFolder: join(run, "user-data"),
    extensionsFolder: join(run, "extensions"),
    automation: true,
    settings,
    env: { HERMES_HUNK_PICTURES: JSON.stringify(order), HERMES_HOME: join(run, "home") },
  });
  try {
    const page = await browser.newPage({ viewport: { width, height: HEIGHT } });
    page.setDefaultTimeout(WINDOW_LIMIT_MS);
    const { promise: ended, resolve: end, reject: fail } = Promise.withResolvers<number>();
    const pictures: Picture[] = [];
    await page.exposeFunction("codeAutomationExit", end);
    await page.exposeFunction("codeAutomationLog", (_type: string, args: readonly unknown[]) => {
      const wanted = /\[picture\] (\{.*\})/.exec(format(...args))?.[1];
      if (wanted === undefined) return;
      const { theme, name, hoverOver } = JSON.parse(wanted);
      takePicture(page, theme, hoverOver)
        .then((png) => pictures.push({ theme, name, png }))
        .then(() => writeFileSync(order.taken, ""), fail);
    });
    const remote = `vscode-remote://${server.authority}`;
    await page.goto(
      server.windowUrl(workspace, [
        ["extensionDevelopmentPath", `${remote}${projectFolder}`],
        ["extensionTestsPath", `${remote}${join(root, "host.cjs")}`],
      ]),
      { waitUntil: "commit" }, // a busy machine is slow with the rest, and the pictures wait for it
    );
    await ended;
    await page.close();
    return pictures;
  } finally {
    await server.stop();
  }
}

async function takePicture(page: Page, theme: string, hoverOver: string | undefined): Promise<string> {
  await page.locator(`.monaco-workbench.${THEMES.get(theme)}`).waitFor();
  // A change without a mark has no lens either, which the picture then shows.
  const drawn = page.locator(".codelens-decoration a").first().waitFor({ timeout: 10_000 });
  await drawn.catch(() => console.log("There is no lens in the next picture."));
  await page.waitForTimeout(SETTLE_MS);
  if (hoverOver !== undefined) {
    await page
      .locator(".view-line", { hasText: hoverOver })
      .first()
      .hover({ position: { x: 60, y: 8 } });
    await page.locator(".monaco-hover:visible").first().waitFor();
  }
  const png = await page.locator(".part.editor").screenshot();
  await page.mouse.move(0, 0);
  return png.toString("base64");
}

/** One image for several pictures, numbered as the kinds are. */
async function saveSheets(browser: Browser, folder: string, name: string, pictures: readonly Picture[]): Promise<void> {
  const page = await browser.newPage({ viewport: { width: 1040, height: 800 } });
  for (const theme of new Set(pictures.map((picture) => picture.theme))) {
    const ofTheme = pictures.filter((picture) => picture.theme === theme);
    for (let from = 0; from < ofTheme.length; from += PICTURES_OF_SHEET) {
      const images = ofTheme
        .slice(from, from + PICTURES_OF_SHEET)
        .map(({ png }, index) => `<p>${from + index + 1}</p><img src="data:image/png;base64,${png}">`);
      await page.setContent(`<body style="background:#888">${images.join("")}`);
      const file = `${name}-${theme}-${1 + from / PICTURES_OF_SHEET}.png`.replaceAll(" ", "-");
      await page.screenshot({ path: join(folder, file), fullPage: true });
    }
  }
  await page.close();
}
