/** Takes files that the user drags onto the panel, and shows where they go. */
import { useEffect, useState } from "preact/hooks";
import { t } from "../texts.ts";
import { Icon } from "./icon.tsx";
import { usePanel } from "./panel-context.ts";

/** List of VS Code's resources, for drags from the Explorer and from tabs. */
const RESOURCES = "application/vnd.code.uri-list";
const TAKEN = ["Files", "text/uri-list", RESOURCES];

/** Limit of the protocol. */
const MAX_URIS = 1_000;

/** The whole panel takes a drop. VS Code passes a drag to the panel only while Shift is pressed. */
export function DropZone() {
  const panel = usePanel();
  const [isOver, setOver] = useState(false);
  useEffect(() => {
    // Drags that begin in the panel move queued messages or text.
    let isOwn: boolean = false;
    const takes = ({ dataTransfer }: DragEvent): boolean =>
      !isOwn && TAKEN.some((type) => dataTransfer?.types.includes(type));
    const listeners: Readonly<Record<string, (event: DragEvent) => void>> = {
      dragstart: () => {
        isOwn = true;
      },
      dragend: () => {
        isOwn = false;
      },
      dragover: (event) => {
        if (!takes(event)) return;
        event.preventDefault();
        if (event.dataTransfer) event.dataTransfer.dropEffect = "copy";
        setOver(true);
      },
      // Undefined outside the page.
      dragleave: ({ relatedTarget }) => !relatedTarget && setOver(false),
      drop: (event) => {
        setOver(false);
        if (!takes(event)) return;
        event.preventDefault();
        drop(event.dataTransfer);
      },
    };
    const drop = (dropped: DataTransfer | null): void => {
      const uris = droppedUris(dropped?.getData(RESOURCES) || dropped?.getData("text/uri-list") || "");
      if (uris.length > 0) panel.post({ type: "attach-dropped", uris });
      else panel.attachFiles([...(dropped?.files ?? [])]);
    };
    const all = Object.entries(listeners) as [string, EventListener][]; // of the events of a drag
    for (const [type, listener] of all) addEventListener(type, listener);
    return () => {
      for (const [type, listener] of all) removeEventListener(type, listener);
    };
  }, [panel]);
  if (!isOver) return null;
  return (
    <div class="drop-zone">
      <Icon name="attach" />
      <p>{t("Drop to attach to the message")}</p>
      <p class="drop-hint">{t("From the Explorer or a tab: keep Shift pressed until you drop.")}</p>
    </div>
  );
}

/** Addresses of a list, without comments and without links to the web. */
function droppedUris(list: string): string[] {
  const uris = list
    .split(/\r?\n/)
    .filter((uri) => /^[a-z][a-z0-9+.-]*:/i.test(uri) && !/^(https?|data|blob):/i.test(uri));
  return uris.slice(0, MAX_URIS);
}
