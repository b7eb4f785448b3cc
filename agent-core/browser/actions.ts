/** Clicks, keys and scrolling on a page, with errors in words for the model. */
import { stripVTControlCharacters } from "node:util";
import type { Locator } from "playwright-core";
import { messageOf } from "../platform/errors.ts";
import { oneLine } from "../platform/one-line.ts";
import { Closed, Lost, type Page } from "./page.ts";

/** Text that is typed key by key. A longer one is inserted at once, as by a paste. Characters. */
const MAX_KEYS = 2_000;
/** Time for an element to become visible, to stand still and to be free of others. Milliseconds. */
const ACTION_MS = 3_000;
/** Time for the keys of a text. Milliseconds. */
const KEYS_MS = 15_000;

/** Error of an action for the model, in a sentence. */
export class ActionError extends Error {}

/** Runs an action on the element with this ref. */
async function withElement<Value>(
  page: Page,
  ref: string,
  action: (element: Locator) => Promise<Value>,
): Promise<Value> {
  const element = page.elementOf(ref);
  if (element === undefined) {
    throw new ActionError(
      `There is no element ${ref} on this page. Refs end with a navigation: take browser_snapshot for the current ones.`,
    );
  }
  try {
    return await page.ask(action(element), KEYS_MS + ACTION_MS);
  } catch (error) {
    if (error instanceof Lost || error instanceof Closed || error instanceof ActionError) throw error;
    throw new ActionError(actionFault(ref, messageOf(error)));
  }
}

/** Playwright's report of a failed action, as a sentence. Its log names the check that failed. */
function actionFault(ref: string, report: string): string {
  const log = stripVTControlCharacters(report);
  const cover = /^\s*- (<.*) intercepts pointer events/m.exec(log)?.[1];
  if (cover !== undefined) return `Another element covers ${ref}, so it was not clicked: ${oneLine(cover, 120)}`;
  const missing = /element is not (\w+)/.exec(log)?.[1];
  if (missing !== undefined) return `The element ${ref} is not ${missing}.`;
  if (log.includes("waiting for locator") && !log.includes("locator resolved to")) {
    return `The element ${ref} has left the page. Take browser_snapshot for the current refs.`;
  }
  const [first = ""] = log.replace(/^\w+\.\w+: (?:Error: )?/, "").split("\n");
  return `${ref}: ${oneLine(first, 200)}`;
}

/** Clicks the middle of the element, once it is visible and nothing covers it. */
export async function click(page: Page, ref: string): Promise<void> {
  await withElement(page, ref, (element) => element.click({ timeout: ACTION_MS }));
}

/** Replaces the text of a field by keys, or chooses the option of a list. */
export async function type(page: Page, ref: string, text: string): Promise<void> {
  await withElement(page, ref, async (element) => {
    const kind = await element.evaluate(fieldKind, undefined, { timeout: ACTION_MS });
    if (kind === "select") return choose(element, { ref, text });
    if (kind !== "text") throw new ActionError(`The element ${ref} takes no text: it is ${kind}.`);
    const typed = text.replaceAll(/\r\n?/g, "\n");
    await element.fill(typed.length > MAX_KEYS ? typed : "", { timeout: ACTION_MS });
    if (typed.length <= MAX_KEYS) await element.pressSequentially(typed, { timeout: KEYS_MS });
  });
}

/** Parts of an element of a page. */
type Field = { matches(selector: string): boolean; readonly isContentEditable: boolean; readonly type: string };
type Choice = { readonly label: string; readonly value: string; readonly index: number };

/** `text`, `select`, or words for the error of an element that takes no text. Runs in the page. */
function fieldKind(element: Field): string {
  if (element.matches(":disabled")) return "disabled";
  if (element.matches("[readonly]")) return "read-only";
  if (element.matches("select")) return "select";
  if (element.isContentEditable || element.matches("textarea")) return "text";
  if (!element.matches("input")) return "no field";
  const isOther = /^(button|submit|reset|image|checkbox|radio|file|range|color)$/.test(element.type);
  return isOther ? `of the type ${element.type}` : "text";
}

/** Runs in the page. */
function optionsOf(list: { readonly options: ArrayLike<Choice> }): readonly Choice[] {
  return Array.from(list.options, ({ label, value, index }) => ({ label: label.trim(), value, index }));
}

async function choose(element: Locator, { ref, text }: { readonly ref: string; readonly text: string }): Promise<void> {
  const options = await element.evaluate(optionsOf, undefined, { timeout: ACTION_MS });
  const wanted = text.trim();
  const option = options.find(({ label, value }) => label === wanted || value === wanted);
  if (option !== undefined) return void (await element.selectOption({ index: option.index }, { timeout: ACTION_MS }));
  const names = options.slice(0, 50).map(({ label }) => label);
  throw new ActionError(
    `The list ${ref} has no option ${JSON.stringify(wanted)}. It has: ${oneLine(names.join(", "), 500)}.`,
  );
}

const MODIFIERS: Readonly<Record<string, string>> = {
  ...{ alt: "Alt", control: "Control", ctrl: "Control", meta: "Meta", command: "Meta", cmd: "Meta", shift: "Shift" },
};

const NAMED_KEYS = [
  ...["Enter", "Escape", "Tab", "Backspace", "Delete", "Insert", "Home", "End", "PageUp", "PageDown"],
  ...["ArrowUp", "ArrowDown", "ArrowLeft", "ArrowRight", "Space"],
];

/** Presses a key with modifiers, such as `Enter` or `Control+A`, in the focused element. */
export async function press(page: Page, combination: string): Promise<void> {
  const parts = combination === "+" ? ["+"] : combination.split("+").map((part) => part.trim());
  const name = parts.pop() ?? "";
  const functionKey = /^f([1-9]|1[0-2])$/i.test(name) ? name.toUpperCase() : undefined;
  const key = NAMED_KEYS.find((known) => known.toLowerCase() === name.toLowerCase()) ?? functionKey ?? name;
  const modifiers = parts.map((part) => MODIFIERS[part.toLowerCase()]);
  if (
    (key === name && !NAMED_KEYS.includes(key) && !functionKey && [...key].length !== 1) ||
    modifiers.includes(undefined)
  ) {
    throw new ActionError(
      `There is no key ${JSON.stringify(combination)}. Give one character, F1 to F12 or ${NAMED_KEYS.join(", ")}; Control+A for modifiers.`,
    );
  }
  const { keyboard } = page.driver;
  const isText = modifiers.length === 0 && [...key].length === 1;
  // A character that no key of the keyboard types is inserted.
  await page.ask(isText ? keyboard.type(key) : keyboard.press([...modifiers, key].join("+")));
}

/** Scrolls the element into view, or the page by most of a view. */
export async function scroll(
  page: Page,
  { ref, isUp }: { readonly ref?: string | undefined; readonly isUp: boolean },
): Promise<void> {
  if (ref === undefined) return page.ask(page.driver.evaluate(scrollByView(isUp ? -1 : 1)));
  await withElement(page, ref, (element) => element.scrollIntoViewIfNeeded({ timeout: ACTION_MS }));
}

/** Expression that scrolls the page, or the area in its middle. */
function scrollByView(sign: 1 | -1): string {
  return `{
    const canScroll = (each) => each.scrollHeight > each.clientHeight + 1 && /auto|scroll|overlay/.test(getComputedStyle(each).overflowY);
    const root = document.scrollingElement;
    let area = root && root.scrollHeight > innerHeight + 1 ? root : undefined;
    for (let each = document.elementFromPoint(innerWidth / 2, innerHeight / 2); !area && each; each = each.parentElement) if (canScroll(each)) area = each;
    area?.scrollBy({ top: ${sign} * 0.85 * Math.min(innerHeight, area.clientHeight || innerHeight), behavior: "instant" });
  }`;
}
