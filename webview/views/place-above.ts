/** Where a list opens that belongs to the composer. */

/** Room that stays free above the list, and between it and the composer. Pixels. */
const TOP_PX = 12;
const GAP_PX = 4;
/** However little room there is, so much of it is shown. */
const LEAST_PX = 120;

/** Puts `popup` above `composer`, as wide as that. It must be `position: fixed`: what scrolls would cut it off. */
export function placeAbove(popup: HTMLElement | null, composer: Element | null): void {
  const box = composer?.getBoundingClientRect();
  if (popup === null || box === undefined) return;
  popup.style.left = `${box.left}px`;
  popup.style.width = `${box.width}px`;
  popup.style.bottom = `${window.innerHeight - box.top + GAP_PX}px`;
  popup.style.maxHeight = `${Math.max(LEAST_PX, box.top - TOP_PX)}px`;
}
