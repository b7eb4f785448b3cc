import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { projectFolder } from "../../scripts/project.ts";
import { readTheme, type Theme, themes } from "../support/panel/panel-theme.ts";
import { pictureOfFailure, VSCodeWindow } from "../support/vscode-browser.ts";

let window: VSCodeWindow;

beforeAll(async () => {
  window = await VSCodeWindow.open({ name: "packaged-extension" });
});

pictureOfFailure(() => window);

afterAll(async () => {
  await window.close();
});

test("the packaged extension activates when its view is opened, and one can type", async () => {
  await window.openPanel();
  await window.composer.fill("hello");
  expect(await window.composer.inputValue()).toBe("hello");
  await window.composer.fill("");
});

test("the themes of the panel's tests are VS Code's own (vitest -u records them)", async () => {
  const looks: Record<string, unknown> = {};
  let styles = "";
  for (const theme of Object.keys(themes) as Theme[]) {
    await window.setTheme(theme);
    // VS Code hands a theme to the panel later than it shows it itself.
    await window.panel.locator(`body[data-vscode-theme-name="${themes[theme]}"]`).waitFor();
    const { styles: added, ...look } = await readTheme(window.panel.locator("html"));
    looks[theme] = look;
    styles = added;
  }
  const text = `${JSON.stringify({ styles, themes: looks }, null, 2)}\n`;
  await expect(text).toMatchFileSnapshot("../support/panel/panel-themes.json");
});

test("VS Code lists the packaged version as installed", async () => {
  const { version } = JSON.parse(readFileSync(join(projectFolder, "package.json"), "utf8"));
  await window.runCommand("Extensions: Show Installed Extensions");
  await window.page.locator(".extension-list-item", { hasText: "Hermes" }).first().click();
  await window.page.locator(".extension-editor").getByText(version, { exact: true }).waitFor();
});
