import { mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
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
    await card(/^Try It Offline/).waitFor();
    for (const provider of [/^OpenAI/, /^OpenRouter/, /^Anthropic/, /^Other Endpoint/]) await card(provider).waitFor();
    await panel().pictures("first-run");
  });

  test("one click on the offline card is enough for an answer, and closes the page", async () => {
    await card(/^Try It Offline/).click();
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

  // A list of choices takes letters as a search: "a" would choose Ask, and "au" Auto, which asks for nothing.
  test("a message typed right after the choice of a mode or model changes neither, and is not lost", async () => {
    const mode = panel().page.getByRole("combobox", { name: "Mode" });
    await mode.selectOption("plan");
    await mode.focus();
    await panel().page.keyboard.type("automate ");
    await expect.poll(() => panel().composer.inputValue()).toBe("automate ");
    await picker().focus();
    await panel().page.keyboard.type("it");
    await expect.poll(() => panel().composer.inputValue()).toBe("automate it");
    expect(await mode.inputValue()).toBe("plan");
    await mode.selectOption("code");
    await panel().composer.fill("");
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
    await expect.poll(() => picker().textContent()).toContain("gpt-4.1");
  });
});

// An endpoint that Hermes does not find by itself.
describe("the address of an endpoint", () => {
  const model = useModelServer();
  const panel = usePanel(() => {
    model().lookUps.set("/models", { data: [{ id: "qwen3:8b" }, { id: "gpt-4.1" }] });
    return openPanel({ model: "none" });
  });
  const address = /Address of the Endpoint$/;
  const withoutScheme = () => model().baseUrl.replace("http://", "");

  test("needs no scheme: on this machine it is http", async () => {
    await panel()
      .page.getByRole("button", { name: /^Other Endpoint/ })
      .click();
    expect(await panel().enter(address, "not an address")).toMatch(/^Enter a web address/);
    expect(await panel().enter(address, "ftp://127.0.0.1/v1")).toMatch(/^Enter a web address/);
    expect(await panel().enter(address, ` ${withoutScheme()} `)).toBeUndefined();
    await panel().enter(/^Hermes: Key for/, "");
    await panel().pick("qwen3:8b");
    await expect.poll(() => panel().setting("hermes.baseUrl")).toBe(model().baseUrl);
    model().script(say("hello from the endpoint"));
    await panel().send("hi");
    await panel().page.getByText("hello from the endpoint").first().waitFor();
  });
});

// A browser's VS Code without a lasting secret storage, such as code-server or `npm start`.
describe("a key in a VS Code that forgets keys", () => {
  const model = useModelServer();
  const panel = usePanel(() => {
    model().lookUps.set("/models", { data: [{ id: "gpt-4.1" }] });
    return openPanel({
      model: "none",
      forgetsKeys: true,
      settings: { "hermes.provider": "custom", "hermes.baseUrl": model().baseUrl, "hermes.model": "gpt-4.1" },
      prepare: ({ home }) => {
        mkdirSync(home);
        writeFileSync(envFile(home), "# mine\nOTHER=1\n", { mode: 0o644 });
      },
    });
  });
  const host = () => new URL(model().baseUrl).host;
  const boxOf = (name: string) => new RegExp(`^Hermes: Key for ${name}$`);
  const keysSent = () => model().requests.map(({ headers }) => headers.authorization);
  const button = (name: string) => panel().page.getByRole("button", { name, exact: true });
  const envFile = (home: string) => join(home, ".env");

  test("is asked for at the error of its endpoint, and the message goes again by itself", async () => {
    model().script(fail(401, "no key"));
    await panel().send("hi");
    await panel().page.getByText(`${host()} needs a key, and none is set (401).`, { exact: true }).waitFor();
    await button("Set Key").click();
    model().lookUps.set("/models", fail(401, "wrong"));
    await panel().enter(boxOf(host()), "sk-wrong-123456");
    const refusal = () => panel().errors.at(-1);
    await expect.poll(() => refusal()?.text).toBe(`The key for ${host()} was refused (401).`);
    model().lookUps.set("/models", { data: [{ id: "gpt-4.1" }] });
    refusal()?.choose("Enter Another Key");
    model().script(say("hello with the key"));
    await panel().enter(boxOf(host()), "sk-first-123456");
    await panel().pick("Keep It until the Window Is Reloaded");
    await panel().page.getByText("hello with the key").first().waitFor();
    expect(keysSent().at(-1)).toBe("Bearer sk-first-123456");
    expect(await panel().bubbles()).toEqual(["hi"]);
  });

  test("is asked for again after a reload, with the reason, and then lasts in the home", async () => {
    await panel().reload();
    await panel().page.getByText(`VS Code has forgotten the key for ${host()}. Enter it again.`).waitFor();
    await panel().pictures("key-forgotten");
    await button(`Enter the Key for ${host()}`).click();
    await panel().enter(boxOf(host()), "sk-second-123456");
    await panel().pick(`Keep It in ${envFile(panel().home)}`);
    await panel().page.getByText("Enter it again").waitFor({ state: "detached" });
    await expect
      .poll(() => readFileSync(envFile(panel().home), "utf8"))
      .toBe("# mine\nOTHER=1\nHERMES_API_KEY=sk-second-123456\n");
    expect(statSync(envFile(panel().home)).mode & 0o777).toBe(0o600);
    await panel().reload();
    model().script(say("hello after the reload"));
    await panel().send("again");
    await panel().page.getByText("hello after the reload").first().waitFor();
    expect(keysSent().at(-1)).toBe("Bearer sk-second-123456");
  });

  test("is removed from the home by an empty one", async () => {
    await panel().runCommand("Hermes: Set Up a Model");
    await panel()
      .page.getByText(`Keys are in ${envFile(panel().home)}, which only your user can read.`)
      .waitFor();
    model().script(fail(401, "expired"));
    await panel().send("once more");
    await button("Set Key").click();
    await panel().enter(boxOf(host()), "");
    await expect.poll(() => readFileSync(envFile(panel().home), "utf8")).toBe("# mine\nOTHER=1\n");
  });
});
