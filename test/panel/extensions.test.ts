import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { sessionsFolder } from "../../agent-core/config/home.ts";
import { call, callTools, say } from "../support/model-server/model-server.ts";
import { openPanel, useModelServer, usePanel } from "../support/panel/open-panel.ts";
import { TOO_WIDE } from "../support/panel/too-wide.ts";
import { isAlive, processesWith } from "../support/processes.ts";

const FIXTURE = join(import.meta.dirname, "../support/mcp-fixture.mjs");
/** Finds the servers of this file among all processes. */
const MARK = `--window=${process.pid}`;
const SERVER = { command: process.execPath, args: [FIXTURE, MARK] };
const BROKEN = { command: process.execPath, args: ["-e", "process.exit(3)"] };

/** A session with a review, whose entry is in the memory of the user. */
function writeReviewedSession(home: string): void {
  const id = "20261101_120000_cccccccc";
  const [at, callId] = [1_790_000_000_000, "0a1b2c3d"];
  const entries = [
    { type: "session", version: 1, id, cwd: join(home, "..", "workspace"), at },
    { type: "title", title: "A reviewed session", at },
    { type: "message", message: { role: "user", content: "I like tabs" }, at },
    { type: "message", message: { role: "assistant", content: "Tabs it is." }, at },
    { type: "notice", text: "Memory review · Remember: likes tabs", callId, position: 2, at },
  ];
  const write = {
    id: "1f2e3d",
    target: "user",
    by: "review",
    before: null,
    after: "likes tabs",
    index: 0,
    evicted: [],
  };
  const sessions = sessionsFolder(home);
  mkdirSync(sessions, { recursive: true });
  mkdirSync(join(home, "memories"), { recursive: true });
  writeFileSync(join(sessions, `${id}.jsonl`), entries.map((entry) => `${JSON.stringify(entry)}\n`).join(""));
  writeFileSync(join(home, "memories", "USER.md"), "likes tabs\n");
  writeFileSync(join(home, "memories", "LEDGER.jsonl"), `${JSON.stringify({ ...write, sessionId: id, callId, at })}\n`);
}

// The page of extensions with real MCP servers, and the undo of changes of the memory.
describe("the page of extensions", () => {
  const model = useModelServer();
  const panel = usePanel(() =>
    openPanel({
      model: model(),
      files: { ".mcp.json": JSON.stringify({ mcpServers: { notes: SERVER } }) },
      prepare: ({ home }) => {
        const config = JSON.parse(readFileSync(join(home, "config.yaml"), "utf8"));
        const servers = { files: SERVER, broken: BROKEN };
        writeFileSync(
          join(home, "config.yaml"),
          JSON.stringify({ ...config, mcp_servers: servers, skills: { hub_sources: ["official"] } }),
        );
        const profile = join(home, "..", "storage", "User");
        mkdirSync(profile, { recursive: true });
        const own = { listed: SERVER, asking: { command: "x", args: [`\${input:key}`] } };
        writeFileSync(join(profile, "mcp.json"), JSON.stringify({ servers: own }));
        writeReviewedSession(home);
      },
    }),
  );

  const page = () => panel().page.getByRole("region", { name: "Extensions", exact: true });
  const row = (name: string) => page().locator(".extension-row").filter({ hasText: name });
  const state = (name: string) => row(name).locator(".extension-state").textContent();
  const focused = () => panel().page.locator(":focus").textContent();

  test("a line names what needs the user, and leads to the page", async () => {
    const line = panel().page.getByRole("button", { name: "2 extensions need your attention" });
    await line.waitFor();
    await panel().pictures("extensions-line");
    expect(await panel().page.getByText("The MCP server").count()).toBe(0); // the line says enough
    await line.click();
    await expect.poll(focused).toBe("Extensions");
    await expect.poll(() => state("files")).toBe("On");
    expect(await state("broken")).toBe("Failed");
    expect(await state("notes")).toBe("Needs consent");
    expect(await row("notes").textContent()).toContain("mcp-fixture.mjs");
    await page().getByText("Plugins are JavaScript programs").waitFor();
    await panel().pictures("extensions");
  });

  test("the servers of VS Code's own list are there, and one that only VS Code can start is named in the chat", async () => {
    await expect.poll(() => state("listed")).toBe("On");
    await page().press("Escape");
    await panel().page.getByText(`only VS Code knows the value of \${input:key}`).first().waitFor();
    await panel().runCommand("Hermes: Show Extensions");
    await row("listed").waitFor();
  });

  test("it fits a narrow side bar in every theme", async () => {
    for (const theme of ["light", "dark", "high-contrast", "high-contrast-light"] as const) {
      await panel().setTheme(theme);
      for (const width of [300, 200]) {
        await panel().setWidth(width);
        expect(await panel().page.locator("body").evaluate(TOO_WIDE), `${theme}, ${width} px`).toEqual([]);
      }
    }
    await panel().setTheme("dark");
    await panel().setWidth(320);
  });

  test("a server of the workspace starts after the user allowed it, by keyboard alone", async () => {
    await row("notes").getByRole("button", { name: "Allow notes" }).press("Enter");
    await expect.poll(() => state("notes")).toBe("On");
    await expect.poll(() => panel().page.locator(":focus").getAttribute("aria-label")).toMatch(/ notes$/);
  });

  test("a skill is switched off and on, and its uses are shown", async () => {
    expect(await row("write-tests").textContent()).toContain("never used");
    await row("write-tests").getByRole("button", { name: "Disable write-tests" }).press("Enter");
    await expect.poll(() => state("write-tests")).toBe("Off");
    await row("write-tests").getByRole("button", { name: "Enable write-tests" }).press("Enter");
    await expect.poll(() => state("write-tests")).toBe("On");
  });

  test("a tool is switched off, and stays off until it is switched on", async () => {
    const fold = row("files").getByRole("button", { name: /tools?$/ });
    await fold.click();
    const tool = row("files").getByRole("checkbox").first();
    expect(await tool.isChecked()).toBe(true);
    await tool.press("Space");
    await row("files")
      .getByRole("button", { name: /, 1 off$/ })
      .waitFor();
    await expect.poll(() => tool.isChecked()).toBe(false);
    await panel().pictures("extensions-tools");
  });

  test("Escape returns to the conversation, and what was seen is not mentioned again", async () => {
    await page().press("Escape");
    await page().waitFor({ state: "detached" });
    await expect.poll(() => panel().page.locator(":focus").getAttribute("aria-label")).toBe("Message Hermes");
    expect(await panel().page.getByText("attention").count()).toBe(0);
    await panel().hideAndShow();
    expect(await panel().page.locator(".extensions-line").count()).toBe(0);
  });

  test("a call of a server's tool asks with its arguments, and its card shows pictures", async () => {
    model().script(callTools(call("mcp__files__parts", { size: "small" })), say("A blue square."));
    await panel().send("show me a picture");
    await panel().page.getByText('Arguments: {"size":"small"}').waitFor();
    await panel().page.getByText("Calls parts of the MCP server files").waitFor();
    await panel().pictures("mcp-asks");
    await panel().page.getByRole("alertdialog").getByRole("button", { name: "Allow Once" }).click();
    const picture = panel().toolCalls("completed").getByRole("img", { name: "Result of the call" });
    await expect.poll(() => picture.evaluate((image) => "naturalWidth" in image && image.naturalWidth)).toBe(16);
    await panel().idle();
    await panel().pictures("mcp-card");
  });

  test("a change of the memory is undone from its card", async () => {
    await panel().page.getByRole("combobox", { name: "Mode" }).selectOption("auto");
    model().script(callTools(call("memory", { action: "add", content: "tests run with vitest" })), say("Noted."));
    await panel().send("remember how tests run");
    await panel().page.getByText("Noted.").first().waitFor();
    await panel().idle();
    const memory = join(panel().home, "memories", "MEMORY.md");
    expect(readFileSync(memory, "utf8")).toBe("tests run with vitest\n");
    await panel().pictures("memory-card");
    await panel().toolCalls("completed").getByRole("button", { name: "Undo This Change" }).click();
    await panel().toolCalls("completed").getByText("Undone").waitFor();
    await panel().page.getByText("Removed from the memory: tests run with vitest.").first().waitFor();
    expect(readFileSync(memory, "utf8")).toBe("");
    await panel().pictures("memory-undone");
    await panel().reload();
    await panel().toolCalls("completed").getByText("Undone").waitFor();
    expect(await panel().page.getByRole("button", { name: "Undo This Change" }).count()).toBe(0);
  });

  test("the line of a memory review is there after a reload of its session, and is undone by its button", async () => {
    await panel().runCommand("Hermes: Show Sessions");
    await panel().page.locator(".history-name", { hasText: "A reviewed session" }).click();
    const line = panel().page.locator(".row", { hasText: "Memory review · Remember: likes tabs" });
    await line.getByRole("button", { name: "Undo This Change" }).click();
    await line.getByText("Undone").waitFor();
    expect(readFileSync(join(panel().home, "memories", "USER.md"), "utf8")).toBe("");
  });

  test("skills are found by words, shown with what they may run, and installed, by three clicks", async () => {
    const command = (text: string) => panel().page.locator("a.path-link", { hasText: text }).last();
    await panel().runCommand("Hermes: Show Extensions");
    await panel().page.getByRole("button", { name: "Find Skills…" }).click();
    await expect.poll(() => panel().composer.inputValue()).toBe("/skills search ");
    await panel().composer.pressSequentially("regression");
    await panel().composer.press("Enter");
    await command("/skills install official/bisect-regression").click();
    await expect.poll(() => panel().composer.inputValue()).toBe("/skills install official/bisect-regression");
    await panel().composer.press("Enter");
    await panel()
      .page.getByText("programs that the agent may run")
      .or(panel().page.getByText("no programs"))
      .last()
      .waitFor();
    await panel().pictures("skills-found");
    await command("/skills confirm").click();
    await panel().composer.press("Enter");
    await panel().page.getByText("Installed: bisect-regression.").first().waitFor();
  });

  test("no process of a server outlives its window", async () => {
    const servers = () => processesWith((words) => words.includes(MARK)).filter(isAlive);
    const before = servers();
    expect(before.length).toBeGreaterThan(0);
    await panel().reload();
    expect(servers().filter((pid) => before.includes(pid))).toEqual([]);
  });
});
