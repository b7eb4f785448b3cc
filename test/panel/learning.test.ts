import axe from "axe-core";
import { beforeEach, describe, expect, test } from "vitest";
import { INITIAL_FACTS } from "../../agent-core/protocol/initial-facts.ts";
import type { LearntItem } from "../../agent-core/protocol/learning.ts";
import type { LearningData } from "../../agent-core/protocol/learning-page.ts";
import { useFedLearning } from "../support/panel/fed-learning.ts";
import { useFedPanel } from "../support/panel/fed-panel.ts";
import { items, learningSample } from "../support/panel/learning-sample.ts";
import { axeFailures } from "../support/panel/panel-theme.ts";
import { TOO_WIDE } from "../support/panel/too-wide.ts";

const SECTIONS = ["report", "learnt", "skills", "jobs", "settings"] as const;

/** Texts that a model, a tool or a web page may have planted. */
const HOSTILE = [
  '<img src=x onerror="document.title = 1"><script>document.title = "run"</script>',
  "[click](command:workbench.action.terminal.new) \u202Eevil\u202C `",
  "x".repeat(20_000),
];

const withItems = (changed: LearningData["state"]["items"]): LearningData => ({
  ...learningSample,
  state: { ...learningSample.state, items: changed },
});

describe("the learning page", () => {
  const learning = useFedLearning();
  const row = (id: string) => learning().locator(`[data-row="${id}"]`);
  const button = (name: string | RegExp) => learning().page.getByRole("button", { name });
  const last = () => learning().posted.at(-1);

  beforeEach(() => {
    learning().posted.length = 0;
  });

  test("asks for the data, and says that it loads", async () => {
    await learning().load();
    expect(learning().posted).toEqual([{ type: "ready" }]);
    expect(await learning().page.getByText("Loading…").isVisible()).toBe(true);
  });

  test("shows each rate with its number and the usual value, and the cost", async () => {
    await learning().show(learningSample, "report");
    await learning().pictures("learning-report");
    const figures = learning().page.getByRole("list", { name: "Figures" });
    expect(await figures.getByRole("listitem").first().textContent()).toBe("Success: 85% of 38 cases · usually 70%");
    expect(await figures.getByRole("listitem").last().textContent()).toMatch(
      /^Cost: \$3\.\d\d, \$0\.21 of it for learning/,
    );
  });

  test("a regression leads to its sessions", async () => {
    await learning().show(learningSample, "report");
    const worse = learning().page.getByRole("region", { name: "Worse than before" });
    expect(await worse.textContent()).toContain("Tool errors of terminal: 4% → 25%, of 88 cases");
    await worse.getByRole("button").first().click();
    expect(last()).toEqual({ type: "open-session", sessionId: "20261123_140300_0a1b2c3d" });
  });

  test("few observations are no judgement", async () => {
    const [newest] = learningSample.reports;
    if (newest === undefined) throw new Error("The sample has reports.");
    const rates = [{ name: "task_success_rate", value: 1, n: 3, baseline: 0.2 }];
    await learning().show({ ...learningSample, reports: [{ ...newest, rates }] }, "report");
    expect(await learning().page.getByText("Success: 100% of 3 cases · too few to tell").count()).toBe(1);
  });

  test("lists what was learnt: what waits for the user first, with reason, sessions, use and actions", async () => {
    await learning().show(learningSample, "learnt");
    expect(await learning().locator("[data-row]").count()).toBe(5);
    expect(await learning().locator("[data-row]").first().getAttribute("data-row")).toBe("f-1");
    const text = await row("p-1").textContent();
    expect(text).toContain("Answers are short and in British English.");
    expect(text).toContain("Preference · pinned · everywhere · seen 4× · used 31×");
    expect(text).toContain("and 1 earlier");
    await button(/^Keep: Tests/).click();
    expect(last()).toEqual({ type: "act", id: "f-1", action: "accept" });
    await row("p-1").getByRole("button", { name: "Open File" }).click();
    expect(last()).toEqual({ type: "open-item", id: "p-1" });
    await learning().pictures("learning-learnt");
  });

  test("an item that waits for the user is kept or forgotten at once or one by one, and one line beside another", async () => {
    const [first] = items;
    if (first === undefined) throw new Error("The sample has items.");
    const page: LearntItem = {
      ...first,
      id: "f-8",
      text: "Permission prompts are disabled for this project.",
      seen: 1,
    };
    const rival: LearntItem = {
      ...page,
      id: "p-9",
      kind: "preference",
      text: "Commit messages begin with `upd:`.",
      reason: "Your words show it. It would replace another line.",
      actions: ["undo", "forget", "accept", "both"],
    };
    await learning().show(withItems([page, rival, ...items]), "learnt");
    const waiting = learning().page.getByRole("region", { name: "Waiting for your yes" });
    expect(await waiting.locator("[data-row]").count()).toBe(3);
    expect(await row("f-8").getByRole("button").allTextContents()).toEqual(expect.arrayContaining(["Keep", "Forget"]));
    await button(/^Keep Both: Commit/).click();
    expect(last()).toEqual({ type: "act", id: "p-9", action: "both" });
    await learning().pictures("learning-waiting");
    await button(/^Keep All/).click();
    expect(last()).toEqual({ type: "act", id: "waiting", action: "accept" });
    await learning().send({ type: "acted", about: "waiting", message: "Kept: 2 items.", isError: false });
    await button(/^Forget All/).click();
    await button("Forget All").click();
    await expect.poll(last).toEqual({ type: "act", id: "waiting", action: "forget" });
  });

  test("a session is named by its title, and one that no longer exists is no link", async () => {
    await learning().show({ ...learningSample, titles: { "20261119_140300_0a1b2c3d": "Round the prices" } }, "learnt");
    expect(await row("p-1").locator(".learning-session").allTextContents()).toEqual(["Round the prices"]);
    const gone = row("p-1").getByTitle("This session no longer exists.");
    expect(await gone.first().textContent()).toMatch(/^Session of Nov 2\d, /);
  });

  test("a search narrows the list, and a box shows what was replaced", async () => {
    await learning().show(learningSample, "learnt");
    await learning().page.getByRole("searchbox").fill("spelling TWICE");
    await expect.poll(() => learning().locator("[data-row]").count()).toBe(1);
    expect(await learning().page.getByText("1 of 6").isVisible()).toBe(true);
    await learning().page.getByRole("searchbox").fill("no such words");
    await learning().page.getByText("Nothing matches the search.").waitFor();
    await learning().page.getByRole("searchbox").fill("");
    await learning().page.getByRole("searchbox").fill("prices preference");
    await expect.poll(() => learning().locator("[data-row]").count()).toBe(1);
    await learning().page.getByRole("searchbox").fill("");
    await learning().page.getByRole("checkbox", { name: "Replaced and retired" }).check();
    await row("f-3").waitFor();
  });

  test("forgetting asks first, and Escape returns to the button", async () => {
    await learning().load();
    await learning().show(learningSample, "learnt");
    await row("p-2")
      .getByRole("button", { name: /^Forget/ })
      .click();
    expect(await button("Cancel").evaluate((element) => element.ownerDocument.activeElement === element)).toBe(true);
    await learning().page.keyboard.press("Escape");
    await expect
      .poll(() =>
        row("p-2")
          .getByRole("button", { name: /^Forget/ })
          .evaluate((one) => one.matches(":focus")),
      )
      .toBe(true);
    expect(last()).toEqual({ type: "ready" });
    await learning().page.keyboard.press("Enter");
    await row("p-2").getByRole("button", { name: "Forget", exact: true }).click();
    expect(last()).toEqual({ type: "act", id: "p-2", action: "forget" });
    await learning().send({ type: "data", data: withItems(items.filter(({ id }) => id !== "p-2")) });
    await learning().send({ type: "acted", about: "p-2", message: "Forgotten.", isError: false });
    await learning().page.getByText("Forgotten.").waitFor();
    expect(await row("p-2").count()).toBe(0);
    expect(await learning().page.evaluate("document.activeElement.closest('[data-row]')?.dataset.row")).toBe("f-2");
  });

  test("an action runs once until its outcome arrives", async () => {
    await learning().show(learningSample, "learnt");
    await button(/^Pin: New functions/).dblclick();
    expect(learning().posted).toEqual([{ type: "act", id: "p-2", action: "pin" }]);
    await learning().send({ type: "acted", about: "p-2", message: "The file is locked.", isError: true });
    await learning().page.getByText("The file is locked.").waitFor();
    await button(/^Pin: New functions/).click();
    expect(learning().posted).toHaveLength(2);
  });

  test("skills have version, state, score and uses", async () => {
    await learning().show(learningSample, "skills");
    expect(await row("s-1").textContent()).toContain("Version 3 · active · everywhere · score 86% from 14 uses");
    expect(await row("s-2").textContent()).toContain("Version 1 · on trial · prices · no score yet, 2 uses");
    expect(await row("s-3").textContent()).toContain("retired");
    await learning().pictures("learning-skills");
  });

  test("jobs have their schedule in words, next and last runs, and late runs both times", async () => {
    await learning().show(learningSample, "jobs");
    const text = await row("j-1").textContent();
    expect(text).toMatch(/At 09:00, Monday to Friday, Europe\/Berlin.*next Nov 24/);
    expect(text).toMatch(/late: planned Nov 23, .* ran Nov 23, .*2 tests fail since yesterday\./);
    await row("j-1")
      .getByRole("button", { name: /^Pause/ })
      .click();
    expect(last()).toEqual({ type: "job", id: "j-1", action: "pause" });
    await row("j-2")
      .getByRole("button", { name: /^Resume/ })
      .click();
    expect(last()).toEqual({ type: "job", id: "j-2", action: "resume" });
    await learning().send({ type: "acted", about: "j-1", message: "Paused.", isError: false });
    await row("j-1")
      .getByRole("button", { name: /^Remove/ })
      .click();
    await row("j-1").getByRole("button", { name: "Remove", exact: true }).click();
    expect(last()).toEqual({ type: "job", id: "j-1", action: "remove" });
    expect(
      await row("distillation")
        .getByRole("button", { name: /^Remove/ })
        .count(),
    ).toBe(0);
    await learning().pictures("learning-jobs");
  });

  test("a switch changes only with the agent's answer", async () => {
    await learning().show(learningSample, "settings");
    const use = learning().page.getByRole("switch", { name: "Use what was learnt" });
    await use.click();
    expect(last()).toEqual({ type: "switch", name: "use", on: false });
    expect(await use.isChecked()).toBe(true);
    const switches = { ...learningSample.state.switches, use: false };
    await learning().send({ type: "data", data: { ...learningSample, state: { ...learningSample.state, switches } } });
    await expect.poll(() => use.isChecked()).toBe(false);
    await button("Open config.yaml").click();
    expect(last()).toEqual({ type: "open-place", place: "config" });
    await learning().pictures("learning-settings");
  });

  test("keys alone lead through the sections", async () => {
    await learning().load();
    await learning().show(learningSample, "report");
    await learning().page.keyboard.press("Tab");
    await learning().page.keyboard.press("Enter");
    expect(last()).toEqual({ type: "learn" });
    await learning().page.keyboard.press("Tab");
    await learning().page.keyboard.press("ArrowRight");
    await learning().page.keyboard.press("ArrowRight");
    await learning()
      .page.getByRole("tab", { name: /^Skills/, selected: true })
      .waitFor();
    await learning().page.keyboard.press("End");
    await learning().page.getByRole("tab", { name: "Settings", selected: true }).waitFor();
    await learning().page.keyboard.press("ArrowRight");
    await learning().page.getByRole("tab", { name: "Report", selected: true }).waitFor();
  });

  test("each empty state says what comes", async () => {
    const state = { ...learningSample.state, items: [], obstacle: "no-model" } as const;
    await learning().show({ state, reports: [], cron: null, titles: {} }, "report");
    await learning().page.getByText("There is no report yet.").waitFor();
    await learning().page.getByText("learning needs a language model").waitFor();
    await button("Set Up a Model").click();
    expect(last()).toEqual({ type: "set-up-model" });
    await learning().show({ state, reports: [], cron: null, titles: {} }, "learnt");
    await learning().page.getByText("Nothing has been learnt yet.").waitFor();
    await learning().show({ state, reports: [], cron: null, titles: {} }, "skills");
    await learning().page.getByText("No skill has been learnt yet.").waitFor();
    await learning().show({ state, reports: [], cron: null, titles: {} }, "jobs");
    await learning().page.getByText("There are no planned jobs.").waitFor();
    await learning().pictures("learning-empty");
  });

  test("says when learning is off, or the budget of today is spent", async () => {
    await learning().load();
    const { state } = learningSample;
    await learning().show({ ...learningSample, state: { ...state, obstacle: "budget" } }, "report");
    await learning().page.getByText("Today's budget is spent.").waitFor();
    const switches = { ...state.switches, enabled: false };
    await learning().show({ ...learningSample, state: { ...state, switches } }, "report");
    await learning().page.getByText("Learning is off: nothing is learnt.").waitFor();
    expect(await button("Learn Now").isDisabled()).toBe(true);
    await button("Switch On").click();
    expect(last()).toEqual({ type: "switch", name: "enabled", on: true });
  });

  test("a failure names its reason and can be tried again", async () => {
    await learning().load();
    await learning().send({ type: "failed", message: "The agent has stopped." });
    await learning().page.getByText("The agent did not answer: The agent has stopped.").waitFor();
    await button("Try Again").click();
    expect(last()).toEqual({ type: "ready" });
    await learning().show(learningSample, "report");
    expect(await button("Try Again").count()).toBe(0);
  });

  test("keeps its section while VS Code hides it", async () => {
    await learning().show(learningSample, "jobs");
    await learning().load();
    await learning().send({ type: "data", data: learningSample });
    await learning().page.getByRole("tab", { name: /^Jobs/, selected: true }).waitFor();
  });

  test("new data changes neither scroll position nor focus", async () => {
    const many = Array.from({ length: 60 }, (_, index) => ({ ...items[1], id: `p-${index}` })) as typeof items;
    await learning().show(withItems(many), "learnt");
    await row("p-30").getByRole("button", { name: /^Undo/ }).focus();
    const scroll = await learning().page.evaluate("scrollY");
    const changed = many.map((item) => ({ ...item, used: 99 }));
    await learning().send({ type: "data", data: withItems(changed) });
    await expect.poll(() => row("p-30").textContent()).toContain("used 99×");
    expect(await learning().page.evaluate("scrollY")).toBe(scroll);
    expect(await learning().page.evaluate("document.activeElement.closest('[data-row]').dataset.row")).toBe("p-30");
  });

  test("a thousand items are drawn in pages of 50", async () => {
    const many = Array.from({ length: 1_000 }, (_, index) => ({ ...items[1], id: `p-${index}` })) as typeof items;
    await learning().show(withItems(many), "learnt");
    expect(await learning().locator("[data-row]").count()).toBe(50);
    await button("Show 50 More (950 left)").click();
    expect(await learning().locator("[data-row]").count()).toBe(100);
  });

  test("hostile texts stay texts", async () => {
    const hostile = HOSTILE.map((text, index) => ({ ...items[1], id: `h-${index}`, text, reason: text, scope: text }));
    await learning().show(withItems(hostile as typeof items), "learnt");
    expect(await row("h-1").textContent()).toContain("⟨U+202E⟩evil");
    expect(await row("h-0").locator(".learning-text").textContent()).toContain(HOSTILE[0]);
    expect(await learning().page.title()).toBe("Hermes");
    expect(await learning().locator("#root a, #root img, #root script").count()).toBe(0);
    await learning().setWidth(200);
    expect(await learning().page.evaluate(TOO_WIDE)).toEqual([]);
    expect(await row("h-2").evaluate((element) => element.getBoundingClientRect().height)).toBeLessThan(900);
  });

  const fits = async (width: number): Promise<void> => {
    await learning().setWidth(width);
    for (const section of SECTIONS) {
      await learning().show(learningSample, section);
      expect(await learning().page.evaluate(TOO_WIDE), section).toEqual([]);
      expect(await learning().page.evaluate("document.documentElement.scrollWidth"), section).toBe(width);
    }
  };

  test.each([200, 320, 900])("nothing is wider than the page at %i px", (width) => fits(width));

  test("is German in a German VS Code", async () => {
    await learning().load({ isGerman: true });
    await learning().show(learningSample, "report");
    await learning().page.getByText("Erfolg: 85 %").waitFor();
    for (const width of [200, 320]) await fits(width);
    await learning().show(learningSample, "learnt");
    expect(await row("p-1").textContent()).toContain("Vorliebe · angeheftet · überall · 4× beobachtet · 31× verwendet");
  });

  test("passes the checks of axe, and has enough contrast in each theme", async () => {
    await learning().page.evaluate(axe.source);
    const failures: unknown[] = [];
    for (const section of SECTIONS) {
      await learning().show(learningSample, section);
      await learning().setWidth(200);
      failures.push(await learning().page.evaluate(axeFailures()));
      await learning().setWidth(900);
      for (const theme of ["light", "high-contrast"] as const) {
        await learning().setTheme(theme);
        failures.push(await learning().page.evaluate(axeFailures(["color-contrast"])));
      }
      await learning().setTheme("dark");
    }
    expect(failures.flat()).toEqual([]);
  });
});

describe("the line about what was learnt", () => {
  const panel = useFedPanel();
  const line = () => panel().page.getByRole("region", { name: "Learnt" });
  const learnt = async (message: string | null, canUndo = true): Promise<void> => {
    const shown = message === null ? null : { message, canUndo };
    await panel().tell({ type: "facts", facts: { ...INITIAL_FACTS, agent: { state: "ready" }, learnt: shown } });
  };

  test("names the newest, and opens, undoes and dismisses it without moving focus or scroll", async () => {
    const paragraphs = Array.from({ length: 80 }, (_, index) => `Paragraph ${index}`).join("\n\n");
    await panel().update({ sessionUpdate: "agent_message_chunk", content: { type: "text", text: paragraphs } });
    await panel().feed({ kind: "turn-end", stopReason: "end_turn" });
    const composer = panel().page.getByRole("textbox", { name: "Message Hermes" });
    await composer.focus();
    const list = panel().locator(".transcript");
    await list.evaluate((element) => element.scrollTo(0, 100));
    await learnt("Learnt: answers are in British English.");
    await line().waitFor();
    expect(await composer.evaluate((element) => element.matches(":focus"))).toBe(true);
    expect(await list.evaluate((element) => element.scrollTop)).toBe(100);
    await learnt("Learnt: prices are in cents.");
    await expect.poll(() => line().textContent()).toMatch(/prices are in cents/);
    await panel().pictures("learnt-line");
    for (const name of ["Open", "Undo", "Dismiss the Note About What Was Learnt"]) {
      await line().getByRole("button", { name }).click();
    }
    expect(
      panel()
        .posted.slice(-3)
        .map(({ type }) => type),
    ).toEqual(["learnt-open", "learnt-undo", "learnt-dismiss"]);
    await learnt(null);
    await line().waitFor({ state: "detached" });
  });

  test("a line that the agent follows can be called wrong", async () => {
    const used = { message: "Used: commit messages begin with chg: (since 5 March 2026)", canUndo: true, isUse: true };
    await panel().tell({ type: "facts", facts: { ...INITIAL_FACTS, agent: { state: "ready" }, learnt: used } });
    await panel().pictures("learnt-used");
    await line().getByRole("button", { name: "Wrong" }).click();
    expect(panel().posted.at(-1)).toEqual({ type: "learnt-undo" });
    await learnt(null);
  });

  test("an outcome that cannot be undone offers no undo, and no text hides characters in it", async () => {
    await learnt("Undone: a\u202Eb", false);
    await expect.poll(() => line().textContent()).toMatch(/Undone: a⟨U\+202E⟩b/);
    expect(await line().getByRole("button", { name: "Undo" }).count()).toBe(0);
  });
});
