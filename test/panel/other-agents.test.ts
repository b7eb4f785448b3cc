import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { projectFolder } from "../../scripts/project.ts";
import { openPanel, usePanel } from "../support/panel/open-panel.ts";

const program = { command: process.execPath, args: [join(projectFolder, "test", "support", "foreign-agent.mjs")] };

const others = {
  later: { ...program, env: { FOREIGN_VERSION: "2" } },
  locked: { ...program, env: { FOREIGN_SIGN_IN: "1" } },
  missing: { command: "no-such-agent" },
};

// Another agent in the panel: a program of the tests, which offers modes, asks for permission, and writes files.
describe("other agents", () => {
  const panel = usePanel(() =>
    openPanel({
      files: { "a.txt": "one\ntwo\nthree\n", "old.txt": "old\n" },
      settings: {
        "hermes.agents": { foreign: program, ...others },
      },
    }),
  );

  const choose = async (label: string): Promise<void> => {
    const chosen = panel().runCommand("Hermes: Choose Agent…");
    await panel().pick(label);
    await chosen;
  };
  const says = (text: string | RegExp) => panel().page.getByText(text).first().waitFor();

  test("the chosen agent answers in a session of its own, with its own modes", async () => {
    await choose("foreign");
    await panel().page.getByRole("textbox", { name: "Message foreign" }).waitFor();
    await panel().send("hello");
    await says("you said: hello");
    const mode = panel().page.getByRole("combobox", { name: "Mode" });
    expect(await mode.inputValue()).toBe("careful");
    await mode.selectOption("Bold");
    await expect.poll(() => mode.inputValue()).toBe("bold");
    await panel().pictures("other-agent");
  });

  test("its permission requests are cards, and its edits are up for review", async () => {
    await panel().send("ask");
    await panel().page.getByRole("button", { name: "Yes", exact: true }).click();
    await says(/you said \{"outcome":"selected","optionId":"yes"\}/);
    await panel().send("write through the editor");
    await says("wrote a.txt");
    await panel().send("write on the disk");
    await says("wrote on the disk");
    await panel().page.getByRole("region", { name: "Edits to review" }).getByText("3 files").click();
    await panel().page.getByRole("button", { name: "Keep new.txt" }).waitFor();
    await panel().pictures("other-agent-review");
    expect(panel().readFile("a.txt")).toBe("one\nTWO\nthree\nfour\n");
  });

  test("the list of sessions has those of the agent, which only opens them", async () => {
    await panel().runCommand("Hermes: Show Sessions");
    const row = panel().page.getByRole("listitem").filter({ hasText: "Foreign session-1" });
    await row.locator(".history-facts").getByText("foreign").waitFor();
    expect(await row.getByRole("button").count()).toBe(1);
    await row.getByRole("button").click();
    await panel().page.getByRole("textbox", { name: "Message foreign" }).waitFor();
  });

  test("its session is there again after a reload of the window", async () => {
    await panel().reload();
    await says("as we said");
    await panel().page.getByRole("textbox", { name: "Message foreign" }).waitFor();
  });

  test("a changed setting is in effect with the next message", async () => {
    panel().changeSetting("hermes.agents", {
      foreign: { ...program, env: { FOREIGN_GREETING: "Good morning" } },
      ...others,
    });
    await panel().send("hello");
    await says("Good morning: hello");
  });

  test.each([
    ["missing", /missing did not start: there is no program no-such-agent\. Correct the setting hermes\.agents\./],
    ["later", /later speaks version 2 of the Agent Client Protocol, and Hermes version 1\. Update later\./],
  ])("an agent that cannot be used says why: %s", async (name, reason) => {
    await choose(name);
    await panel().send("hello");
    await says(reason);
  });

  test("an agent that asks for a sign-in gets one, and the session opens", async () => {
    const chosen = panel().runCommand("Hermes: Choose Agent…");
    await panel().pick("locked");
    await chosen;
    await panel().pick("Sign in with the browser");
    await panel().page.getByRole("textbox", { name: "Message locked" }).waitFor();
    await panel().send("hello");
    await says("you said: hello");
  });

  test("an agent is added by its command and a name, and answers", async () => {
    const chosen = panel().runCommand("Hermes: Choose Agent…");
    await panel().pick("Add an Agent…");
    await panel().enter(/Add an Agent \(1\/2\)$/, `"${program.command}" -e "process.exit(4)"`);
    await panel().enter(/\(2\/2\)$/, "mine");
    await expect.poll(() => panel().errors.at(-1)?.text).toMatch(/^mine ended with exit code 4/);
    panel().errors.at(-1)?.choose("Change the Command");
    await panel().enter(/\(1\/2\)$/, `"${program.command}" ${program.args.join(" ")}`);
    expect(await panel().enter(/\(2\/2\)$/, "locked")).toBe("There is an agent locked already.");
    expect(await panel().enter(/\(2\/2\)$/, "a:b")).toBe("Enter a name without a colon.");
    await panel().enter(/\(2\/2\)$/, "mine");
    await panel().pick("mine");
    await chosen;
    expect(panel().setting("hermes.agents")).toMatchObject({ ...others, mine: program });
    await panel().page.getByRole("textbox", { name: "Message mine" }).waitFor();
    await panel().send("hello");
    await says("you said: hello");
  });

  test("Hermes comes back as the agent of the next session", async () => {
    await choose("Hermes");
    await panel().page.getByRole("textbox", { name: "Message Hermes" }).waitFor();
    await panel().send("read a.txt");
    await says("1|one");
  });
});
