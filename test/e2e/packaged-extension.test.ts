import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { projectFolder } from "../../scripts/project.ts";
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

test("the panel is there again after the window was reloaded", async () => {
  await window.reload();
  await window.composer.waitFor();
});

for (const theme of ["light", "dark", "high-contrast"] as const) {
  test(`the empty panel at 320 px in the ${theme} theme, for the eye`, async () => {
    await window.setTheme(theme);
    await window.setSideBarWidth(320);
    await window.composer.waitFor();
    await window.screenshot("empty-panel");
  });
}

test("VS Code lists the packaged version as installed", async () => {
  const { version } = JSON.parse(readFileSync(join(projectFolder, "package.json"), "utf8"));
  await window.runCommand("Extensions: Show Installed Extensions");
  await window.page.locator(".extension-list-item", { hasText: "Hermes" }).first().click();
  await window.page.locator(".extension-editor").getByText(version, { exact: true }).waitFor();
});
