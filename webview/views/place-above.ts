/** Position of popups that belong to the composer. */

/** Free space above the popup, and between it and the composer. Pixels. */
const TOP_PX = 12;
const GAP_PX = 4;
/** Minimum height of the popup. Pixels. */
const MIN_HEIGHT_PX = 120;

/** Places `popup` above `composer` with the same width. It must be `position: fixed`, or a scroller would clip it. */
export function placeAbove(popup: HTMLElement | null, composer: Element | null): void {
  const box = composer?.getBoundingClientRect();
  if (popup === null || box === undefined) return;
  popup.style.left = `${box.left}px`;
  popup.style.width = `${box.width}px`;
  popup.style.bottom = `${window.innerHeight - box.top + GAP_PX}px`;
  popup.style.maxHeight = `${Math.max(MIN_HEIGHT_PX, box.top - TOP_PX)}px`;
}
