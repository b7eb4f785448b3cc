/** Clicks, keys and scrolling as real input events of the browser. */
import type { Protocol } from "devtools-protocol";
import { oneLine } from "../platform/one-line.ts";
import type { Page } from "./page.ts";

/** Text that is typed key by key. A longer one is inserted at once, as by a paste. Characters. */
const MAX_KEYS = 2_000;

/** Error of an action for the model, in a sentence. */
export class ActionError extends Error {}

/** Browser's id of the element with this ref. */
function element(page: Page, ref: string): number {
  const id = page.elementOf(ref);
  if (id === undefined) {
    throw new ActionError(
      `There is no element ${ref} on this page. Refs end with a navigation: take browser_snapshot for the current ones.`,
    );
  }
  return id;
}

/** Calls a function in the page with the element as `this`. The function must be without outer names. */
async function callOn<Value>(page: Page, backendNodeId: number, functionText: string): Promise<Value> {
  const { object } = await page.send("DOM.resolveNode", { backendNodeId });
  const { result, exceptionDetails } = await page.send("Runtime.callFunctionOn", {
    ...(object.objectId !== undefined && { objectId: object.objectId }),
    functionDeclaration: functionText,
    returnByValue: true,
  });
  if (exceptionDetails !== undefined) throw new ActionError(exceptionDetails.text);
  return result.value as Value; // of the text above each call
}

/** Runs an action on the element. Elements that left the document get an error for the model. */
async function withElement<Value>(page: Page, ref: string, action: (id: number) => Promise<Value>): Promise<Value> {
  try {
    return await action(element(page, ref));
  } catch (error) {
    const isDetached =
      error instanceof Error && /detached|No node|Could not find node|does not belong/i.test(error.message);
    if (!isDetached) throw error;
    throw new ActionError(`The element ${ref} has left the page. Take browser_snapshot for the current refs.`);
  }
}

/** Clicks the middle of the element. Returns a note when another element covers it. */
export async function click(page: Page, ref: string): Promise<string | undefined> {
  return withElement(page, ref, async (backendNodeId) => {
    const { x, y } = await centre(page, backendNodeId, ref);
    const cover = await coverAt(page, backendNodeId, { x, y });
    const button = { button: "left", clickCount: 1 } as const;
    await page.send("Input.dispatchMouseEvent", { type: "mouseMoved", x, y });
    await page.send("Input.dispatchMouseEvent", { type: "mousePressed", x, y, ...button });
    await page.send("Input.dispatchMouseEvent", { type: "mouseReleased", x, y, ...button });
    return cover === undefined ? undefined : `Another element covers ${ref} and got the click: ${cover}`;
  });
}

/** Middle of the element in the view, after scrolling it there. */
async function centre(
  page: Page,
  backendNodeId: number,
  ref: string,
): Promise<{ readonly x: number; readonly y: number }> {
  await page.send("DOM.scrollIntoViewIfNeeded", { backendNodeId }).catch((error: unknown) => {
    if (error instanceof Error && /does not have a layout object/.test(error.message)) return;
    throw error;
  });
  const { quads } = await page.send("DOM.getContentQuads", { backendNodeId }).catch(() => ({ quads: [] }));
  const middles = quads.map(([x1 = 0, y1 = 0, x2 = 0, y2 = 0, x3 = 0, y3 = 0, x4 = 0, y4 = 0]) => ({
    x: (x1 + x2 + x3 + x4) / 4,
    y: (y1 + y2 + y3 + y4) / 4,
    isArea: Math.abs(x3 - x1) > 1 && Math.abs(y3 - y1) > 1,
  }));
  const middle = middles.find(({ isArea }) => isArea) ?? middles[0];
  if (middle === undefined) throw new ActionError(`The element ${ref} has no visible area, so it cannot be clicked.`);
  return middle;
}

/** The element that gets a click at this point, as text, unless it belongs to the wanted one. */
async function coverAt(
  page: Page,
  wanted: number,
  { x, y }: { readonly x: number; readonly y: number },
): Promise<string | undefined> {
  const hit = await page.send("DOM.getNodeForLocation", { x: Math.round(x), y: Math.round(y) }).catch(() => undefined); // outside of the view
  if (hit === undefined || hit.backendNodeId === wanted) return undefined;
  const [{ object: target }, { object: found }] = await Promise.all([
    page.send("DOM.resolveNode", { backendNodeId: wanted }),
    page.send("DOM.resolveNode", { backendNodeId: hit.backendNodeId }),
  ]);
  if (target.objectId === undefined || found.objectId === undefined) return undefined;
  const { result } = await page.send("Runtime.callFunctionOn", {
    objectId: target.objectId,
    arguments: [{ objectId: found.objectId }],
    functionDeclaration: `function (hit) {
      const root = hit.getRootNode();
      const host = root instanceof ShadowRoot ? root.host : undefined;
      const belongs = this.contains(hit) || hit.contains(this) || this === host || this.contains(host ?? null);
      return belongs || this.control === hit ? undefined : (hit.outerHTML ?? hit.parentElement?.outerHTML ?? "").slice(0, 300);
    }`,
    returnByValue: true,
  });
  return typeof result.value === "string" ? oneLine(result.value, 120) : undefined;
}

/** Replaces the text of a field by keys, or chooses the option of a list. */
export async function type(page: Page, ref: string, text: string): Promise<void> {
  await withElement(page, ref, async (backendNodeId) => {
    const kind = await callOn<string>(page, backendNodeId, FIELD_KIND);
    if (kind === "select") return choose(page, backendNodeId, { ref, text });
    if (kind !== "text") throw new ActionError(`The element ${ref} takes no text: it is ${kind}.`);
    await page.send("DOM.scrollIntoViewIfNeeded", { backendNodeId });
    await page.send("DOM.focus", { backendNodeId });
    await pressKey(page, "a", CONTROL);
    await pressKey(page, "Delete", 0);
    const typed = text.replaceAll(/\r\n?/g, "\n");
    if (typed.length > MAX_KEYS) await page.send("Input.insertText", { text: typed });
    else for (const character of typed) await pressKey(page, character === "\n" ? "Enter" : character, 0);
  });
}

/** `text`, `select`, or words for the error of an element that takes no text. */
const FIELD_KIND = `function () {
  if (this.disabled || this.readOnly) return this.disabled ? "disabled" : "read-only";
  if (this instanceof HTMLSelectElement) return "select";
  if (this.isContentEditable || this instanceof HTMLTextAreaElement) return "text";
  if (!(this instanceof HTMLInputElement)) return "no field";
  return /^(button|submit|reset|image|checkbox|radio|file|range|color)$/.test(this.type) ? "of the type " + this.type : "text";
}`;

async function choose(
  page: Page,
  backendNodeId: number,
  { ref, text }: { readonly ref: string; readonly text: string },
): Promise<void> {
  const wanted = JSON.stringify(text.trim());
  const names = await callOn<string[] | undefined>(
    page,
    backendNodeId,
    `function () {
      const options = [...this.options];
      const option = options.find((each) => each.label.trim() === ${wanted} || each.value === ${wanted});
      if (option === undefined) return options.slice(0, 50).map((each) => each.label.trim());
      this.value = option.value;
      option.selected = true;
      this.dispatchEvent(new Event("input", { bubbles: true }));
      this.dispatchEvent(new Event("change", { bubbles: true }));
      return undefined;
    }`,
  );
  if (names !== undefined) {
    throw new ActionError(`The list ${ref} has no option ${wanted}. It has: ${oneLine(names.join(", "), 500)}.`);
  }
}

const MODIFIERS: Readonly<Record<string, number>> = {
  alt: 1,
  control: 2,
  ctrl: 2,
  meta: 4,
  command: 4,
  cmd: 4,
  shift: 8,
};
const CONTROL = 2;

type NamedKey = { readonly key: string; readonly code: number; readonly text?: string };

const NAMED_KEYS: readonly NamedKey[] = [
  { key: "Backspace", code: 8 },
  { key: "Tab", code: 9 },
  { key: "Enter", code: 13, text: "\r" },
  { key: "Escape", code: 27 },
  { key: "PageUp", code: 33 },
  { key: "PageDown", code: 34 },
  { key: "End", code: 35 },
  { key: "Home", code: 36 },
  { key: "ArrowLeft", code: 37 },
  { key: "ArrowUp", code: 38 },
  { key: "ArrowRight", code: 39 },
  { key: "ArrowDown", code: 40 },
  { key: "Insert", code: 45 },
  { key: "Delete", code: 46 },
  ...Array.from({ length: 12 }, (_, index) => ({ key: `F${index + 1}`, code: 112 + index })),
];

/** Presses a key with modifiers, such as `Enter` or `Control+A`, in the focused element. */
export async function press(page: Page, combination: string): Promise<void> {
  const parts = combination === "+" ? ["+"] : combination.split("+").map((part) => part.trim());
  const name = parts.pop() ?? "";
  const modifiers = parts.reduce((sum, part) => {
    const modifier = MODIFIERS[part.toLowerCase()];
    if (modifier === undefined) throw new ActionError(unknownKey(combination));
    return sum | modifier;
  }, 0);
  const isNamed =
    name.toLowerCase() === "space" || NAMED_KEYS.some(({ key }) => key.toLowerCase() === name.toLowerCase());
  if (!isNamed && [...name].length !== 1) throw new ActionError(unknownKey(combination));
  await pressKey(page, name.toLowerCase() === "space" ? " " : name, modifiers);
}

function unknownKey(combination: string): string {
  const names = NAMED_KEYS.slice(0, 14).map(({ key }) => key);
  return `There is no key ${JSON.stringify(combination)}. Give one character, Space, F1 to F12 or ${names.join(", ")}; Control+A for modifiers.`;
}

async function pressKey(page: Page, name: string, modifiers: number): Promise<void> {
  const event = keyEvent(name, modifiers);
  const isText = event.text !== undefined && (modifiers & ~8) === 0;
  const { text: _, ...withoutText } = event;
  const commands = modifiers === CONTROL && name.toLowerCase() === "a" ? { commands: ["selectAll"] } : {};
  await page.send(
    "Input.dispatchKeyEvent",
    isText ? { ...event, type: "keyDown" } : { ...withoutText, ...commands, type: "rawKeyDown" },
  );
  await page.send("Input.dispatchKeyEvent", { ...withoutText, type: "keyUp" });
}

function keyEvent(name: string, modifiers: number): Omit<Protocol.Input.DispatchKeyEventRequest, "type"> {
  const named = NAMED_KEYS.find(({ key }) => key.toLowerCase() === name.toLowerCase());
  if (named !== undefined) {
    const { key, code, text } = named;
    return { key, code: key, modifiers, windowsVirtualKeyCode: code, ...(text !== undefined && { text }) };
  }
  const upper = name.toUpperCase();
  const isPlain = /^[A-Z0-9 ]$/.test(upper);
  const code = upper === " " ? "Space" : `${/\d/.test(upper) ? "Digit" : "Key"}${upper}`;
  return {
    key: name,
    modifiers,
    text: name,
    ...(isPlain && { code, windowsVirtualKeyCode: upper.charCodeAt(0) }),
  };
}

/** Scrolls the element into view, or the page by most of a view. */
export async function scroll(
  page: Page,
  to: { readonly ref?: string | undefined; readonly isUp: boolean },
): Promise<void> {
  const { ref, isUp } = to;
  if (ref !== undefined) {
    await withElement(page, ref, async (backendNodeId) => page.send("DOM.scrollIntoViewIfNeeded", { backendNodeId }));
    return;
  }
  const expression = `{
    const sign = ${isUp ? -1 : 1};
    const canScroll = (each) => each.scrollHeight > each.clientHeight + 1 && /auto|scroll|overlay/.test(getComputedStyle(each).overflowY);
    const root = document.scrollingElement;
    let area = root && root.scrollHeight > innerHeight + 1 ? root : undefined;
    for (let each = document.elementFromPoint(innerWidth / 2, innerHeight / 2); !area && each; each = each.parentElement) if (canScroll(each)) area = each;
    area?.scrollBy({ top: sign * 0.85 * Math.min(innerHeight, area.clientHeight || innerHeight), behavior: "instant" });
  }`;
  await page.send("Runtime.evaluate", { expression });
}
