/** VS Code's colour themes as a panel sees them. test/e2e/packaged-extension.test.ts compares them with a real VS Code. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Locator, Page } from "playwright-core";
import { webviewFolder } from "../../../scripts/project.ts";

/** Names of the themes that the tests use, by the names that VS Code's settings give them. */
export const themes = {
  light: "Light Modern",
  dark: "Dark Modern",
  "high-contrast": "Dark High Contrast",
  "high-contrast-light": "Light High Contrast",
} as const;

export type Theme = keyof typeof themes;

/** Classes of the body, and the values of the variables that the panel uses. */
type PanelTheme = {
  readonly classes: string;
  readonly variables: Readonly<Record<string, string>>;
};

/** `styles` is the style sheet that VS Code adds to every panel. */
export type PanelLook = { readonly styles: string; readonly themes: Readonly<Record<Theme, PanelTheme>> };

const recorded = (): PanelLook => JSON.parse(readFileSync(new URL("panel-themes.json", import.meta.url), "utf8"));

/** Reads the theme of a panel in VS Code; `html` is the root element of the panel. */
export async function readTheme(html: Locator): Promise<PanelTheme & Pick<PanelLook, "styles">> {
  const styles = await html.locator("#_defaultStyles").evaluate((element) => element.textContent ?? "");
  const theme = await html.evaluate(READ, usedVariables(styles));
  return { ...(theme as PanelTheme), styles };
}

/** Gives a panel in a page of its own the look that it has in VS Code. */
export async function applyTheme(page: Page, theme: Theme): Promise<void> {
  const { styles, themes: looks } = recorded();
  await page.locator("html").evaluate(APPLY, { styles, ...looks[theme] });
}

/** Names of VS Code's variables in these styles and in the bundle of the panel, in order. */
function usedVariables(styles: string): readonly string[] {
  const files = readdirSync(webviewFolder, { recursive: true, encoding: "utf8" });
  const code = files
    .filter((file) => /\.(css|js)$/.test(file))
    .map((file) => readFileSync(join(webviewFolder, file), "utf8"));
  const names = [styles, ...code].flatMap((text) => text.match(/--(?:vscode|monaco)-[\w-]+/g) ?? []);
  return [...new Set(names)].sort((one, other) => (one < other ? -1 : 1));
}

/** Runs in the browser, whose names are not among the types of this project. */
const READ = new Function(
  "html",
  "names",
  `const values = getComputedStyle(html);
  return {
    classes: document.body.className,
    variables: Object.fromEntries(names.map((name) => [name, values.getPropertyValue(name)])),
  };`,
) as (html: unknown, names: readonly string[]) => unknown;

/** Runs in the browser. A panel is transparent, and VS Code's side bar is behind it. */
const APPLY = new Function(
  "html",
  "look",
  `document.body.className = look.classes;
  for (const [name, value] of Object.entries(look.variables)) html.style.setProperty(name, value);
  html.style.background = "var(--vscode-sideBar-background)";
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(look.styles);
  document.adoptedStyleSheets = [sheet];`,
) as (html: unknown, look: object) => unknown;

/** Script for the browser, after axe-core's source: failures as rule, element and reason. `rules`: default all. */
export function axeFailures(rules?: readonly string[]): string {
  const options = { resultTypes: ["violations"], ...(rules && { runOnly: rules }) };
  return `axe
  .run(${JSON.stringify(options)})
  .then(({ violations }) => violations.flatMap(({ id, nodes }) =>
    nodes.map(({ html, any, all, none }) => id + ": " + html.slice(0, 160) + " " + [...any, ...all, ...none].map((check) => check.message).join(" ")),
  ))`;
}
