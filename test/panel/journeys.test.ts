import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { call, callTools, say } from "../support/model-server/model-server.ts";
import { openPanel, type Panel, useModelServer, usePanel } from "../support/panel/open-panel.ts";
import { hasSandbox } from "../support/programs.ts";

/** More presses of one key find nothing. */
const MOST_PRESSES = 20;

/** Name of the element with the focus, as a screen reader says it. */
const FOCUSED = `(() => {
  const { ariaLabel, textContent } = document.activeElement;
  return (ariaLabel ?? textContent).trim();
})()`;

/** A user without a mouse. Each key and each text is a step. */
class Keyboard {
  steps = 0;
  readonly #panel: Panel;

  constructor(panel: Panel) {
    this.#panel = panel;
  }

  async press(...keys: readonly string[]): Promise<void> {
    for (const key of keys) {
      this.steps += 1;
      await this.#panel.page.keyboard.press(key);
    }
  }

  async type(text: string): Promise<void> {
    this.steps += 1;
    await this.#panel.page.keyboard.type(text);
  }

  /** Presses `key` until the element with this name has the focus. */
  async reach(name: RegExp, key: string): Promise<void> {
    for (let presses = 0; presses < MOST_PRESSES; presses += 1) {
      await this.press(key);
      if (name.test(await this.focused())) return;
    }
    throw new Error(`${key} does not lead to ${name}, but to "${await this.focused()}".`);
  }

  focused(): Promise<string> {
    return this.#panel.page.evaluate(FOCUSED);
  }

  /** Enters a text in a field of VS Code, and confirms it. */
  async enter(title: RegExp, text: string): Promise<void> {
    this.steps += text === "" ? 1 : 2;
    expect(await this.#panel.enter(title, text)).toBeUndefined();
  }
}

const MODELS = { data: [{ id: "qwen3:8b" }, { id: "gpt-4.1" }] };

// The journeys of docs/journeys.md, by keyboard alone. Each begins where VS Code puts the focus: in the message.
describe("from the installation to the first answer", () => {
  describe("with a model on this machine", () => {
    const model = useModelServer();
    const panel = usePanel(() => {
      model().lookUps.set("/models", MODELS);
      return openPanel({ model: "none", localServers: `lmstudio=${new URL(model().baseUrl).port}` });
    });

    test("takes 2 steps, and the page that sets up a model does not come back", async () => {
      const keyboard = new Keyboard(panel());
      const offer = panel().page.getByRole("button", { name: /^Use LM Studio/ });
      // A page waits 200 ms for the server, which may stand still for longer: then a later session has it.
      const isOffered = () =>
        offer.waitFor({ timeout: 2_000 }).then(
          () => true,
          () => false,
        );
      while (!(await isOffered())) await panel().runCommand("Hermes: New Session");
      model().script(say("It adds prices."));
      await keyboard.type("what does this project do?");
      await keyboard.press("Enter");
      await panel().page.getByText("It adds prices.").first().waitFor();
      expect(keyboard.steps).toBe(2);
      await panel().runCommand("Hermes: New Session");
      await panel().page.getByRole("heading", { name: "Recent sessions" }).waitFor();
      expect(await offer.count()).toBe(0);
    });
  });

  describe("with an endpoint that needs an address", () => {
    const model = useModelServer();
    const panel = usePanel(() => {
      model().lookUps.set("/models", MODELS);
      return openPanel({ model: "none" });
    });

    test("takes 12 steps, 6 of them for the address, its model and the way to its button", async () => {
      const keyboard = new Keyboard(panel());
      await panel().page.getByText("Choose a model. You can").waitFor();
      await keyboard.press("ArrowUp");
      expect(await keyboard.focused()).toBe("OpenAI");
      await keyboard.reach(/^Other Endpoint/, "ArrowDown");
      await keyboard.press("Enter");
      await keyboard.enter(/Address of the Endpoint$/, model().baseUrl.replace("http://", ""));
      await keyboard.enter(/^Hermes: Key for/, "sk-1");
      await panel().pick("qwen3:8b");
      await keyboard.press("Enter"); // in VS Code's list
      await expect.poll(() => keyboard.focused()).toBe("Message Hermes");
      model().script(say("It adds prices."));
      await keyboard.type("what does this project do?");
      await keyboard.press("Enter");
      await panel().page.getByText("It adds prices.").first().waitFor();
      expect(keyboard.steps).toBe(12);
    });
  });
});

describe("with a project", () => {
  const model = useModelServer();
  const panel = usePanel(() =>
    openPanel({
      model: model(),
      files: {
        "package.json": JSON.stringify({ scripts: { test: "node check.mjs" } }),
        "check.mjs":
          'import { readFileSync } from "node:fs"; process.exit(readFileSync("a.txt", "utf8").includes("2") ? 0 : 1);',
        "a.txt": "one\ntwo\nthree\n",
        "b.txt": "one\ntwo\nthree\n",
      },
    }),
  );

  const replace = (path: string, old: string, next: string) =>
    call("patch", { path, old_string: old, new_string: next });

  // Without a sandbox, the run of the tests asks.
  test.runIf(hasSandbox())("a failing test is fixed in 2 steps, and nothing asks", async () => {
    const keyboard = new Keyboard(panel());
    await panel().page.getByRole("button", { name: "Run the tests and fix what fails" }).waitFor();
    const runTests = call("terminal", { command: "node check.mjs" });
    const edit = replace("a.txt", "two", "2");
    model().script(callTools(runTests), callTools(edit), callTools(runTests), say("The test passes."));
    await keyboard.press("ArrowUp");
    expect(await keyboard.focused()).toMatch(/^Run the tests/);
    await keyboard.press("Enter");
    await panel().page.getByText("The test passes.").first().waitFor();
    expect(keyboard.steps).toBe(2);
    expect(await panel().toolCalls("failed").count()).toBe(1);
    expect(await panel().toolCalls("completed").count()).toBe(2);
    await panel().idle();
  });

  test("a command is allowed in 3 steps, and the first key decides nothing", async () => {
    const keyboard = new Keyboard(panel());
    await panel().composer.focus();
    writeFileSync(join(panel().workspace, "c.txt"), "mine");
    model().script(callTools(call("terminal", { command: "rm c.txt" })), say("Removed."));
    await panel().send("remove c.txt");
    const card = panel().page.getByRole("alertdialog");
    await card.waitFor();
    await keyboard.press("ArrowUp");
    await expect.poll(() => card.getByRole("button", { name: "Allow Once" }).isEnabled()).toBe(true);
    await panel().page.keyboard.press("Enter"); // a slip, which must not answer
    await keyboard.reach(/^Allow Once/, "Tab");
    await keyboard.press("Enter");
    await panel().page.getByText("Removed.").first().waitFor();
    expect(keyboard.steps).toBe(3);
    await panel().idle();
  });

  test("one of two edited files is undone, and the other one kept, in 8 steps", async () => {
    model().script(callTools(replace("a.txt", "one", "1"), replace("b.txt", "two", "2")), say("Changed both."));
    await panel().send("change a.txt and b.txt");
    await panel().page.getByText("2 files").waitFor();
    await panel().idle();
    const keyboard = new Keyboard(panel());
    await panel().composer.focus();
    await keyboard.press("Shift+Tab", "Enter");
    await keyboard.reach(/^Undo a\.txt/, "Tab");
    await keyboard.press("Enter");
    await panel().page.getByText("1 file", { exact: true }).waitFor();
    await keyboard.reach(/^Keep b\.txt/, "Tab");
    await keyboard.press("Enter");
    await panel().page.getByRole("region", { name: "Edits to review" }).waitFor({ state: "detached" });
    expect([panel().readFile("a.txt"), panel().readFile("b.txt")]).toEqual(["one\ntwo\nthree\n", "one\n2\nthree\n"]);
    expect(keyboard.steps).toBe(8);
    await expect.poll(() => keyboard.focused()).toBe("Message Hermes");
  });

  test("keys that come before the panel's script are in the message", async () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    await panel().page.route("**/main.js", (route) => promise.then(() => route.continue()));
    const shown = panel().hideAndShow();
    await panel().page.locator("#root > textarea:focus").waitFor({ state: "attached" });
    await panel().page.keyboard.type("typed early");
    resolve();
    await shown;
    await panel().page.unroute("**/main.js");
    expect(
      await panel()
        .page.locator("#root > *")
        .evaluateAll((parts) => parts.map(({ tagName }) => tagName)),
    ).toEqual(["MAIN"]);
    await expect.poll(() => panel().composer.inputValue()).toBe("typed early");
    await panel().page.keyboard.type(" and late");
    expect(await panel().composer.inputValue()).toBe("typed early and late");
    await panel().composer.fill("");
  });

  test("after a restart the conversation is there, and goes on in 2 steps", async () => {
    await panel().reload();
    await panel().page.getByText("Changed both.").first().waitFor();
    const keyboard = new Keyboard(panel());
    expect(await keyboard.focused()).toBe("Message Hermes");
    model().script(say("Both again."));
    await keyboard.type("and again");
    await keyboard.press("Enter");
    await panel().page.getByText("Both again.").first().waitFor();
    expect(keyboard.steps).toBe(2);
  });
});
