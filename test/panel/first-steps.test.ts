import type { SessionConfigOption } from "@zed-industries/agent-client-protocol";
import { describe, expect, test } from "vitest";
import type { WorkspaceFacts } from "../../agent-core/protocol/panel-events.ts";
import { emptyState } from "../../webview/state/state.ts";
import { useFedPanel } from "../support/panel/fed-panel.ts";
import { allowClipboard } from "../support/shared-browser.ts";

/** Runs in the browser, whose names are not among the types of this project. */
const SCHEME = new Function("element", "return getComputedStyle(element).colorScheme") as (element: unknown) => string;

/** Direction of an inline code, its isolation, and the direction of its paragraph. */
const DIRECTION = new Function(
  "code",
  `const { direction, unicodeBidi } = getComputedStyle(code);
  return [direction, unicodeBidi, getComputedStyle(code.parentElement).direction];`,
) as (element: unknown) => unknown;

/** Safari and some methods on Linux report the key so, without `isComposing`. */
const ENTER_OF_INPUT_METHOD = new Function(
  "field",
  `field.dispatchEvent(new KeyboardEvent("keydown", { key: "Enter", keyCode: 229, bubbles: true, cancelable: true }));`,
) as (element: unknown) => void;

/** The hint that the field shows, and true when it is whole. */
const HINT = `((field) => {
  const { font, paddingLeft, paddingRight } = getComputedStyle(field);
  const short = getComputedStyle(field.parentElement, "::before").content;
  const hint = short === "none" ? field.placeholder : JSON.parse(short);
  const canvas = Object.assign(document.createElement("canvas").getContext("2d"), { font });
  const room = field.clientWidth - parseFloat(paddingLeft) - parseFloat(paddingRight);
  return [hint, canvas.measureText(hint).width <= room];
})(document.querySelector(".composer textarea"))`;

// The panel where the user needs a next step: before the first message, after an error, after a plan.
describe("next steps in the panel", () => {
  const panel = useFedPanel();

  const button = (name: string | RegExp) => panel().page.getByRole("button", { name });
  const posted = () => panel().posted.findLast(({ type }) => type !== "ack" && type !== "focus");
  const facts = (changed: Partial<WorkspaceFacts>) =>
    panel().tell({ type: "facts", facts: { ...emptyState.facts, agent: { state: "ready" }, ...changed } });
  const pictures = async (state: string): Promise<void> => {
    await panel().pictures(state);
    await panel().setTheme("dark");
    await panel().setWidth(320);
  };

  test("the empty page has no suggestion before the host knows the model", async () => {
    await panel().page.getByText("Reads and edits files and runs commands").waitFor();
    expect(await panel().locator(".start-row").count()).toBe(0);
  });

  test("the empty page offers suggestions from the workspace and the last sessions", async () => {
    const session = { updatedAt: Date.now(), messages: 4, isCurrent: false };
    await facts({
      start: {
        hasRepository: true,
        recent: [
          { ...session, sessionId: "old-1", title: "Fix the total of the prices" },
          { ...session, sessionId: "old-2", title: "A long title of a session about the parser of the configuration" },
        ],
        suggestions: [
          { icon: "git-compare", label: "Review my changes", detail: "4 changed files", prompt: "Review them." },
          { icon: "error", label: "Fix the 3 problems", detail: "src/prices.ts", prompt: "Fix them." },
          { icon: "beaker", label: "Run the tests and fix what fails", detail: "", prompt: "Run them." },
        ],
      },
    });
    await button(/^Review my changes/).waitFor();
    await pictures("start-page");
    await panel().page.setViewportSize({ width: 320, height: 300 });
    const title = panel().page.getByRole("heading", { level: 1 });
    expect((await title.boundingBox())?.y).toBeGreaterThan(0); // the page scrolls from here
    await panel().setWidth(320);
    await button(/^Review my changes/).click();
    await expect.poll(posted).toEqual({ type: "prompt", text: "Review them.", inPlace: true });
    await button(/^Fix the total/).click();
    await expect.poll(posted).toEqual({ type: "session-open", sessionId: "old-1" });
    await button("New Session in a Worktree…").click();
    await expect.poll(posted).toEqual({ type: "new-worktree" });
  });

  test("notices before the first message leave the suggestions in sight", async () => {
    await panel().feed({ kind: "notice", severity: "info", text: "The key works: it reaches 3 models." });
    await panel().locator(".notice").getByText("it reaches 3 models").waitFor();
    await button(/^Review my changes/).waitFor();
    await pictures("start-page-notice");
    await panel().reset();
  });

  test("controls of the browser are drawn for the theme", async () => {
    const schemes: Record<string, string> = {};
    await panel().tell({ type: "command", id: "c0", command: { kind: "show-sessions" } });
    const box = panel().page.getByRole("checkbox", { name: "All Folders" });
    for (const theme of ["light", "dark", "high-contrast", "high-contrast-light"] as const) {
      await panel().setTheme(theme);
      schemes[theme] = await box.evaluate(SCHEME);
    }
    expect(schemes).toEqual({
      light: "normal",
      dark: "dark",
      "high-contrast": "dark",
      "high-contrast-light": "normal",
    });
    await panel().setTheme("dark");
    await panel().page.keyboard.press("Escape");
  });

  test("the bar of edits shows its whole text, and its buttons keep the focus in the panel", async () => {
    const file = (path: string) => ({ path, label: path, isWaiting: false, pendingHunks: 1, added: 123, removed: 45 });
    const [first, second] = [file("a.ts"), file("b.ts")];
    await facts({ review: [first, second] });
    const bar = panel().page.getByRole("region", { name: "Edits to review" });
    for (const width of [200, 260, 290, 320]) {
      await panel().setWidth(width);
      const isWhole = await bar.locator(".tool-title").evaluate((text) => text.scrollWidth <= text.clientWidth);
      expect(isWhole, `${width} px`).toBe(true);
    }
    await pictures("review-bar");
    await bar.getByRole("button", { name: "2 files" }).click();
    await button("Keep a.ts").focus();
    await panel().page.keyboard.press("Enter");
    await facts({ review: [second] });
    await expect.poll(() => panel().page.locator(":focus").textContent()).toContain("b.ts");
    await bar.getByRole("button", { name: "Keep", exact: true }).press("Enter");
    await facts({});
    await bar.waitFor({ state: "detached" });
    await expect.poll(() => panel().page.locator(":focus").getAttribute("aria-label")).toBe("Message Hermes");
  });

  test("the hint of the message field is whole at each width of the side bar", async () => {
    const hintAt = async (width: number): Promise<unknown> => {
      await panel().setWidth(width);
      return panel().page.evaluate(HINT);
    };
    for (const width of [200, 290]) expect(await hintAt(width)).toEqual(["Ask Hermes…", true]);
    await panel().feed({ kind: "prompt", id: "p0", text: "Wait" });
    await panel().page.getByPlaceholder("Queue… (Ctrl+Enter: now)").waitFor();
    expect(await hintAt(290)).toEqual(["Queue… (Ctrl+Enter: now)", true]);
    expect(await hintAt(200)).toEqual(["Queue…", true]);
    await panel().page.getByLabel("Message Hermes").fill("typed");
    expect(await hintAt(200)).not.toEqual(["Queue…", true]);
    await panel().page.getByLabel("Message Hermes").fill("");
    await panel().reset();
  });

  test("the arrows recall earlier messages, and leave a typed one alone", async () => {
    for (const [id, text] of [["p1", "first"] as const, ["p2", "second\nline"] as const, ["p3", "first"] as const]) {
      await panel().feed({ kind: "prompt", id, text });
      await panel().feed({ kind: "turn-end", stopReason: "end_turn" });
    }
    const message = panel().page.getByRole("textbox", { name: "Message Hermes" });
    await message.focus();
    const texts: string[] = [];
    for (const key of ["ArrowUp", "ArrowUp", "ArrowUp", "ArrowDown", "ArrowDown", "ArrowDown"]) {
      await message.press(key);
      texts.push(await message.inputValue());
    }
    // The third key goes to the first line of the message, and the next two to its end and on.
    const second = "second\nline";
    expect(texts).toEqual(["first", second, second, second, "first", ""]);
    await message.fill("mine");
    await message.press("ArrowUp");
    expect(await message.inputValue()).toBe("mine");
  });

  test("the arrows recall messages of other sessions after those of this one", async () => {
    const message = panel().page.getByRole("textbox", { name: "Message Hermes" });
    await message.fill("of another session");
    await message.press("Enter");
    await expect.poll(posted).toMatchObject({ type: "prompt", text: "of another session" });
    await panel().reset();
    await message.press("ArrowUp");
    expect(await message.inputValue()).toBe("of another session");
    await message.fill("mine");
  });

  test("an Enter of an input method sends nothing", async () => {
    const message = panel().page.getByRole("textbox", { name: "Message Hermes" });
    await message.evaluate(ENTER_OF_INPUT_METHOD);
    expect(await message.inputValue()).toBe("mine");
    await message.fill("");
    await panel().reset();
  });

  test("a long request leaves its answers and the message in sight", async () => {
    const options = [
      { optionId: "once", name: "Allow Once", kind: "allow_once" },
      { optionId: "no", name: "Reject", kind: "reject_once" },
    ] as const;
    const reasons = Array.from({ length: 40 }, (_, index) => `Deletes folder ${index} recursively`);
    const command = `rm -rf ${"some/long/path ".repeat(60)}`;
    await panel().feed({ kind: "prompt", id: "p1", text: "Clean up" });
    const toolCall = { toolCallId: "c1", title: "rm" };
    const ask = (requestId: string, why: readonly string[]) =>
      panel().feed({ kind: "permission", requestId, options, reasons: why, command, toolCall });
    await ask("r1", reasons);
    const message = panel().page.getByRole("textbox", { name: "Message Hermes" });
    for (const width of [200, 320]) {
      await panel().setWidth(width);
      for (const shown of [button("Allow Once"), button("Reject"), message]) {
        const { y = -1, height = 0 } = (await shown.boundingBox()) ?? {};
        expect(y, `${width} px`).toBeGreaterThan(0);
        expect(y + height, `${width} px`).toBeLessThanOrEqual(900);
      }
    }
    await pictures("long-permission");
    await panel().feed({ kind: "permission-end", requestId: "r1", label: "Rejected" });
    const outside = "Runs outside the sandbox, with the network and with your own access to files";
    await ask("r2", [...reasons.slice(0, 4), outside, outside.replace("Runs", "Reads")]);
    await panel().setWidth(320);
    const hidden = () =>
      panel()
        .page.locator(".ask-reasons")
        .evaluate((list) => list.scrollHeight - list.clientHeight);
    await expect.poll(hidden).toBe(0);
    const choices = ["Half up (shops)", "Half to even (banks)", "Do not round, keep the cents as they are"];
    const question = "Which rounding shall the total use? Banks usually round half to even, shops round half up.";
    await panel().feed({ kind: "permission-end", requestId: "r2", label: "Rejected" });
    await panel().feed({ kind: "question", requestId: "q1", message: question, choices });
    await button("Skip").waitFor();
    await pictures("long-question");
    await panel().reset();
  });

  test("the page that sets up a model leads to a real one first", async () => {
    const keys = ["OpenAI", "OpenRouter", "Anthropic", "Other Endpoint"].map((title) => ({
      provider: title.toLowerCase(),
      title,
      hasKey: false,
    }));
    const keyPlace = "Keys are in VS Code's secret storage only.";
    await facts({ setup: { offers: [], keys, keyPlace, canClose: false } });
    await panel().tell({ type: "command", id: "c1", command: { kind: "show-setup" } });
    expect(await panel().locator(".offer-first").textContent()).toBe("OpenAI");
    await pictures("setup-page");
    await facts({ setup: null });
  });

  describe("after an error of the model", () => {
    const steps = () => panel().locator(".turn-steps button").allTextContents();
    const fail = (error: string, fault?: string, keyFor?: string) =>
      panel().feed({
        kind: "turn-end",
        error,
        ...(fault !== undefined && { fault }),
        ...(keyFor !== undefined && { keyFor }),
      });
    const ask = async (): Promise<void> => {
      await panel().reset();
      await panel().feed({ kind: "prompt", id: "p1", text: "What is wrong here?" });
      const update = { sessionUpdate: "session_info_update", _meta: { hermes: { position: 0 } } } as const;
      await panel().update(update);
    };

    test.each([
      ["authentication", ["Set Key", "Choose Model", "Try Again"]],
      ["billing", ["Choose Model", "Try Again"]],
      ["rate-limit", ["Try Again", "Choose Model"]],
      ["network", ["Try Again", "Open Settings", "Choose Model"]],
      ["model-not-found", ["Choose Model", "Open Settings"]],
      ["context-overflow", ["Compress", "New Session", "Choose Model"]],
      [undefined, ["Try Again", "Open Log"]],
    ])("%s offers the steps that help", async (fault, labels) => {
      await ask();
      await fail("models.example refused the request.", fault);
      await expect.poll(steps).toEqual(labels);
    });

    test.each([
      ["max_tokens", ["Continue", "Choose Model"]],
      ["max_turn_requests", ["Continue"]],
      ["refusal", ["Try Again", "Choose Model"]],
      ["cancelled", []],
    ] as const)("so does an end by %s", async (stopReason, labels) => {
      await ask();
      await panel().feed({ kind: "turn-end", stopReason });
      await panel().locator(".turn-end").waitFor();
      await expect.poll(steps).toEqual(labels);
      if (stopReason !== "max_tokens") return;
      await pictures("output-limit");
      await button("Continue").click();
      await expect.poll(posted).toEqual({ type: "prompt", text: "Continue where you stopped." });
    });

    test("the steps are there again after a reload, until the next message", async () => {
      await ask();
      const failed = { sessionUpdate: "notice", severity: "error", title: "The key was refused." } as const;
      await panel().update({ ...failed, _meta: { hermes: { failedTurn: { fault: "authentication" } } } });
      await panel().feed({ kind: "turn-end", stopReason: "end_turn" });
      await expect.poll(steps).toEqual(["Set Key", "Choose Model", "Try Again"]);
      await panel().feed({ kind: "prompt", id: "p2", text: "again" });
      await expect.poll(steps).toEqual([]);
    });

    test("a key, another model and another try are one click away", async () => {
      await ask();
      await fail("The key for models.example was refused (401).", "authentication", "custom");
      await panel().feed({ kind: "notice", severity: "warning", text: "a.png is not attached." });
      await button("Set Key").waitFor();
      await pictures("error-with-steps");
      await button("Set Key").click();
      const again = { position: 0, text: "What is wrong here?" };
      await expect.poll(posted).toEqual({ type: "set-key", provider: "custom", keyOnly: true, again });
      await button("Try Again").click();
      await expect.poll(posted).toEqual({ type: "resend", position: 0, text: "What is wrong here?" });
      await button("Choose Model").click();
      await expect.poll(posted).toEqual({ type: "choose-model", again });
    });

    test("a turn that has called tools continues, so that its work is not repeated", async () => {
      await ask();
      const call = { toolCallId: "t1", title: "Read a.txt", kind: "read", status: "completed" } as const;
      await panel().update({ sessionUpdate: "tool_call", ...call });
      await fail("models.example cannot be reached.", "network");
      await button("Try Again").click();
      await expect.poll(posted).toEqual({ type: "prompt", text: "Continue where you stopped." });
      await button("Choose Model").click();
      await expect.poll(posted).toEqual({ type: "choose-model", again: { text: "Continue where you stopped." } });
    });

    test("an answer can be copied, and tried again with another model", async () => {
      await ask();
      const content = { type: "text", text: "Nothing **is** wrong." } as const;
      await panel().update({ sessionUpdate: "agent_message_chunk", content });
      await panel().feed({ kind: "turn-end", stopReason: "end_turn" });
      await panel().locator(".answer").hover();
      await panel().pictures("answer-actions");
      const text = await panel().locator(".answer .markdown").boundingBox();
      expect((await button("Copy Answer").boundingBox())?.y).toBeGreaterThanOrEqual(text ? text.y + text.height : 0);
      await button("Try Again with Another Model").click();
      const again = { position: 0, text: "What is wrong here?" };
      await expect.poll(posted).toEqual({ type: "choose-model", again });
      await allowClipboard(panel().page);
      await button("Copy Answer").click();
      await expect.poll(() => panel().page.evaluate("navigator.clipboard.readText()")).toBe("Nothing **is** wrong.");
    });
  });

  test("paths in inline code are links where the host finds the file", async () => {
    await panel().reset();
    await panel().feed({ kind: "prompt", id: "p1", text: "Where?" });
    const text = "See `src/a.ts:5`, `src/gone.ts` and `npm test`, and [the guide](docs/guide.md:7).";
    await panel().update({ sessionUpdate: "agent_message_chunk", content: { type: "text", text } });
    await panel().feed({ kind: "turn-end", stopReason: "end_turn" });
    const asked = ["src/a.ts:5", "src/gone.ts"];
    await expect.poll(posted).toEqual({ type: "check-paths", paths: asked });
    await panel().tell({ type: "paths-checked", asked, existing: ["src/a.ts:5"] });
    const links = panel().locator(".answer a");
    await expect.poll(() => links.allTextContents()).toEqual(["src/a.ts:5", "the guide"]);
    await links.first().click();
    await expect.poll(posted).toEqual({ type: "open-link", href: "src/a.ts:5" });
  });

  test("inline code keeps its direction in text from right to left", async () => {
    await panel().reset();
    await panel().feed({ kind: "prompt", id: "p1", text: "أين؟" });
    await panel().update({ sessionUpdate: "agent_message_chunk", content: { type: "text", text: "أولا `parse()`" } });
    const code = panel().locator(".answer").getByText("parse()");
    await code.waitFor();
    expect(await code.evaluate(DIRECTION)).toEqual(["ltr", "isolate", "rtl"]);
  });

  test("a plan is carried out, carried out with approvals, or planned further", async () => {
    await panel().reset();
    const modes = ["ask", "code", "plan", "auto"].map((value) => ({ value, name: value }));
    const mode = { id: "mode", name: "Mode", category: "mode", type: "select", currentValue: "plan", options: modes };
    await panel().update(
      { sessionUpdate: "config_option_update", configOptions: [mode as SessionConfigOption] },
      { sessionUpdate: "available_commands_update", availableCommands: [{ name: "carry-out", description: "" }] },
    );
    const bar = panel().page.getByRole("region", { name: "Plan to carry out" });
    await panel().feed({ kind: "prompt", id: "p0", text: "/mode plan" });
    const answer = { type: "text", text: "The mode is Plan." } as const;
    await panel().update({ sessionUpdate: "agent_message_chunk", content: answer });
    await panel().feed({ kind: "turn-end", stopReason: "end_turn" });
    const announced = () => panel().page.getByRole("status").first().textContent();
    await expect.poll(announced).toContain("has finished. The mode is Plan.");
    expect(await bar.count()).toBe(0);
    await panel().feed({ kind: "prompt", id: "p1", text: "Plan the change." });
    await panel().update({ sessionUpdate: "session_info_update", _meta: { hermes: { position: 0 } } });
    const content = { type: "text", text: "1. Read the parser.\n2. Change it." } as const;
    await panel().update({ sessionUpdate: "agent_message_chunk", content });
    await panel().feed({ kind: "turn-end", stopReason: "end_turn" });
    await bar.waitFor();
    await pictures("plan-bar");
    await button("Approve Each Edit").click();
    const plan = content.text;
    await expect.poll(posted).toEqual({ type: "prompt", text: "/carry-out ask", plan });
    await button("Carry Out").click();
    await expect.poll(posted).toEqual({ type: "prompt", text: "/carry-out code", plan });
    await button("Edit the Plan").click();
    await expect.poll(posted).toEqual({ type: "open-plan", text: "1. Read the parser.\n2. Change it." });
    await button("Keep Planning").click();
    await bar.waitFor({ state: "detached" });
  });

  test.each([
    ["none", "Hermes works in a folder"],
    ["virtual", "The files of this workspace are not on a disk"],
  ] as const)("without a folder (%s) the panel offers to open one", async (folder, text) => {
    await facts({ folder, agent: { state: "starting" } });
    await panel().page.getByText(text).waitFor();
    expect(await panel().page.getByText("Starting").count()).toBe(0);
    await pictures(`folder-${folder}`);
    await button("Open Folder").click();
    await expect.poll(posted).toEqual({ type: "open-folder", recent: false });
    await facts({});
    await panel().page.getByRole("textbox").waitFor();
  });
});
