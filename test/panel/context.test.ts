import { beforeAll, beforeEach, describe, expect, test } from "vitest";
import type { Attachment, MentionItem } from "../../agent-core/protocol/attachments.ts";
import type { PanelMessage } from "../../agent-core/protocol/panel-messages.ts";
import { emptyState } from "../../webview/state/state.ts";
import { say } from "../support/model-server/model-server.ts";
import { useFedPanel } from "../support/panel/fed-panel.ts";
import { HOSTILE_PAYLOADS } from "../support/panel/hostile-payloads.ts";
import { openPanel, useModelServer, usePanel } from "../support/panel/open-panel.ts";
import { TOO_WIDE } from "../support/panel/too-wide.ts";

const file = (path: string): Attachment => ({
  kind: "file",
  uri: `file:///project/${path}`,
  label: path.split("/").at(-1) ?? path,
});
const found = (attachment: Attachment, detail = "src", marks: MentionItem["marks"] = []): MentionItem => ({
  attachment,
  detail,
  icon: attachment.kind === "folder" ? "folder" : "file",
  marks,
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
    panel().tell({ type: "command", id: String(Math.random()), command: { kind: "compose", attachments } });
  const posted = <T extends PanelMessage["type"]>(type: T) =>
    panel().posted.filter((message): message is Extract<PanelMessage, { type: T }> => message.type === type);
  const search = () => posted("mention-search").at(-1);
  const answer = (...items: readonly MentionItem[]) =>
    panel().tell({ type: "mentions", id: search()?.id ?? 0, items, isComplete: true });

  const transfer = (event: string, given: Given) => panel().page.evaluate(TRANSFER, { ...given, event });
  const paste = (given: Given) => transfer("paste", given);
  const drag = (event: "dragover" | "drop", given: Given) => transfer(event, given);
  const suggest = (suggested: readonly Attachment[], isSuggesting: boolean) =>
    panel().tell({ type: "facts", facts: { ...emptyState.facts, suggested, isSuggesting } });

  const requests: string[] = [];

  beforeAll(() => {
    panel().page.on("request", (request) => requests.push(request.url()));
  });

  beforeEach(async () => {
    panel().posted.length = 0;
    // The page saves its state when it goes away.
    await panel().page.evaluate("sessionStorage.clear(), (Storage.prototype.setItem = () => undefined)");
    await panel().page.reload();
    await panel().setTheme("dark");
    await panel().setWidth(320);
    await panel().reset();
    await composer().click();
    requests.length = 0;
  });

  test("says above the text what is not attached, until the message changes", async () => {
    const refused = ["notes.txt is not attached: it is outside the workspace."];
    await panel().tell({ type: "command", id: "refused", command: { kind: "compose", refused } });
    const note = panel().locator(".draft-note");
    await expect.poll(() => note.textContent()).toBe(refused[0]);
    await composer().press("a");
    await expect.poll(() => note.count()).toBe(0);
  });

  test("files of the same name show their folders", async () => {
    await attach(file("src/client/index.ts"), file("src/server/index.ts"), file("src/a.ts"));
    await expect.poll(names).toEqual(["File: index.ts, client", "File: index.ts, server", "File: a.ts"]);
    await panel().pictures("chips-of-one-name");
  });

  test("chips are removed with the keyboard, one after the other", async () => {
    await attach(file("a.ts"), file("b.ts"), file("c.ts"), file("d.ts"));
    await composer().fill("text");
    await composer().press("Home");
    await composer().press("Backspace");
    expect(await focused()).toBe("File: d.ts");
    await panel().page.keyboard.press("ArrowLeft");
    await panel().page.keyboard.press("ArrowLeft");
    await panel().page.keyboard.press("Delete");
    await expect.poll(names).toEqual(["File: a.ts", "File: c.ts", "File: d.ts"]);
    expect(await focused()).toBe("File: c.ts");
    expect(await panel().page.locator('.chip-name[tabindex="0"]').getAttribute("aria-label")).toBe("File: c.ts");
    for (let left = 3; left > 0; left -= 1) await panel().page.keyboard.press("Backspace");
    await chips().waitFor({ state: "detached" });
    expect(await focused()).toBe("Message Hermes");
    expect(await composer().inputValue()).toBe("text");
  });

  test("a word after @ becomes a chip", async () => {
    await composer().pressSequentially("look at @pri");
    await expect.poll(() => search()?.query).toBe("pri");
    await answer(found(file("src/prices.ts"), "src", [[0, 3]]), found(file("src/private.ts"), "src", [[0, 3]]));
    await panel().pictures("mentions");
    await panel().page.keyboard.press("ArrowDown");
    await panel().page.keyboard.press("Enter");
    await expect.poll(names).toEqual(["File: private.ts"]);
    expect(await composer().inputValue()).toBe("look at private.ts ");
    await list().waitFor({ state: "detached" });
    await composer().press("Enter");
    expect(posted("prompt")).toEqual([
      { type: "prompt", text: "look at private.ts ", attachments: [file("src/private.ts")] },
    ]);
    await chips().waitFor({ state: "detached" });
    expect(await panel().page.locator("body").evaluate(TOO_WIDE)).toEqual([]);
  });

  test("a long pasted text becomes a chip, whose text can be read and put into the message", async () => {
    const long = Array.from({ length: 50 }, (_, line) => `line ${line}`).join("\n");
    await composer().fill("before ");
    await paste({ text: long });
    await expect.poll(names).toEqual(["Text: Pasted text, 50 lines"]);
    await panel().page.getByRole("button", { name: "Text: Pasted text, 50 lines" }).click();
    const preview = panel().page.getByRole("textbox", { name: "Pasted text, 50 lines" });
    expect(await preview.inputValue()).toBe(long);
    await panel()
      .page.getByRole("button", { name: /^Insert as Text/ })
      .click();
    await chips().waitFor({ state: "detached" });
    expect(await composer().inputValue()).toBe(`before ${long}`);
  });

  test("a pasted picture is scaled down, shown small, and sent", async () => {
    await paste({ picture: [3_200, 800] });
    await composer().press("Enter");
    await expect.poll(() => posted("prompt").length).toBe(1);
    await paste({ picture: [300, 200] });
    await expect.poll(names).toEqual(["Picture: shot.png"]);
    await panel().pictures("picture");
    const [picture] = posted("prompt")[0]?.attachments ?? [];
    expect(picture).toMatchObject({ kind: "picture", label: "shot.png", mimeType: "image/png" });
    expect(await panel().page.evaluate(SIZE, picture?.kind === "picture" ? picture.data : "")).toEqual([1_568, 392]);
  });

  test("a picture is refused with a reason when the model sees none, or it is none", async () => {
    await paste({ text: "", file: ["broken.png", "image/png", "no picture"] });
    await panel().page.getByText("broken.png was not attached: its format is unknown").waitFor();
    const model = { id: "model", name: "Model", category: "model", type: "select", currentValue: "m" } as const;
    const options = [{ name: "m", value: "m" }];
    await panel().update({
      sessionUpdate: "config_option_update",
      configOptions: [{ ...model, options, _meta: { hermes: { refusesImages: true } } }],
    });
    await panel().page.getByRole("button", { name: "Model: m" }).waitFor();
    await paste({ picture: [10, 10] });
    await panel().page.getByText("shot.png was not attached: the model sees no pictures.").waitFor();
    await panel().pictures("refused");
    await composer().press("a");
    await panel().page.getByText("was not attached").waitFor({ state: "detached" });
  });

  test("files from the Explorer and from the desktop are dropped on the panel", async () => {
    await drag("dragover", { uris: "file:///project/a.ts" });
    await panel().page.getByText("Drop to attach to the message").waitFor();
    await panel().pictures("drop");
    await drag("drop", { uris: "# two files\r\nfile:///project/a.ts\r\nhttps://example.com/\r\nfile:///project/b.ts" });
    await expect
      .poll(() => posted("attach-dropped"))
      .toEqual([{ type: "attach-dropped", uris: ["file:///project/a.ts", "file:///project/b.ts"] }]);
    await drag("drop", { file: ["notes.txt", "text/plain", "some notes"] });
    await expect.poll(names).toEqual(["Text: notes.txt"]);
    await drag("drop", { file: ["tool.bin", "", "\0\0"] });
    await panel().page.getByText("tool.bin was not attached: it is neither a picture nor a short text.").waitFor();
    await panel().page.getByText("Drop to attach").waitFor({ state: "detached" });
  });

  test("chips and the draft survive a reload, and a sent message keeps its chips", async () => {
    const shown: readonly Attachment[] = [
      file("src/prices.ts"),
      { kind: "lines", uri: "file:///project/src/a.ts", label: "a.ts:3-9", start: 3, end: 9 },
      { kind: "folder", uri: "file:///project/src/", label: "src" },
      { kind: "problems", label: "Problems" },
      { kind: "text", label: "Pasted text, 50 lines", text: "one\ntwo" },
    ];
    await attach(...shown);
    await expect.poll(names).toHaveLength(5);
    await composer().fill("why?");
    await panel().pictures("chips");
    await panel().page.reload();
    await panel().setTheme("dark");
    await expect.poll(names).toHaveLength(5);
    expect(await composer().inputValue()).toBe("why?");
    const lines = Array.from({ length: 30 }, (_, line) => `line ${line}`).join("\n");
    await panel().reset();
    await panel().feed({ kind: "prompt", id: "p", text: lines, attachments: [...shown] });
    await panel().feed({ kind: "turn-end", stopReason: "end_turn" });
    await panel().update({ sessionUpdate: "session_info_update", _meta: { hermes: { position: 0 } } });
    const sent = panel().locator(".user");
    await sent.getByRole("button", { name: "Lines: a.ts:3-9" }).click();
    await expect
      .poll(() => posted("open-location"))
      .toEqual([{ type: "open-location", path: "/project/src/a.ts", line: 3 }]);
    expect(await sent.textContent()).not.toContain("line 12");
    await panel().pictures("sent");
    await sent.getByRole("button", { name: "Show All 30 Lines" }).click();
    await sent.getByText("line 29").waitFor();
    await sent.getByRole("button", { name: "Edit Message and Send It Again" }).click();
    await sent.getByRole("button", { name: "Remove src", exact: true }).click();
    await panel().pictures("edit");
    await sent.getByRole("textbox", { name: "Message to send again" }).press("Enter");
    const kept = shown.filter(({ kind }) => kind !== "folder");
    expect(posted("resend")).toEqual([{ type: "resend", position: 0, text: lines, attachments: kept }]);
  });

  test("keys before the matches of the word are there wait for them", async () => {
    const keys = async (...names: readonly string[]): Promise<void> => {
      for (const name of names) await panel().page.keyboard.press(name);
    };
    await keys("@", "a");
    await expect.poll(() => search()?.query).toBe("a");
    await answer(found(file("a.ts")), found(file("b.ts")));
    await list().getByText("a.ts").waitFor();
    await keys("l", "l", "Enter");
    await expect.poll(() => search()?.query).toBe("all");
    expect(await names()).toEqual([]);
    await answer(found({ kind: "problems", label: "All problems" }), found(file("all.ts")));
    await expect.poll(names).toEqual(["Problems: All problems"]);
    await keys("@", "b", "ArrowDown", "ArrowDown", "ArrowUp", "Enter");
    await expect.poll(() => search()?.query).toBe("b");
    await answer(found(file("b.ts")), found(file("bar.ts")), found(file("cab.ts")));
    await expect.poll(names).toEqual(["Problems: All problems", "File: bar.ts"]);
  });

  test("the chosen match stays chosen when further ones are found", async () => {
    await composer().pressSequentially("@pri");
    await expect.poll(() => search()?.query).toBe("pri");
    await answer(found(file("prices.ts")), found(file("private.ts")));
    await list().getByText("private.ts").waitFor();
    await composer().press("ArrowDown");
    await answer(...["print.ts", "prior.ts", "prices.ts", "private.ts"].map((name) => found(file(name))));
    await list().getByText("print.ts").waitFor();
    expect(await list().getByRole("option", { selected: true }).textContent()).toContain("private.ts");
    await composer().press("Enter");
    await expect.poll(names).toEqual(["File: private.ts"]);
  });

  test("agents and files stand below headings of their own, and files alone below none", async () => {
    const agent = {
      id: "agent:planner",
      kind: "agent",
      name: "planner",
      source: "planner.md",
      detail: "Plans",
    } as const;
    const extensions = [{ sessionId: panel().sessionId, items: [{ ...agent, state: "on", actions: [] } as const] }];
    await panel().tell({ type: "facts", facts: { ...emptyState.facts, extensions } });
    const headings = () => panel().locator(".completion-group").allTextContents();
    await composer().pressSequentially("@plan");
    await answer(found(file("planner.md")));
    await list().getByText("planner.md").waitFor();
    expect(await headings()).toEqual(["Custom Agents", "Files"]);
    await composer().fill("why @plan");
    await list().getByText("@planner").waitFor({ state: "detached" });
    await answer(found(file("planner.md")));
    await list().getByText("planner.md").waitFor();
    expect(await headings()).toEqual([]);
  });

  test("the button opens the list, which names its state, Enter that waited for it sends without a match, and Escape closes it", async () => {
    await composer().fill("why");
    await panel().page.getByRole("button", { name: "Add Context" }).click();
    expect(await composer().inputValue()).toBe("why @");
    await panel().page.getByText("Searching…").waitFor();
    await panel().tell({ type: "mentions", id: search()?.id ?? 0, items: [], isComplete: false });
    await panel().page.getByText("Still indexing the workspace…").waitFor();
    await panel().page.keyboard.type("zz");
    await expect.poll(() => search()?.query).toBe("zz");
    await panel().tell({ type: "mentions", id: search()?.id ?? 0, items: [], isComplete: false });
    await panel().page.keyboard.press("Enter");
    expect(posted("prompt")).toEqual([]);
    await answer();
    await expect.poll(() => posted("prompt")).toEqual([{ type: "prompt", text: "why @zz" }]);
    await composer().fill("why @zz");
    await panel().page.keyboard.press("End");
    await answer();
    await panel().page.getByText("No match").waitFor();
    await panel().page.keyboard.press("Escape");
    await list().waitFor({ state: "detached" });
    await panel().page.keyboard.type("z");
    expect(await list().count()).toBe(0);
    await composer().fill("why");
    await panel().page.getByRole("button", { name: "Add Context" }).click();
    await answer(found(file("a.ts")));
    await list().getByText("a.ts").click();
    expect(await composer().inputValue()).toBe("why ");
    await composer().fill("@");
    await list().getByText("Files and Pictures from Disk…").click();
    await expect.poll(() => posted("attach-pick").length).toBe(1);
    expect(await composer().inputValue()).toBe("");
  });

  test("labels of any kind are contained, in chips and in the list", async () => {
    const labelled = HOSTILE_PAYLOADS.map(
      (label, index) => ({ kind: "file", uri: `file:///${index}`, label }) as const,
    );
    await attach(...labelled);
    await expect.poll(names).toHaveLength(HOSTILE_PAYLOADS.length);
    await composer().fill("مرحبا @x");
    await expect.poll(() => search()?.query).toBe("x");
    await answer(...labelled.map((one) => found(one, one.label, [[0, 3]])));
    await expect.poll(() => list().getByRole("option").count()).toBe(HOSTILE_PAYLOADS.length);
    for (const width of [320, 200]) {
      await panel().setWidth(width);
      expect(await panel().page.locator("body").evaluate(TOO_WIDE)).toEqual([]);
    }
    await panel().pictures("hostile");
    expect(await panel().page.evaluate(CONTAINED)).toEqual({ elements: 0, raw: [], chips: [22], areRowsLow: true });
    expect(requests).toEqual([]);
  });

  test("the current file goes with the message until it is switched off", async () => {
    await suggest([file("src/prices.ts")], true);
    const suggestion = panel().page.getByRole("button", { name: "Current File" });
    await expect.poll(() => suggestion.textContent()).toBe("prices.ts");
    await panel().pictures("suggested");
    await composer().fill("/compress");
    await composer().press("Enter");
    await composer().fill("explain");
    await composer().press("Enter");
    await suggestion.click();
    await suggest([], false);
    await expect.poll(() => suggestion.getAttribute("aria-pressed")).toBe("false");
    await suggestion.click();
    expect(posted("attach-suggested").map(({ on }) => on)).toEqual([false, true]);
    await composer().fill("again");
    await composer().press("Enter");
    expect(posted("prompt").map(({ text, attachments = [] }) => [text, attachments.length])).toEqual([
      ["/compress", 0],
      ["explain", 1],
      ["again", 0],
    ]);
  });
});

// The packaged extension with its agent behind the panel.
describe("context of a message that the agent gets", () => {
  const model = useModelServer();
  const panel = usePanel(() => openPanel({ model: model() }));

  test("reaches the model, and comes back with the conversation and when it is sent again", async () => {
    const { page, composer } = panel();
    const long = Array.from({ length: 50 }, (_, line) => `line ${line}`).join("\n");
    const content = () =>
      JSON.stringify(
        model()
          .requests.at(-1)
          ?.body.messages.findLast(({ role }) => role === "user"),
      );
    model().respondWith(() => say("Seen."));
    await page.evaluate(TRANSFER, { event: "paste", text: long });
    await page.getByRole("list", { name: "Attachments" }).waitFor();
    await panel().send("what is this?");
    await page.getByText("Seen.").first().waitFor();
    await panel().idle();
    expect(content()).toContain("line 49");
    await panel().reload();
    const chip = page.locator(".user").getByRole("button", { name: "Text: Pasted text, 50 lines" });
    await chip.waitFor();
    expect(await panel().bubbles()).toEqual(["what is this?"]);
    model().forget();
    await page.getByRole("button", { name: "Send Message Again" }).click();
    await expect.poll(() => model().requests.length).toBe(1);
    await panel().idle();
    await chip.waitFor();
    expect(content()).toContain("line 49");
    expect(await composer.inputValue()).toBe("");
  });

  test("@ finds an earlier session by a text of its messages", async () => {
    const { page, composer } = panel();
    model().respondWith(() => say("Zebras are striped."));
    await panel().send("which animal?");
    await page.getByText("Zebras are striped.").first().waitFor();
    await panel().idle();
    await panel().runCommand("Hermes: New Session");
    await expect.poll(() => panel().bubbles()).toEqual([]);
    await composer.fill("see @zebras");
    await page.getByRole("option", { name: /Zebras are striped/ }).click();
    await page.getByRole("list", { name: "Attachments" }).getByText("what is this?").waitFor();
  });
});

/** Runs in the browser: elements, raw characters and heights that the labels caused. */
const CONTAINED = new Function(
  "",
  `const names = [...document.querySelectorAll(".chip-label, .completion-text")];
  const raw = new RegExp("[\\\\u0000-\\\\u001f\\\\u007f\\\\u202a-\\\\u202e\\\\u2066-\\\\u2069]");
  const heightsOf = (selector) =>
    [...new Set([...document.querySelectorAll(selector)].map((one) => one.getBoundingClientRect().height))];
  return {
    elements: names.flatMap((name) => [...name.querySelectorAll("*:not(bdi, mark, span)")]).length,
    raw: names.map((name) => name.textContent).filter((text) => raw.test(text)),
    chips: heightsOf(".composer .chip"),
    areRowsLow: heightsOf(".completion-row").every((height) => height < 50),
  };`,
) as () => object;

type Given = {
  readonly text?: string;
  readonly uris?: string;
  /** Name, type and content. */
  readonly file?: readonly [string, string, string];
  /** Width and height of a picture, shot.png. */
  readonly picture?: readonly [number, number];
};

/** Runs in the browser: a paste into the focused element, or a drag over the panel. */
const TRANSFER = new Function(
  "given",
  `return (async () => {
    const data = new DataTransfer();
    if (given.text !== undefined) data.setData("text/plain", given.text);
    if (given.uris !== undefined) data.setData("application/vnd.code.uri-list", given.uris);
    if (given.file) data.items.add(new File([given.file[2]], given.file[0], { type: given.file[1] }));
    if (given.picture) {
      const canvas = new OffscreenCanvas(...given.picture);
      canvas.getContext("2d").fillRect(0, 0, 10, 10);
      data.items.add(new File([await canvas.convertToBlob()], "shot.png", { type: "image/png" }));
    }
    const options = { bubbles: true, cancelable: true };
    const event =
      given.event === "paste"
        ? new ClipboardEvent("paste", { ...options, clipboardData: data })
        : new DragEvent(given.event, { ...options, dataTransfer: data });
    document.activeElement.dispatchEvent(event);
  })()`,
) as (given: object) => Promise<void>;

/** Runs in the browser: width and height of a picture in base64. */
const SIZE = new Function(
  "data",
  `return (async () => {
    const bytes = Uint8Array.from(atob(data), (character) => character.charCodeAt(0));
    const { width, height } = await createImageBitmap(new Blob([bytes]));
    return [width, height];
  })()`,
) as (data: string) => Promise<readonly number[]>;

const LABELS = new Function("all", "return all.map((one) => one.getAttribute('aria-label'));") as () => unknown;
