import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { HermesTask } from "../../agent-core/protocol/delegation.ts";
import { delegation, nestedCall, task, tasksUpdate } from "../support/panel/delegated-tasks.ts";
import { useFedPanel } from "../support/panel/fed-panel.ts";
import { TOO_WIDE } from "../support/panel/too-wide.ts";

const THEMES = ["light", "dark", "high-contrast", "high-contrast-light"] as const;

const running = (id: string, facts: Partial<HermesTask> = {}): HermesTask =>
  task(id, {
    status: "running",
    attempt: 1,
    iterations: 3,
    tokens: 12_400,
    startedAt: Date.now() - 4_000,
    sessionId: `child-${id}`,
    step: "Read src/parser/tokens.ts",
    ...facts,
  });
const ended = (id: string, facts: Partial<HermesTask> = {}): HermesTask =>
  running(id, { status: "completed", durationMs: 32_000, files: [{ path: `src/${id}.ts`, hunks: 2 }], ...facts });

const DIAMOND = [
  ended("survey", { goal: "List every caller of the old parser", files: [] }),
  running("parser", { goal: "Replace the parser with the new one", dependsOn: ["survey"] }),
  running("docs", { goal: "Update the documentation", dependsOn: ["survey"], attempt: 2 }),
  task("tests", { goal: "Write tests for the new parser and run them", dependsOn: ["parser"] }),
  task("release", { goal: "Prepare the release notes", dependsOn: ["tests", "docs", "survey"] }),
];

const change = (tasks: readonly HermesTask[], id: string, facts: Partial<HermesTask>): readonly HermesTask[] =>
  tasks.map((one) => (one.id === id ? { ...one, ...facts } : one));

// The card of a delegation, fed with updates of the agent: no agent runs.
describe("the card of a delegation", () => {
  const panel = useFedPanel();

  /** Each test has a call of its own: the panel remembers the folds of a call. */
  let call = "";
  let calls = 0;

  const card = () => panel().locator(`[data-tool-call="${call}"]`);
  const row = (id: string) => card().locator(`[data-task="${id}"]`);
  const announced = () => panel().locator('[role="status"][aria-live]').last().textContent();
  const lastPosted = () => panel().posted.at(-1);

  beforeEach(async () => {
    calls += 1;
    call = `d${calls}`;
    await panel().reset();
    await panel().feed({ kind: "prompt", id: "p", text: "Replace the parser" });
    await panel().update(delegation(call, DIAMOND));
    await row("parser").waitFor();
  });

  afterEach(async () => {
    await panel().setWidth(320);
    await panel().setTheme("dark");
  });

  test("shows each task with its state, its last step, its tokens and its attempts", async () => {
    expect(await panel().page.getByRole("list", { name: "Tasks" }).getByRole("listitem").count()).toBe(5);
    expect(await row("parser").textContent()).toContain("running: Replace the parser with the new one");
    expect(await row("parser").textContent()).toContain("Read src/parser/tokens.ts");
    expect(await row("docs").textContent()).toContain("try 2 · 12k tokens");
    expect(await row("tests").textContent()).toContain("Waiting for parser");
    expect(await card().locator("> .fold > .fold-summary").textContent()).toContain("1/5");
    await panel().pictures("delegation-running");
  });

  test("draws the graph with its lines, from which a key leads to the row of a task", async () => {
    const graph = panel().page.getByRole("group", { name: "Graph of the tasks" });
    expect(await graph.getByRole("button").count()).toBe(5);
    expect(await graph.locator("path").count()).toBe(6);
    await graph.getByRole("button", { name: /old parser/ }).focus();
    await panel().page.keyboard.press("ArrowDown");
    await panel().page.keyboard.press("Enter");
    expect(
      await row("parser")
        .getByRole("button")
        .first()
        .evaluate((button) => button.matches(":focus")),
    ).toBe(true);
  });

  test("has no graph without dependencies", async () => {
    await panel().update(tasksUpdate(call, [running("a"), running("b")]));
    await row("a").waitFor();
    expect(await panel().page.getByRole("group", { name: "Graph of the tasks" }).count()).toBe(0);
    await panel().pictures("delegation-flat");
  });

  test("keeps every row in its place while the tasks go on", async () => {
    const places = () =>
      card()
        .locator("[data-task]")
        .evaluateAll((rows) => rows.map((one) => one.getBoundingClientRect().top));
    const before = await places();
    let tasks = change(DIAMOND, "parser", {
      step: "Run the whole test suite of the parser and of its callers",
      tokens: 1_300_000,
    });
    await panel().update(tasksUpdate(call, tasks));
    await row("parser").getByText("Run the whole").waitFor();
    expect(await places()).toEqual(before);
    tasks = change(tasks, "parser", {
      status: "failed",
      reason: "The model stopped answering after four retries within five minutes.",
    });
    tasks = change(tasks, "tests", { status: "skipped", reason: "Its dependency parser failed." });
    await panel().update(tasksUpdate(call, tasks));
    await row("tests").getByText("Its dependency").waitFor();
    expect(await places()).toEqual(before);
  });

  test("announces the ends of tasks, and nothing else", async () => {
    const silent = await announced();
    await panel().update(tasksUpdate(call, change(DIAMOND, "parser", { step: "Another step" })));
    await row("parser").getByText("Another step").waitFor();
    expect(await announced()).toBe(silent);
    await panel().update(
      tasksUpdate(call, change(DIAMOND, "parser", { status: "timeout", reason: "It ran for 60 s." })),
    );
    await expect.poll(announced).toBe("Replace the parser with the new one: timed out, It ran for 60 s.");
  });

  test("stops one task, by keyboard alone", async () => {
    await row("docs").getByRole("button", { name: "Stop Update the documentation" }).press("Enter");
    await expect.poll(lastPosted).toEqual({ type: "task-stop", callId: call, taskId: "docs" });
    await panel().update(
      tasksUpdate(call, change(DIAMOND, "docs", { status: "cancelled", reason: "Stopped by the user." })),
    );
    await row("docs").getByText("Stopped by the user.").waitFor();
    expect(await row("docs").locator(":focus").getAttribute("aria-expanded")).toBe("false");
    expect(await row("docs").getByRole("button", { name: /^Stop/ }).count()).toBe(0);
  });

  test("steers one task in its row", async () => {
    await row("parser")
      .getByRole("button", { name: /^Send a Message/ })
      .press("Enter");
    await panel().page.keyboard.type("keep the old names");
    await panel().pictures("delegation-steer");
    await panel().page.keyboard.press("Enter");
    await expect
      .poll(lastPosted)
      .toEqual({ type: "task-steer", callId: call, taskId: "parser", text: "keep the old names" });
    expect(await row("parser").locator(":focus").getAttribute("title")).toBe("Send a Message to This Task");
    await panel().page.keyboard.press("Enter");
    await panel().page.keyboard.press("Escape");
    expect(await row("parser").locator("form").count()).toBe(0);
  });

  test("is one line after its end, and opens to the results", async () => {
    const over = DIAMOND.map((one) =>
      one.status === "completed" ? one : ended(one.id, { goal: one.goal, dependsOn: one.dependsOn }),
    );
    const partial = change(over, "docs", {
      files: [
        { path: "src/docs.ts", hunks: 2 },
        { path: "src/generated/table-of-contents.ts", hunks: 0, shared: true },
      ],
      status: "partial",
      reason: "The result breaks its schema: summary is missing.",
      attempt: 2,
      verdicts: [
        {
          correctness: 0.35,
          completeness: 0.8,
          confidence: 0.9,
          decision: "retry",
          reason: "The examples still call the old parser.",
        },
        {
          correctness: 0.9,
          completeness: 0.62,
          confidence: 0.85,
          decision: "amend",
          reason: "The migration guide is missing.",
        },
      ],
    });
    await panel().update(tasksUpdate(call, partial, "completed"));
    await row("docs").waitFor({ state: "detached" });
    expect(await card().textContent()).toContain("4/5");
    await panel().pictures("delegation-folded");
    await card().getByRole("button").first().click();
    await row("docs").getByRole("button").first().click();
    await row("docs")
      .getByRole("button", { name: /checks/ })
      .click();
    expect(await row("docs").textContent()).toContain("The migration guide is missing.");
    expect(await row("docs").locator(".score").count()).toBe(6);
    expect(await row("docs").textContent()).toContain("table-of-contents.tsperhaps by another task");
    await row("docs").getByTitle("src/docs.ts: open the diff").click();
    await expect.poll(lastPosted).toEqual({ type: "open-review", path: "src/docs.ts" });
    await panel().pictures("delegation-details");
  });

  test("stays open at its end when the user works in it", async () => {
    await row("docs").getByRole("button").first().click();
    await panel().update(
      tasksUpdate(
        call,
        DIAMOND.map((one) => ended(one.id, { goal: one.goal })),
        "completed",
      ),
    );
    await row("docs").getByText("1 file changed").waitFor();
    await card().getByRole("button").first().click();
    await row("docs").waitFor({ state: "detached" });
  });

  test("has the calls of a task under it, folded, and says which task asks for permission", async () => {
    const diff = { type: "diff", path: "/project/a.txt", oldText: "one\n", newText: "two\n" } as const;
    await panel().update(
      nestedCall(call, "parser", 1, { title: "Edit a.txt", kind: "edit", status: "completed", content: [diff] }),
    );
    const ask = { title: "Run npm publish", kind: "execute", status: "pending" } as const;
    await panel().update(nestedCall(call, "parser", 2, ask));
    await panel().feed({
      kind: "permission",
      requestId: "r",
      toolCall: { toolCallId: `${call}/parser/2`, title: "Run npm publish" },
      reasons: [],
      options: [{ optionId: "once", name: "Allow Once", kind: "allow_once" }],
      command: "npm publish",
      task: "Replace the parser with the new one",
    });
    const request = panel().page.getByRole("alertdialog");
    await request.getByText("Replace the parser with the new one").waitFor();
    await row("parser").getByText("Waiting for your permission").waitFor();
    await panel().pictures("delegation-asks");
    expect(await panel().locator("[data-entry]").count()).toBe(2);
    await row("parser").getByRole("button").first().click();
    const nested = row("parser").locator("[data-tool-call]");
    expect(await nested.count()).toBe(2);
    expect(await nested.locator(".diff").count()).toBe(0);
    await nested.first().getByRole("button").first().click();
    await nested.locator(".diff").waitFor();
    await panel().pictures("delegation-calls");
    await panel().feed({ kind: "permission-end", requestId: "r", label: "Allow Once" });
    await request.waitFor({ state: "detached" });
  });

  test("opens the conversation of a sub-agent, and Escape returns to the place where the reader was", async () => {
    await row("docs")
      .getByRole("button", { name: /^Open the Conversation/ })
      .press("Enter");
    await expect
      .poll(() => panel().posted.some((message) => message.type === "task-open" && message.child === "child-docs"))
      .toBe(true);
    const say = (text: string, position: number) =>
      ({
        sessionUpdate: "agent_message_chunk",
        messageId: `message-${position}`,
        content: { type: "text", text },
      }) as const;
    const tell = (reset: boolean, ...texts: readonly string[]) =>
      panel().tell({
        type: "task-events",
        child: "child-docs",
        reset,
        events: texts.map((text, index) => ({ kind: "update", update: say(text, index) })),
      });
    await tell(true, "I read the documentation first.");
    const page = panel().page.getByRole("region", { name: "Update the documentation" });
    await page.getByText("I read the documentation first.").first().waitFor();
    expect(await page.getByRole("button", { name: /Edit Message/ }).count()).toBe(0);
    await panel().update(tasksUpdate(call, change(DIAMOND, "docs", { step: "Edit README.md", iterations: 4 })));
    await page.getByText("Edit README.md").waitFor();
    await expect.poll(lastPosted).toEqual({ type: "task-refresh", child: "child-docs" });
    await panel().pictures("delegation-page");
    await page.getByRole("heading", { name: "Update the documentation" }).focus();
    await panel().page.keyboard.press("Escape");
    await row("docs").waitFor();
    await expect
      .poll(() => panel().locator(":focus").getAttribute("aria-label"))
      .toBe("Open the Conversation of Update the documentation");
  });

  test("is readable in every theme and width", async () => {
    for (const theme of THEMES) {
      await panel().setTheme(theme);
      for (const width of [320, 200]) {
        await panel().setWidth(width);
        expect(await panel().locator("body").evaluate(TOO_WIDE), `${theme}, ${width} px`).toEqual([]);
      }
    }
  });

  test("the end of the turn cancels what still ran", async () => {
    await panel().feed({ kind: "turn-end", stopReason: "cancelled" });
    await card().getByRole("button").first().click();
    await row("parser").getByText("Cancelled", { exact: true }).waitFor();
  });
});
