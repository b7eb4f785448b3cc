import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { pictureOfFailure, VSCodeWindow } from "../support/vscode-browser.ts";

const FILES = { "settings.json": '{\n  "name": "demo",\n  "port": 80\n}\n' };

// An edit that breaks something says so in its card, with what VS Code's own language servers find.
describe("new problems", () => {
  let window: VSCodeWindow;

  beforeAll(async () => {
    window = await VSCodeWindow.open({ name: "problems", files: FILES });
    await window.openPanel();
  });

  pictureOfFailure(() => window);

  afterAll(async () => {
    await window.close();
  });

  const problems = () => window.panel.locator(".tool-card").last().locator(".problem");

  test("the card of an edit that breaks a file lists the new problems", async () => {
    await window.send(`replace '"port": 80' with '"port" 80' in settings.json`);
    await problems().first().waitFor();
    expect(await problems().first().textContent()).toMatch(/settings\.json:3:\d+.*[Cc]olon expected/s);
    await window.pictures("problems");
  });

  test("the card of an edit that fixes the file lists none", async () => {
    await window.send(`replace '"port" 80' with '"port": 80' in settings.json`);
    await window.panel.locator(".tool-card[data-status=completed]").nth(1).waitFor();
    expect(await problems().count()).toBe(0);
  });
});
