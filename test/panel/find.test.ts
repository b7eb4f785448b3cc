import type { SessionUpdate } from "@zed-industries/agent-client-protocol";
import { describe, expect, test } from "vitest";
import { delegation, nestedCall, task, tasksUpdate } from "../support/panel/delegated-tasks.ts";
import { useFedPanel } from "../support/panel/fed-panel.ts";

const MESSAGES = 200;

const said = (sessionUpdate: "user_message_chunk" | "agent_message_chunk", text: string): SessionUpdate => ({
  sessionUpdate,
  messageId: text.slice(0, 40),
  content: { type: "text", text },
});
const plain = Array.from({ length: MESSAGES }, (_, index) =>
  said(index % 2 === 0 ? "user_message_chunk" : "agent_message_chunk", `Message ${index}: some **bold** words.`),
);
const useFind = () => {
  const panel = useFedPanel();
  const bar = () => panel().page.getByRole("search", { name: "Find in conversation" });
  const count = () => bar().getByRole("status").textContent();
  /** Texts of the marks; of the current hit, only one that is in view. */
  const marks = (name: string): Promise<readonly string[]> =>
    panel().page.evaluate(
      `[...(CSS.highlights.get("${name}") ?? [])].filter((range) => {
      const box = document.querySelector(".transcript").getBoundingClientRect();
      const { top, bottom } = range.getBoundingClientRect();
      return top >= box.top - 1 && bottom <= box.bottom + 1;
    }).map(String)`,
    );
  const current = () => marks("hermes-find-current");

  return { panel, bar, count, marks, current };
};

describe("the search of a conversation", () => {
  const { panel, bar, count, marks, current } = useFind();
  test("a search finds what is out of view, goes from hit to hit, and opens what is folded", async () => {
    const { page } = panel();
    const paragraphs = Array.from({ length: 400 }, (_, index) => `Paragraph ${index} of a long answer.`).join("\n\n");
    await panel().update(
      ...plain,
      said("agent_message_chunk", `${paragraphs}\n\nThe needle one.\n\n${paragraphs}`),
      {
        sessionUpdate: "tool_call",
        toolCallId: "c",
        title: "Read a.ts",
        kind: "read",
        status: "completed",
        content: [{ type: "content", content: { type: "text", text: "A Needle in the output" } }],
      },
      said("user_message_chunk", `${"line\n".repeat(30)}needle three`),
      said("agent_message_chunk", "Done."),
    );
    await page.locator(".row", { hasText: "Done." }).waitFor();
    const composer = page.getByRole("textbox", { name: "Message Hermes" });
    await composer.focus();
    await page.keyboard.press("Control+f");
    await page.keyboard.type("needle");
    await expect.poll(count).toMatch(/^\d of 3$/);
    const hits = ["needle", "Needle", "needle"];
    for (let step = 0; step < hits.length; step += 1) {
      const before = Number((await count())?.[0]);
      await page.keyboard.press("Enter");
      const next = (before % hits.length) + 1;
      await expect.poll(async () => [await count(), ...(await current())]).toEqual([`${next} of 3`, hits[next - 1]]);
    }
    await panel().pictures("find");
    await bar().getByRole("textbox").fill("message 1: some bold");
    await expect.poll(current).toEqual(["Message 1: some bold"]);
    expect(await count()).toBe("1 of 1");
    await page.keyboard.press("Escape");
    await bar().waitFor({ state: "detached" });
    expect(await composer.evaluate((element) => element.matches(":focus"))).toBe(true);
    expect(await marks("hermes-find")).toEqual([]);
  });

  test("the bar opens also at the moment when another conversation appears", async () => {
    const { page } = panel();
    const pressed = page.evaluate(`new Promise((done) => {
      new MutationObserver((_, observer) => {
        if (document.querySelector('[data-tool-call="first"]') === null) return;
        observer.disconnect();
        const options = { key: "f", ctrlKey: true, bubbles: true, cancelable: true };
        document.querySelector("textarea").dispatchEvent(new KeyboardEvent("keydown", options));
        // Work that the page put off until after the paint is done then.
        requestAnimationFrame(() => setTimeout(() => requestAnimationFrame(done)));
      }).observe(document.body, { childList: true, subtree: true });
    })`);
    await panel().update(said("user_message_chunk", "Of the session before"));
    await page.locator(".row").first().waitFor();
    await panel().begin({
      sessionUpdate: "tool_call",
      toolCallId: "first",
      title: "Read a.ts",
      kind: "read",
      status: "completed",
    });
    await pressed;
    await bar().getByRole("textbox").press("Escape");
    await bar().waitFor({ state: "detached" });
  });

  test("a hit in a task or in a call of a script opens only what it is in", async () => {
    await panel().reset();
    const output = (text: string) => [{ type: "content", content: { type: "text", text } }] as const;
    const facts = { kind: "read", status: "completed" } as const;
    const script = { sessionUpdate: "tool_call", toolCallId: "s", title: "Run JavaScript", ...facts } as const;
    const inScript = (toolCallId: string, text: string): SessionUpdate => {
      const _meta = { hermes: { parentToolCallId: "s" } };
      return { ...script, toolCallId, title: toolCallId, content: [...output(text)], _meta };
    };
    const tasks = [task("one", { status: "completed" }), task("two", { status: "completed" })];
    await panel().update(
      script,
      inScript("s1", "nothing"),
      inScript("s2", "a pebble in a script"),
      delegation("d", tasks),
      nestedCall("d", "one", 1, { title: "Read a.ts", ...facts, content: [...output("nothing")] }),
      nestedCall("d", "two", 1, { title: "Read b.ts", ...facts, content: [...output("a pebble in a task")] }),
      tasksUpdate("d", tasks, "completed"),
    );
    await panel().page.locator('[data-tool-call="d"]').waitFor();
    await panel().page.keyboard.press("Control+f");
    await bar().getByRole("textbox").fill("a pebble");
    await expect.poll(async () => [await count(), ...(await current())]).toEqual(["1 of 2", "a pebble"]);
    await bar().getByRole("textbox").press("Enter");
    await expect.poll(async () => [await count(), ...(await current())]).toEqual(["2 of 2", "a pebble"]);
    const open = panel().page.locator('.nested-calls [aria-expanded="true"], .task-open > .fold-summary');
    await expect
      .poll(() => open.allTextContents())
      .toEqual([
        expect.stringContaining("s2"),
        expect.stringContaining("Do two"),
        expect.stringContaining("Read b.ts"),
      ]);
  });
});

describe("the search of a session loaded from its end", () => {
  const { panel, bar, count, current } = useFind();
  test("earlier messages are not searched until all are loaded", async () => {
    const earlier = { before: 40, messages: 40 };
    await panel().update({ sessionUpdate: "session_info_update", _meta: { hermes: { earlier } } }, ...plain);
    await panel()
      .page.getByText(`Message ${MESSAGES - 1}:`)
      .waitFor();
    await panel().tell({ type: "command", id: "find", command: { kind: "find" } });
    await bar().getByText("Earlier messages are not searched").waitFor();
    await bar().getByRole("textbox").fill("needle");
    await expect.poll(count).toBe("No results");
    await panel().pictures("find-earlier");
    await bar().getByRole("button", { name: "Load All" }).click();
    await expect.poll(() => panel().posted).toContainEqual({ type: "earlier", before: 40, all: true });
    const updates = [said("user_message_chunk", "The needle of before")];
    await panel().feed({ kind: "earlier-page", before: 40, updates, earlier: null });
    await expect.poll(count).toBe("? of 1");
    await bar().getByRole("textbox").press("Enter");
    await expect.poll(current).toEqual(["needle"]);
    expect(await bar().getByRole("button", { name: "Load All" }).count()).toBe(0);
  });
});
