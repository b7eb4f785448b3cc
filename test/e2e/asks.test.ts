import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { pictureOfFailure, VSCodeWindow } from "../support/vscode-browser.ts";

// Requests to the user, and their end through a stop or a restart.
describe("permissions, questions, stop and restart", () => {
  let window: VSCodeWindow;

  beforeAll(async () => {
    window = await VSCodeWindow.open({ name: "asks" });
    await window.openPanel();
  });

  pictureOfFailure(() => window);

  afterAll(async () => {
    await window.close();
  });

  test("a risky command asks in the visible panel only; the card's answer runs it", async () => {
    await window.send("run rm a.txt");
    const card = window.panel.getByRole("alertdialog");
    await card.getByText("rm a.txt", { exact: true }).waitFor();
    await window.pictures("permission");
    expect(await window.notifications.count()).toBe(0);
    await card.getByRole("button", { name: "Allow once" }).click();
    await expect.poll(() => window.hasFile("a.txt"), { timeout: 20_000 }).toBe(false);
    await card.waitFor({ state: "detached" });
  });

  test("a rejection's reason reaches the agent", async () => {
    await window.send("run rm -r src");
    const card = window.panel.getByRole("alertdialog");
    await card.getByRole("button", { name: "No, because…" }).click();
    await card.getByLabel("Why not").fill("keep it");
    await card.getByRole("button", { name: "Send" }).click();
    await window.panel.getByText("the user said no: keep it").first().waitFor();
  });

  test("a question is a card with choices and free text", async () => {
    await window.send("ask me which colour? choices red, green or blue");
    const card = window.panel.getByRole("alertdialog");
    await card.getByText("green", { exact: true }).waitFor();
    await window.pictures("question");
    await card.getByLabel("Your answer").fill("violet");
    await card.getByRole("button", { name: "Answer" }).click();
    await window.panel.getByText("The user answered: violet").first().waitFor();
  });

  test("stop ends a running command, and the next message is answered", async () => {
    await window.send("run sleep 300 | cat");
    await window.toolCalls("in_progress").first().waitFor();
    await window.panel.getByRole("button", { name: "Stop" }).click();
    await window.panel.getByText("Stopped").first().waitFor();
    await window.send("create b.txt with hello");
    await expect.poll(() => window.hasFile("b.txt"), { timeout: 20_000 }).toBe(true);
  });

  test("a restarted agent continues the session", async () => {
    await window.runCommand("Hermes: Restart Agent");
    await window.panel.getByText("create b.txt with hello").first().waitFor();
    await window.composer.waitFor();
    await window.send("read b.txt");
    await expect.poll(() => window.panel.getByText("1|hello").count(), { timeout: 20_000 }).toBeGreaterThan(0);
  });
});
