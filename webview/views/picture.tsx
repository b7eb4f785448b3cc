/** A picture of a tool call: a thumbnail that opens large over the panel. */
import { useRef } from "preact/hooks";
import { IconButton } from "./icon.tsx";

/** `source`: address with the data of the picture. */
export function Picture({ source }: { readonly source: string }) {
  const large = useRef<HTMLDialogElement>(null);
  const close = (): void => large.current?.close();
  return (
    <>
      <button
        type="button"
        class="picture-button"
        title="Show large"
        aria-label="Show the picture large"
        onClick={() => large.current?.showModal()}
      >
        <img class="tool-picture" alt="Result of the call" src={source} />
      </button>
      {/* biome-ignore lint/a11y/useKeyWithClickEvents: Escape and the button close it by keyboard */}
      <dialog class="picture-large" aria-label="Picture" ref={large} onClick={close}>
        <IconButton icon="close" name="Close the picture" title="Close (Escape)" act={close} />
        <img alt="Result of the call" src={source} />
      </dialog>
    </>
  );
}
