import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { projectFolder } from "../../scripts/project.ts";
import type { Answer } from "../support/model-server/answer.ts";
import { call, callTools, type ModelServer, say, startModelServer } from "../support/model-server/model-server.ts";
import { pictureOfFailure, VSCodeWindow } from "../support/vscode-browser.ts";

type Body = ModelServer["requests"][number]["body"];

const PACKAGES = join(projectFolder, "node_modules/@modelcontextprotocol");
const EVERYTHING = join(PACKAGES, "server-everything/dist/index.js");
const FILESYSTEM = join(PACKAGES, "server-filesystem/dist/index.js");

const ASKER = 'printf "Your name? "; read -r name; echo "Hello, $name."; printf "Password: "; read -r secret; exit 3';

const TASKS = [
  { id: "survey", goal: "Survey the callers of the parser" },
  { id: "parser", goal: "Parser: replace two with TWO in a.txt", depends_on: ["survey"] },
  { id: "docs", goal: "Docs: describe the new parser", depends_on: ["survey"] },
];

/** The sub-agents' answers, in order, by the first word of their goal; the conversation itself delegates, then ends. */
const SCRIPTS: Readonly<Record<string, readonly Answer[]>> = {
  Survey: [{ parts: [call("read_file", { path: "a.txt" })] }, say("One file has it.")],
  Parser: [{ parts: [call("patch", { path: "a.txt", old_string: "two", new_string: "TWO" })] }, say("Replaced.")],
  Docs: [{ parts: [call("terminal", { command: "sleep 300 | cat", timeout: 300 })] }],
};
const VERDICT = {
  correctness: 0.9,
  completeness: 0.85,
  confidence: 0.9,
  missing_aspects: [],
  reason: "The edit is there.",
};

function answers(): (body: Body) => Answer {
  const asked = new Map<string, number>();
  return ({ messages }) => {
    if (JSON.stringify(messages).includes("missing_aspects")) return say(JSON.stringify(VERDICT));
    const prompt = String(messages.find(({ role }) => role === "user")?.["content"]);
    const name = Object.keys(SCRIPTS).find((known) => prompt.startsWith(known));
    if (name === undefined) {
      const isBegun = messages.some(({ role }) => role === "tool");
      return isBegun ? say("All of it is done.") : { parts: [call("delegate_task", { tasks: TASKS })] };
    }
    const count = asked.get(name) ?? 0;
    asked.set(name, count + 1);
    return SCRIPTS[name]?.[count] ?? say("Done.");
  };
}

// The cards themselves have tests in test/panel. Here sub-agents, servers and processes run in a real window.
describe("sub-agents, MCP servers and background processes in VS Code", () => {
  let window: VSCodeWindow;
  let model: ModelServer;

  const row = (id: string) => window.panel.locator(`[data-task="${id}"]`);

  beforeAll(async () => {
    model = await startModelServer();
    model.respondWith(answers());
    const servers = {
      everything: { command: process.execPath, args: [EVERYTHING, "stdio"] },
      files: { command: process.execPath, args: [FILESYSTEM] },
    };
    window = await VSCodeWindow.open({ name: "delegation", model, settings: { "mcp.servers": servers } });
    await window.openPanel();
  });

  pictureOfFailure(() => window);

  afterAll(async () => {
    await window.close();
    await model.stop();
  });

  test("three tasks run in order of their dependencies, and an edit of one is up for review", async () => {
    await window.send("replace the parser");
    await row("survey").waitFor();
    await expect.poll(() => row("parser").getAttribute("data-status")).toBe("completed");
    await row("docs").getByText("sleep 300 | cat").waitFor();
    expect(window.readFile("a.txt")).toBe("one\nTWO\nthree\n");
    await window.keepButton.waitFor();
    await window.pictures("delegation-running", ["light", "dark", "high-contrast"]);
  });

  test("the calls of a task are under it, with their diffs", async () => {
    await row("parser").getByRole("button").first().click();
    await row("parser").locator("[data-tool-call]").getByRole("button").first().click();
    await row("parser").locator(".diff").waitFor();
    await window.pictures("delegation-calls");
  });

  test("the conversation of a task opens, and Escape leads back", async () => {
    await row("survey")
      .getByRole("button", { name: /^Open the Conversation/ })
      .click();
    await window.panel.getByText("One file has it.").first().waitFor();
    await window.pictures("delegation-page");
    await window.panel.getByRole("heading", { name: /^Survey the callers/ }).focus();
    await window.page.keyboard.press("Escape");
    await row("survey").waitFor();
  });

  test("one task is stopped, and the delegation ends with the others' results", async () => {
    await row("docs").getByRole("button", { name: /^Stop/ }).click();
    await window.panel.getByText("All of it is done.").first().waitFor();
    await expect.poll(() => row("docs").getAttribute("data-status")).toBe("cancelled");
    await window.pictures("delegation-ended");
  });

  test("servers of VS Code's setting show pictures and read files of the workspace", async () => {
    await window.newSession();
    await window.send("/mcp list --wait");
    await window.panel
      .getByText(/files.*on/)
      .first()
      .waitFor();
    const path = join(window.workspace, "a.txt");
    const calls = [call("mcp__everything__get-tiny-image", {}), call("mcp__files__read_text_file", { path })];
    model.script(callTools(...calls), say("Both servers answered."));
    await window.send("use both");
    await window.panel.getByText("Both servers answered.").first().waitFor();
    const picture = window.panel.getByRole("img", { name: "Result of the call" });
    await expect
      .poll(() => picture.evaluate((image) => Number("naturalWidth" in image && image.naturalWidth)))
      .toBeGreaterThan(0);
    await picture.click();
    await window.page.locator(".tab.active", { hasText: "Picture" }).waitFor();
    expect(JSON.stringify(model.requests.at(-1)?.body)).toContain("one\\nTWO\\nthree");
  });

  test("a terminal of VS Code shows what was typed in the panel, but no secret", async () => {
    await window.newSession();
    await window.panel.getByRole("combobox", { name: "Mode" }).selectOption("auto");
    const row = window.panel.locator('[data-process="p1"]');
    model.script({ parts: [call("terminal", { command: ASKER, background: true })] }, say("It runs."));
    await window.send("start it");
    await window.panel.getByRole("button", { name: "Reply" }).click();
    await row.getByRole("textbox").fill("Ada");
    await row.getByRole("textbox").press("Enter");
    await row.locator(".terminal-output").getByText("Hello, Ada.").waitFor();
    const secret = row.locator('input[type="password"]');
    await secret.fill("hush");
    await secret.press("Enter");
    await row.getByText("exit code 3").first().waitFor();
    await row.getByRole("button", { name: "Show Terminal" }).click();
    await expect.poll(() => window.terminal.textContent()).toContain("Password:");
    const text = await window.terminal.textContent();
    expect(text).toContain("Your name?");
    expect(text).toContain("Ada");
    expect(text).not.toContain("hush");
  });
});
