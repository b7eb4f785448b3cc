/** The line over the first message of a long session: how much is earlier, and the way to it without scrolling. */
import { useLayoutEffect, useRef } from "preact/hooks";
import type { EarlierState } from "../../state/state.ts";
import { Icon } from "../icon.tsx";

/** Its height, as in transcript.css: the rows below must not move when it says something else. Pixels. */
export const EARLIER_PX = 32;

type EarlierRowProps = { readonly earlier: EarlierState; readonly onAsk: () => void };

export function EarlierRow({ earlier, onAsk }: EarlierRowProps) {
  const row = useRef<HTMLDivElement>(null);
  const isEnd = earlier.type === "none-left";
  const hadFocus = useRef(false as boolean);
  useLayoutEffect(() => {
    // The button that had the focus is gone.
    if (isEnd && hadFocus.current) row.current?.closest<HTMLElement>(".transcript")?.focus({ preventScroll: true });
  }, [isEnd]);
  return (
    <div class="earlier" ref={row}>
      {isEnd ? (
        <span class="earlier-text">Beginning of the conversation</span>
      ) : (
        <button
          type="button"
          class="earlier-button"
          aria-busy={earlier.type === "asked"}
          title={earlier.type === "failed" ? earlier.problem : undefined}
          onClick={onAsk}
          onFocus={() => {
            hadFocus.current = true;
          }}
          onBlur={() => {
            hadFocus.current = false;
          }}
        >
          <Words earlier={earlier} />
        </button>
      )}
    </div>
  );
}

function Words({ earlier }: { readonly earlier: Exclude<EarlierState, { readonly type: "none-left" }> }) {
  switch (earlier.type) {
    case "asked":
      return (
        <>
          <Icon name="loading" spin /> <span class="earlier-text">Loading earlier messages…</span>
        </>
      );
    case "failed":
      return (
        <>
          <Icon name="warning" /> <span class="earlier-text">Retry earlier messages</span>
        </>
      );
    case "there":
      return (
        <>
          <Icon name="chevron-up" />{" "}
          <span class="earlier-text">
            {earlier.messages.toLocaleString("en")} earlier {earlier.messages === 1 ? "message" : "messages"}
          </span>
        </>
      );
  }
}
