import { describe, expect, test } from "vitest";
import { fail, say } from "../support/model-server/model-server.ts";
import { openPanel, useModelServer, usePanel } from "../support/panel/open-panel.ts";

// From nothing to a model, as somebody does who opens the panel for the first time.
describe("first run, keys and the model picker", () => {
  const model = useModelServer();
  const panel = usePanel(() => {
    model().lookUps.set("/models", { data: [{ id: "qwen3:8b" }, { id: "gpt-4.1" }, { id: "gpt-5" }] });
    return openPanel({ model: "none", localServers: `lmstudio=${new URL(model().baseUrl).port}` });
  });

  const picker = () => panel().page.getByRole("button", { name: /^Model: / });
  const card = (name: RegExp) => panel().page.getByRole("button", { name });

  test("the page offers the local server, the offline interpreter and keys", async () => {
    await panel().page.getByText("Choose a model. You can").waitFor();
    // A page waits 200 ms for the server, which may stand still for longer: then the next one has it.
    const offersServer = (): Promise<boolean> =>
      card(/^Use LM Studio/)
        .waitFor({ timeout: 5_000 })
        .then(
          () => true,
          () => false,
        );
    while (!(await offersServer())) await panel().runCommand("Hermes: New Session");
    await card(/^Try it offline/).waitFor();
    for (const provider of [/^OpenAI/, /^OpenRouter/, /^Anthropic/, /^Other endpoint/]) await card(provider).waitFor();
    await panel().pictures("first-run");
  });

  test("one click on the offline card is enough for an answer, and closes the page", async () => {
    await card(/^Try it offline/).click();
    await panel().page.getByText("Choose a model. You can").waitFor({ state: "detached" });
    await expect.poll(() => picker().textContent()).toContain("Offline");
    await panel().send("read a.txt");
    await panel().page.getByText("1|one").first().waitFor();
    await panel().runCommand("Hermes: New Session");
    await panel().page.getByText("You are using the built-in offline interpreter").waitFor();
    expect(await picker().textContent()).toContain("Offline");
  });

  test("the picker is searched and used by keyboard alone", async () => {
    await picker().focus();
    await panel().page.keyboard.press("Enter");
    const search = panel().page.getByRole("combobox", { name: "Search: Model" });
    await search.waitFor();
    await panel().pictures("model-picker");
    await panel().page.keyboard.type("qwen");
    await expect.poll(() => panel().page.getByRole("listbox").getByRole("option").count()).toBe(1);
    await panel().page.keyboard.press("Enter");
    await expect.poll(() => picker().textContent()).toContain("qwen3:8b");
    await search.waitFor({ state: "detached" });
    model().script(say("hello from the local one"));
    await panel().send("hi");
    await panel().page.getByText("hello from the local one").first().waitFor();
  });

  test("a reasoning model shows its effort next to its name", async () => {
    await panel().page.getByLabel("Reasoning effort").selectOption("low");
    model().script(say("thought little"));
    await panel().send("think");
    await panel().page.getByText("thought little").first().waitFor();
    expect(model().requests.at(-1)?.body).toMatchObject({ model: "qwen3:8b", reasoning_effort: "low" });
  });

  test("a slash lists the commands, and /model accepts a part of a name", async () => {
    await panel().composer.fill("/");
    await panel()
      .page.getByRole("option", { name: /^\/model/ })
      .waitFor();
    await panel().pictures("slash");
    await panel().send("/model gpt-4.1");
    await expect.poll(() => picker().textContent()).toContain("gpt-4.1");
  });

  test("a wait before a retry counts down in one line, and Stop ends it at once", async () => {
    model().script({ ...fail(429, "slow down"), headers: { "retry-after": "40" } });
    await panel().send("hurry");
    const line = panel().page.getByText(/slow down\. Next try in \d+ s/);
    await line.waitFor();
    await panel().pictures("retry");
    const first = await line.textContent();
    await expect.poll(() => line.textContent()).not.toBe(first);
    await panel().page.getByRole("button", { name: "Stop", exact: true }).click();
    await panel()
      .page.getByText(/slow down\. Waited \d s\./)
      .waitFor();
    expect(await line.count()).toBe(0);
  });

  test("a session keeps its model over a reload, and a new session starts with the last choice", async () => {
    await panel().runCommand("Hermes: New Session");
    await panel().page.getByRole("button", { name: "Explain this project" }).waitFor();
    await panel().page.getByRole("heading", { name: "Recent sessions" }).waitFor();
    expect(await panel().page.getByRole("button", { name: "find files" }).count()).toBe(0);
    await expect.poll(() => picker().textContent()).toContain("gpt-4.1");
    model().script(say("hello again"));
    await panel().send("hi");
    await panel().page.getByText("hello again").first().waitFor();
    await panel().reload();
    await panel().page.getByText("hello again").first().waitFor();
    await expect.poll(() => picker().textContent(), { timeout: 20_000 }).toContain("gpt-4.1");
  });
});

// An endpoint that Hermes does not find by itself.
describe("the address of an endpoint", () => {
  const model = useModelServer();
  const panel = usePanel(() => {
    model().lookUps.set("/models", { data: [{ id: "qwen3:8b" }, { id: "gpt-4.1" }] });
    return openPanel({ model: "none" });
  });
  const address = /address of the endpoint$/;
  const withoutScheme = () => model().baseUrl.replace("http://", "");

  test("needs no scheme: on this machine it is http", async () => {
    await panel()
      .page.getByRole("button", { name: /^Other endpoint/ })
      .click();
    expect(await panel().enter(address, "not an address")).toMatch(/^Enter a web address/);
    expect(await panel().enter(address, "ftp://127.0.0.1/v1")).toMatch(/^Enter a web address/);
    expect(await panel().enter(address, ` ${withoutScheme()} `)).toBeUndefined();
    await panel().enter(/^Hermes: key for/, "");
    await panel().pick("qwen3:8b");
    await expect.poll(() => panel().setting("hermes.baseUrl")).toBe(model().baseUrl);
    model().script(say("hello from the endpoint"));
    await panel().send("hi");
    await panel().page.getByText("hello from the endpoint").first().waitFor();
  });
});
