import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { projectFolder } from "../../scripts/project.ts";
import { fail, hold, type ModelServer, say, startModelServer } from "../support/model-server/model-server.ts";
import { pictureOfFailure, VSCodeWindow } from "../support/vscode-browser.ts";

const KEY = "sk-live-key-123456";

// Keys and models where VS Code itself asks and shows: input boxes, notifications, the palette and the status bar.
describe("keys and models in VS Code", () => {
  let model: ModelServer;
  let window: VSCodeWindow;

  beforeAll(async () => {
    model = await startModelServer();
    window = await VSCodeWindow.open({ name: "models", model: "none" });
    await window.openPanel();
  });

  pictureOfFailure(() => window);

  afterAll(async () => {
    await window.close();
    await model.stop();
  });

  const picker = () => window.panel.getByRole("button", { name: /^Model: / });
  const host = () => new URL(model.baseUrl).host;
  const card = (name: RegExp) => window.panel.getByRole("button", { name });

  test("one click on the offline card of the first page is enough for an answer", async () => {
    await window.panel.getByText("Choose a model. You can").waitFor();
    await card(/^Try It Offline/).click();
    await window.panel.getByText("Choose a model. You can").waitFor({ state: "detached" });
    await expect.poll(() => picker().textContent()).toContain("Offline");
    await window.send("read a.txt");
    await window.panel.getByText("1|one").first().waitFor();
  });

  test("a command shows the first page again; a refused key is reported and not kept", async () => {
    await window.runCommand("Hermes: Set Up a Model");
    await card(/^Other Endpoint/).click();
    const input = window.quickInput.locator("input").first();
    const title = window.quickInput.locator(".quick-input-title");
    await expect.poll(() => title.textContent()).toContain("Address of the Endpoint");
    await input.fill(model.baseUrl);
    await input.press("Enter");
    await expect.poll(() => title.textContent()).toContain(`Key for ${host()}`);
    await window.picture("key-box");
    model.lookUps.set("/models", fail(401, `Incorrect API key: ${KEY}`));
    await input.fill(KEY);
    await input.press("Enter");
    const refusal = window.notifications.filter({ hasText: "was refused (401)" });
    await refusal.waitFor();
    expect(await refusal.textContent()).toContain(`The key for ${host()} was refused (401).`);
    expect(await refusal.textContent()).not.toContain("environment");
    model.lookUps.set("/models", { data: [{ id: "gpt-4.1" }, { id: "gpt-5" }] });
    await refusal.getByRole("button", { name: "Enter Another Key" }).click();
    await expect.poll(() => title.textContent()).toContain(`Key for ${host()}`);
    await input.fill(KEY);
    await input.press("Enter");
    await window.quickInput.getByText("gpt-5", { exact: true }).click();
    await expect.poll(() => title.textContent()).toContain("Where to Keep Keys");
    await window.picture("key-place");
    await input.press("Enter"); // the default
    await window.panel.getByText("gpt-5 answers from now on").first().waitFor();
    await expect.poll(() => picker().textContent()).toContain("gpt-5");
    model.script(say("hello with a key"));
    await window.send("hi");
    await window.panel.getByText("hello with a key").first().waitFor();
    expect(model.requests.at(-1)?.headers.authorization).toBe(`Bearer ${KEY}`);
    expect(readFileSync(join(window.home, ".env"), "utf8")).toBe(`HERMES_API_KEY=${KEY}\n`);
    expect(readFileSync(join(window.home, "config.yaml"), "utf8")).toContain(model.baseUrl); // for the command line
  });

  test("Set Key at an error asks for the key of its endpoint, and then the message is answered", async () => {
    model.script(fail(401, "expired"));
    await window.send("once more");
    await window.panel.getByText(`The key for ${host()} was refused (401).`).first().waitFor();
    await window.pictures("key-refused");
    await window.panel.getByRole("button", { name: "Set Key" }).click();
    const input = window.quickInput.locator("input").first();
    await expect
      .poll(() => window.quickInput.locator(".quick-input-title").textContent())
      .toContain(`Key for ${host()}`);
    model.script(say("hello with another key"));
    await input.fill(`${KEY}-2`);
    await input.press("Enter");
    await window.panel.getByText("hello with another key").first().waitFor();
    expect(model.requests.at(-1)?.headers.authorization).toBe(`Bearer ${KEY}-2`);
    expect(readFileSync(join(window.home, ".env"), "utf8")).toBe(`HERMES_API_KEY=${KEY}-2\n`);
  });

  test("the palette lists every model, and the status bar names the chosen one", async () => {
    await window.runCommand("Hermes: Choose Model…");
    await window.quickInput.getByText("Set API Key…").waitFor();
    await window.picture("model-palette");
    await window.quickInput.locator("input").first().fill("gpt-4.1");
    await window.quickInput.getByText("gpt-4.1", { exact: true }).first().click();
    await expect.poll(() => picker().textContent()).toContain("gpt-4.1");
    await window.page.locator(".statusbar-item", { hasText: "gpt-4.1" }).waitFor();
  });

  test("a queued message comes before the next turn of a goal, which then goes on", async () => {
    const verdict = (completeness: number) =>
      say(JSON.stringify({ correctness: 1, completeness, confidence: 1, missing_aspects: [], reason: "Seen." }));
    await window.newSession();
    const gate = hold();
    model.script({ parts: [gate.part, { type: "text", text: "A part." }] }, verdict(0), say("An answer."), verdict(1));
    const asked = model.nextRequest();
    await window.send("/goal Write it");
    await asked;
    await window.send("A question");
    await window.panel.getByRole("list", { name: "Queued messages" }).getByText("A question").waitFor();
    gate.release();
    await window.panel.getByText("The goal is reached.").waitFor();
    await window.panel.getByText("An answer.", { exact: true }).waitFor();
  });

  test("a plan in a document and the key outlive a reload of the window", async () => {
    await window.newSession();
    await window.send("/mode plan");
    model.script(say("1. Read a.txt.\n2. Change it."));
    await window.send("Plan the change.");
    await window.panel.getByRole("button", { name: "Edit the Plan" }).click();
    const lines = window.page.locator(".monaco-editor .view-lines").first();
    await lines.getByText("Change it.").waitFor();
    await window.backedUp("2. Change it.");
    await window.stored(/Untitled-\d/);
    await window.reload();
    model.script(say("It is changed and tested."));
    await window.page.getByRole("button", { name: "Carry Out This Plan" }).first().click();
    await window.panel.getByText("It is changed and tested.", { exact: true }).waitFor();
    expect(JSON.stringify(model.requests.at(-1)?.body.messages.at(-1))).toContain("2. Change it.");
    expect(model.requests.at(-1)?.headers.authorization).toBe(`Bearer ${KEY}-2`);
  });

  // The window is a remote one: its machine has the agents, and the tab of the user hides them.
  test("an added agent is in the list, and the settings open where it counts", async () => {
    const input = window.quickInput.locator("input").first();
    const program = join(projectFolder, "test", "support", "foreign-agent.mjs");
    await window.runCommand("Hermes: Choose Agent…");
    await window.picture("choose-agent");
    await window.quickInput.getByText("Add an Agent…").click();
    await expect.poll(() => input.getAttribute("placeholder")).toBe("my-agent --acp");
    await window.picture("add-agent");
    await input.fill(`${process.execPath} ${program}`);
    await input.press("Enter");
    await expect.poll(() => input.inputValue()).toBe("node");
    await input.fill("mine");
    await input.press("Enter");
    await window.quickInput.getByText("mine", { exact: true }).first().waitFor();
    await window.quickInput.getByText("Edit the Agents in the Settings").click();
    const tab = window.page.locator(".settings-tabs-widget .action-label.checked");
    await expect.poll(() => tab.textContent()).toContain("Remote");
    await window.page.locator(".setting-item-label", { hasText: "Agents" }).first().waitFor();
    await window.pictures("agents-in-settings");
  });
});
