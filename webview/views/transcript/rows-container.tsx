/** Holds the rows that are drawn, and is as high as all of them together. */
import type { ComponentChildren, CSSProperties } from "preact";
import { forwardRef } from "preact/compat";

type RowsContainerProps = { readonly style: CSSProperties; readonly children: ComponentChildren };

export const RowsContainer = forwardRef<HTMLDivElement, RowsContainerProps>(function RowsContainer(
  { style, children },
  ref,
) {
  // The library lets nothing be clicked while it scrolls; following an answer, that would be all the time.
  return (
    <div ref={ref} style={{ ...style, pointerEvents: "auto" }}>
      {children}
    </div>
  );
});
