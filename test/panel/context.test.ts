import { beforeEach, describe, expect, test } from "vitest";
import type { Attachment, MentionItem } from "../../agent-core/protocol/attachments.ts";
import type { PanelMessage } from "../../agent-core/protocol/panel-messages.ts";
import { useFedPanel } from "../support/panel/fed-panel.ts";
import { TOO_WIDE } from "../support/panel/too-wide.ts";

const file = (path: string): Attachment => ({
  ...{ kind: "file", uri: `file:///work/${path}`, label: path.split("/").at(-1) ?? path },
});
const found = (attachment: Attachment, detail = "src", marks: MentionItem["marks"] = []): MentionItem => ({
  ...{ attachment, detail, icon: attachment.kind === "folder" ? "folder" : "file", marks },
});

// Attachments of the message in the composer, and of messages that were sent. The test plays the host.
describe("context of a message", () => {
  const panel = useFedPanel();

  const composer = () => panel().page.getByRole("textbox", { name: "Message Hermes" });
  const chips = () => panel().page.getByRole("list", { name: "Attachments" });
  const names = () => panel().locator(".composer .chip-name").evaluateAll(LABELS) as Promise<readonly string[]>;
  const focused = () => panel().page.locator(":focus").getAttribute("aria-label");
  const list = () => panel().page.getByRole("listbox", { name: "Context" });
  const attach = (...attachments: readonly Attachment[]) =>
    panel().tell({ type: "command", id: String(Math.random()), command: { kind: "attach", attachments } });
  const posted = <T extends PanelMessage["type"]>(type: T) =>
    panel().posted.filter((message): message is Extract<PanelMessage, { type: T }> => message.type === type);
  const search = () => posted("mention-search").at(-1);
  const answer = (...items: readonly MentionItem[]) =>
    panel().tell({ type: "mentions", id: search()?.id ?? 0, items, isComplete: true });

  beforeEach(async () => {
    panel().posted.length = 0;
    await panel().page.evaluate("sessionStorage.clear()");
    await panel().page.reload();
    await panel().setTheme("dark");
    await panel().setWidth(320);
    await panel().reset();
    await composer().click();
  });

  test("chips are removed with the keyboard, one after the other", async () => {
    await attach(file("a.ts"), file("b.ts"), file("c.ts"));
    await composer().fill("text");
    await composer().press("Home");
    await composer().press("Backspace");
    expect(await focused()).toBe("File: c.ts");
    await panel().page.keyboard.press("ArrowLeft");
    await panel().page.keyboard.press("Delete");
    await expect.poll(names).toEqual(["File: a.ts", "File: c.ts"]);
    expect(await focused()).toBe("File: c.ts");
    await panel().page.keyboard.press("Backspace");
    await panel().page.keyboard.press("Backspace");
    await chips().waitFor({ state: "detached" });
    expect(await focused()).toBe("Message Hermes");
    expect(await composer().inputValue()).toBe("text");
  });

  test("a word after @ becomes a chip", async () => {
    await composer().pressSequentially("look at @pri");
    await expect.poll(() => search()?.query).toBe("pri");
    await answer(found(file("src/prices.ts"), "src", [[0, 3]]), found(file("src/private.ts"), "src", [[0, 3]]));
    await panel().pictures("mentions", ["light", "dark", "high-contrast"]);
    await panel().page.keyboard.press("ArrowDown");
    await panel().page.keyboard.press("Enter");
    await expect.poll(names).toEqual(["File: private.ts"]);
    expect(await composer().inputValue()).toBe("look at ");
    await list().waitFor({ state: "detached" });
    await composer().press("Enter");
    expect(posted("prompt")).toEqual([{ type: "prompt", text: "look at ", attachments: [file("src/private.ts")] }]);
    await chips().waitFor({ state: "detached" });
    expect(await panel().page.locator("body").evaluate(TOO_WIDE)).toEqual([]);
  });
});

const LABELS = new Function("all", "return all.map((one) => one.getAttribute('aria-label'));") as () => unknown;
