/** Handler of keys by their names, as `nameOf` gives them. Such a key has no other effect, here or further out. */
export function onKeys(acts: Readonly<Record<string, () => void>>): (event: KeyboardEvent) => void {
  return (event) => {
    const act = acts[nameOf(event)];
    if (act === undefined) return;
    event.preventDefault();
    event.stopPropagation();
    act();
  };
}

/** Handler of a form, which stays: the browser would load the page again. */
export function onSubmit(act: () => unknown): (event: Event) => void {
  return (event) => {
    event.preventDefault();
    act();
  };
}

/** The Latin letter of a key. On a keyboard without Latin letters its place says which one it is. */
export function letterOf({ key, code }: KeyboardEvent): string {
  return (/\p{Script=Latin}/u.test(key) ? key : code.replace(/^Key/, "")).toLowerCase();
}

/** Name of a key with its modifiers: `Escape`, `shift-Tab`, `ctrl-Enter`. Cmd counts as Ctrl. */
export function nameOf({ key, ctrlKey, metaKey, altKey, shiftKey }: KeyboardEvent): string {
  return `${ctrlKey || metaKey ? "ctrl-" : ""}${altKey ? "alt-" : ""}${shiftKey ? "shift-" : ""}${key}`;
}
