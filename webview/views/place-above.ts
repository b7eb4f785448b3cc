/** Position of popups that belong to the composer. */

/** Free space above the popup, and between it and the composer. Pixels. */
const TOP_PX = 12;
const GAP_PX = 4;
/** Minimum height of the popup. Pixels. */
const MIN_HEIGHT_PX = 120;

/**
 * Keeps `popup` above `composer` with the same width, until the returned function is called. It must be `position: fixed`,
 * or a scroller would clip it.
 */
export function keepAbove(popup: HTMLElement | null, composer: Element | null): () => void {
  const place = (): void => {
    if (popup !== null && composer !== null) placeAbove(popup, composer.getBoundingClientRect());
  };
  place();
  window.addEventListener("resize", place);
  return () => window.removeEventListener("resize", place);
}

function placeAbove(popup: HTMLElement, box: DOMRect): void {
  popup.style.left = `${box.left}px`;
  popup.style.width = `${box.width}px`;
  popup.style.bottom = `${window.innerHeight - box.top + GAP_PX}px`;
  popup.style.maxHeight = `${Math.max(MIN_HEIGHT_PX, box.top - TOP_PX)}px`;
}
