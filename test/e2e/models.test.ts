import { afterAll, beforeAll, describe, expect, inject, test } from "vitest";
import { fail, type ModelServer, say, startModelServer } from "../support/model-server/model-server.ts";
import { pictureOfFailure, VSCodeWindow } from "../support/vscode-browser.ts";

const KEY = "sk-live-key-123456";

// From nothing to a model, as somebody does who opens the panel for the first time.
describe("first run, keys and the model picker", () => {
  let model: ModelServer;
  let window: VSCodeWindow;

  beforeAll(async () => {
    model = await startModelServer(inject("vscode").localModelPort);
    model.lookUps.set("/models", { data: [{ id: "qwen3:8b" }, { id: "gpt-4.1" }, { id: "gpt-5" }] });
    window = await VSCodeWindow.open({ name: "models", model: "none" });
    await window.openPanel();
  });

  pictureOfFailure(() => window);

  afterAll(async () => {
    await window.close();
    await model.stop();
  });

  const picker = () => window.panel.getByRole("button", { name: /^Model: / });
  const card = (name: RegExp) => window.panel.getByRole("button", { name });

  test("the page offers what answers here, offline, and keys", async () => {
    await window.panel.getByText("Choose what answers").waitFor();
    // A page waits 200 ms for the server, which may stand still for longer: then the next one has it.
    const offersServer = (): Promise<boolean> =>
      card(/^Use LM Studio/)
        .waitFor({ timeout: 5_000 })
        .then(
          () => true,
          () => false,
        );
    while (!(await offersServer())) await window.runCommand("Hermes: New Session");
    await card(/^Try it offline/).waitFor();
    for (const provider of [/^OpenAI/, /^OpenRouter/, /^Anthropic/, /^Other endpoint/]) await card(provider).waitFor();
  });

  for (const theme of ["light", "dark", "high-contrast"] as const) {
    test(`the page at 320 and 200 px in the ${theme} theme, for the eye`, async () => {
      await window.setTheme(theme);
      await window.setSideBarWidth(320);
      await window.screenshot("first-run");
      await window.setSideBarWidth(200);
      await window.screenshot("first-run-200");
    });
  }

  test("one click on the offline card is enough for an answer, and the page is gone", async () => {
    await window.setTheme("dark");
    await window.setSideBarWidth(320);
    await card(/^Try it offline/).click();
    await window.panel.getByText("Choose what answers").waitFor({ state: "detached" });
    await expect.poll(() => picker().textContent()).toContain("Offline");
    await window.send("read a.txt");
    await window.panel.getByText("1|one").first().waitFor();
    await window.runCommand("Hermes: New Session");
    await window.panel.getByText("You are using the built-in offline interpreter").waitFor();
    expect(await picker().textContent()).toContain("Offline");
  });

  test("the picker is searched and used by keyboard alone", async () => {
    await picker().focus();
    await window.page.keyboard.press("Enter");
    const search = window.panel.getByRole("combobox", { name: "Search: Model" });
    await search.waitFor();
    await window.screenshot("model-picker");
    await window.page.keyboard.type("qwen");
    await expect.poll(() => window.panel.getByRole("listbox").getByRole("option").count()).toBe(1);
    await window.page.keyboard.press("Enter");
    await expect.poll(() => picker().textContent()).toContain("qwen3:8b");
    await search.waitFor({ state: "detached" });
    await window.page.locator(".statusbar-item", { hasText: "qwen3:8b" }).waitFor();
    model.script(say("hello from the local one"));
    await window.send("hi");
    await window.panel.getByText("hello from the local one").first().waitFor();
  });

  for (const theme of ["light", "high-contrast", "dark"] as const) {
    test(`the picker at 200 px in the ${theme} theme, for the eye`, async () => {
      await window.setTheme(theme);
      await window.setSideBarWidth(200);
      await picker().click();
      await window.panel.getByRole("combobox", { name: "Search: Model" }).waitFor();
      await window.screenshot("model-picker-200");
      await window.page.keyboard.press("Escape");
      expect(await picker().getAttribute("aria-expanded")).toBe("false");
      await window.setSideBarWidth(320);
    });
  }

  test("a reasoning model has its effort beside it", async () => {
    await window.panel.getByLabel("Reasoning effort").selectOption("low");
    model.script(say("thought little"));
    await window.send("think");
    await window.panel.getByText("thought little").first().waitFor();
    expect(model.requests.at(-1)?.body).toMatchObject({ model: "qwen3:8b", reasoning_effort: "low" });
  });

  test("the page comes back by command; a key that is refused is said so and not kept", async () => {
    await window.runCommand("Hermes: Set Up a Model");
    await card(/^Other endpoint/).click();
    const input = window.quickInput.locator("input").first();
    const title = window.quickInput.locator(".quick-input-title");
    await expect.poll(() => title.textContent()).toContain("address of the endpoint");
    await input.fill(model.baseUrl);
    await input.press("Enter");
    await expect.poll(() => title.textContent()).toContain("key for Other endpoint");
    model.lookUps.set("/models", fail(401, `Incorrect API key: ${KEY}`));
    await input.fill(KEY);
    await input.press("Enter");
    const refusal = window.notifications.filter({ hasText: "was refused (401)" });
    await refusal.waitFor();
    expect(await refusal.textContent()).not.toContain(KEY);
    model.lookUps.set("/models", { data: [{ id: "gpt-4.1" }, { id: "gpt-5" }] });
    await refusal.getByRole("button", { name: "Enter Another Key" }).click();
    await expect.poll(() => title.textContent()).toContain("key for Other endpoint");
    await input.fill(KEY);
    await input.press("Enter");
    await window.quickInput.getByText("gpt-5", { exact: true }).click();
    await window.panel.getByText("gpt-5 answers from now on").first().waitFor();
    await expect.poll(() => picker().textContent()).toContain("gpt-5");
    model.script(say("hello with a key"));
    await window.send("hi");
    await window.panel.getByText("hello with a key").first().waitFor();
    expect(model.requests.at(-1)?.headers.authorization).toBe(`Bearer ${KEY}`);
  });

  test("a slash offers the commands, and /model takes a part of a name", async () => {
    await window.composer.fill("/");
    await window.panel.getByRole("option", { name: /^\/model/ }).waitFor();
    await window.screenshot("slash");
    await window.send("/model gpt-4.1");
    await expect.poll(() => picker().textContent()).toContain("gpt-4.1");
  });

  test("the session's choice is there after a reload, and a new session begins with the last one", async () => {
    await window.runCommand("Hermes: New Session");
    await window.panel.getByText("Reads, edits and runs things").waitFor();
    await expect.poll(() => picker().textContent()).toContain("gpt-4.1");
    model.script(say("hello again"));
    await window.send("hi");
    await window.panel.getByText("hello again").first().waitFor();
    await window.reload();
    await window.panel.getByText("hello again").first().waitFor();
    await expect.poll(() => picker().textContent(), { timeout: 20_000 }).toContain("gpt-4.1");
  });

  test("the palette lists every model with the current one marked", async () => {
    await window.runCommand("Hermes: Choose Model…");
    await window.quickInput.getByText("Set API Key…").waitFor();
    await window.screenshot("model-palette");
    await window.quickInput.locator("input").first().fill("gpt-5");
    await window.quickInput.getByText("gpt-5", { exact: true }).first().click();
    await expect.poll(() => picker().textContent()).toContain("gpt-5");
  });
});
