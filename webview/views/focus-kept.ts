/** Keeps the focus while rows of a list, or parts of the panel, move and disappear. */
import type { RefObject } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";

type FocusedRow = { readonly id: string; readonly index: number };

/**
 * When the focused button moves or disappears, the element `inRow` of its row gets the focus, else that of the row that took
 * its place, else `otherwise`, both selectors. Rows have an id in `data-row`; `shown` changes with them.
 */
export function useFocusKept<List extends HTMLElement>(
  shown: unknown,
  inRow: string,
  otherwise = MESSAGE,
): RefObject<List | null> {
  const list = useRef<List>(null);
  const focused = useFocused((target): FocusedRow | undefined => {
    const rows = rowsOf(list.current);
    const index = rows.findIndex((row) => row.contains(target));
    const id = rows[index]?.dataset["row"];
    return id === undefined ? undefined : { id, index };
  });
  useLayoutEffect(() => {
    const was = focused.current;
    if (was === undefined || !isFocusLost()) return;
    const rows = rowsOf(list.current);
    const row = rows.find(({ dataset }) => dataset["row"] === was.id) ?? rows[was.index] ?? rows.at(-1);
    const next = row?.querySelector<HTMLElement>(inRow);
    (next ?? document.querySelector<HTMLElement>(otherwise))?.focus();
  }, [shown]);
  return list;
}

/** When the focused element is removed, the transcript that it was in takes the focus, where reading goes on, else the message. */
export function useFocusNotLost(): void {
  const focused = useFocused((target) => ({ target, transcript: target.closest<HTMLElement>(".transcript") }));
  useLayoutEffect(() => {
    const observer = new MutationObserver(() => {
      const { target, transcript } = focused.current ?? {};
      if (target?.isConnected !== false || !isFocusLost()) return;
      if (transcript?.isConnected === true) transcript.focus({ preventScroll: true });
      else focusMessage();
    });
    observer.observe(document.body, { childList: true, subtree: true });
    return () => observer.disconnect();
  }, []);
}

const MESSAGE = ".composer textarea";

function focusMessage(): void {
  document.querySelector<HTMLElement>(MESSAGE)?.focus();
}

/** A letter typed outside of all fields goes into the message; in a picker it would choose another mode. */
export function typeIntoMessage({ key, ctrlKey, metaKey, altKey, target, defaultPrevented }: KeyboardEvent): void {
  const isLetter = /^\S$/u.test(key) && !ctrlKey && !metaKey && !altKey && !defaultPrevented;
  if (isLetter && !(target instanceof HTMLInputElement || target instanceof HTMLTextAreaElement)) focusMessage();
}

/** Result of `read` for the element that got the focus last. */
function useFocused<Focused>(read: (target: Element) => Focused | undefined): RefObject<Focused | undefined> {
  const focused = useRef<Focused | undefined>(undefined);
  useLayoutEffect(() => {
    const onFocusIn = ({ target }: FocusEvent): void => {
      focused.current = target instanceof Element ? read(target) : undefined;
    };
    document.addEventListener("focusin", onFocusIn);
    return () => document.removeEventListener("focusin", onFocusIn);
  }, []);
  return focused;
}

function isFocusLost(): boolean {
  const { activeElement, body } = document;
  return document.hasFocus() && (activeElement === null || activeElement === body);
}

function rowsOf(list: HTMLElement | null): readonly HTMLElement[] {
  return [...(list?.querySelectorAll<HTMLElement>("[data-row]") ?? [])];
}

/** `ref` of a field that the user has just opened by a click. */
export function focusOnce(field: HTMLInputElement | null): void {
  field?.focus();
}
