import { execFileSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type ModelServer, say, startModelServer } from "../support/model-server/model-server.ts";
import { pictureOfFailure, VSCodeWindow } from "../support/vscode-browser.ts";

const MENU = '{\n  "open": true\n  "close": false\n}\n';

// The search after @ over what only VS Code knows: its index of files, the selection, the problems, the Git extension.
describe("mentions", () => {
  let model: ModelServer;
  let window: VSCodeWindow;

  beforeAll(async () => {
    model = await startModelServer();
    const prepare = (cwd: string): void => {
      const git = (...args: readonly string[]) =>
        execFileSync("git", ["-c", "user.name=A", "-c", "user.email=a@b.invalid", ...args], { cwd });
      git("init", "-q");
      git("add", ".");
      git("commit", "-qm", "first");
      writeFileSync(join(cwd, "prices.ts"), "export const price = 2;\n");
      mkdirSync(join(cwd, "Über uns"));
      writeFileSync(join(cwd, "Über uns", "team.md"), "# Team\n");
    };
    const files = { "menu.json": MENU, "prices.ts": "export const price = 1;\n" };
    window = await VSCodeWindow.open({ name: "mentions", files, model, prepare });
  });

  pictureOfFailure(() => window);

  afterAll(async () => {
    await window.close();
    await model.stop();
  });

  const options = () => window.panel.getByRole("listbox", { name: "Context" }).getByRole("option");
  const chips = () => window.panel.locator(".composer .chip-name");
  const mention = async (query: string, name: string | RegExp): Promise<void> => {
    await window.composer.press("End");
    await window.composer.pressSequentially(` @${query}`);
    await options().filter({ hasText: name }).first().click();
  };

  test("a file, a folder, the selection, problems and changes are chips, and reach the model", async () => {
    await window.runCommand("Go to File...");
    await window.quickInput.locator("input").first().fill("menu.json");
    await window.quickInput.locator(".monaco-list-row", { hasText: "menu.json" }).first().click();
    await window.page.locator(".squiggly-error").first().waitFor();
    await window.page.keyboard.press("Control+Home");
    await window.page.keyboard.press("Shift+ArrowDown");
    await window.page.keyboard.press("Shift+ArrowDown");
    await window.openPanel();
    await window.composer.pressSequentially("look at");
    await mention("prices", "prices.ts");
    await mention("uber", "Über uns");
    await mention("selection", "menu.json");
    await mention("probl", "Problems in menu.json");
    await mention("git", "Git changes");
    await mention("team", "team.md");
    await window.pictures("mentions");
    await chips().filter({ hasText: "team.md" }).press("Delete");
    await expect
      .poll(() => chips().allTextContents())
      .toEqual(["prices.ts", "Über uns", "menu.json:1-2", "Problems in menu.json", "Git changes"]);
    model.script(say("I see them all."));
    await window.composer.press("Enter");
    await window.panel.getByText("I see them all.", { exact: true }).waitFor();
    const sent = model.requests.at(-1)?.body.messages.at(-1)?.["content"];
    const texts = [sent].flat().map((part) => (typeof part === "string" ? part : (part as { text: string }).text));
    const at = (path: string): string => join(window.workspace, path);
    const all = texts.join("\n\n");
    expect(all).toContain(`[Attached file: ${at("prices.ts")}]`);
    expect(all).toContain(`[Attached folder: ${at("Über uns")}]`);
    expect(all).toContain(`<attachment name="${at("menu.json")}" lines="1-2">\n{\n  "open": true\n</attachment>`);
    expect(all).toMatch(/menu\.json:3: error: .*\(json\)/);
    expect(all).toContain("-export const price = 1;\n+export const price = 2;");
    expect(all).toContain("diff --git a/Über uns/team.md b/Über uns/team.md\nnew file\n+# Team\n");
    expect(all).not.toContain("team.md]");
    expect(await window.panel.locator(".user .chip-name").allTextContents()).toHaveLength(5);
  });

  // A browser's window is a remote one, whose drags name files as vscode-remote://.
  test.each([
    ["the Explorer", ".explorer-folders-view .monaco-list-row"],
    ["a tab", ".tabs-container .tab"],
  ])("a file that is dragged from %s with Shift is attached", async (_, place) => {
    await window.runCommand("Hermes: New Session");
    await window.panel.locator(".user .bubble").first().waitFor({ state: "detached" });
    await window.runCommand("View: Show Explorer");
    await window.openPanel();
    const from = await window.page.locator(place, { hasText: "menu.json" }).first().boundingBox();
    const to = await window.page.locator(".part.auxiliarybar").boundingBox();
    if (from === null || to === null) throw new Error("The file or the side bar is not visible.");
    const { mouse, keyboard } = window.page;
    await mouse.move(from.x + 30, from.y + from.height / 2);
    await mouse.down();
    await mouse.move(to.x - 60, to.y + to.height / 2, { steps: 4 });
    await keyboard.down("Shift");
    await mouse.move(to.x + to.width / 2, to.y + to.height / 2, { steps: 8 });
    await window.panel.getByText("Drop to attach to the message").waitFor();
    await mouse.up();
    await keyboard.up("Shift");
    await expect.poll(() => chips().allTextContents()).toContain("menu.json");
    expect(await window.panel.getByText("is not attached").count()).toBe(0);
  });
});
