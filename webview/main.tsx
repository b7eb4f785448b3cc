/** Wires the panel: messages of the host in, views onto the screen. */
import "@vscode/codicons/dist/codicon.css";
import "./styles/panel.css";
import "./styles/transcript.css";
import "./styles/markdown.css";
import "./styles/dock.css";
import "./styles/composer.css";
import "./styles/processes.css";
import "./styles/history.css";
import "./styles/extensions.css";
import "./styles/cards.css";
import "./styles/delegation.css";
import "./styles/models.css";
import { type ComponentChildren, options, render } from "preact";
import { containedText } from "../agent-core/platform/visible-text.ts";
import type { HostMessage } from "../agent-core/protocol/panel-events.ts";
import { Panel, type PanelHost } from "./panel.ts";
import { App } from "./views/app.tsx";
import { typeIntoMessage } from "./views/focus-kept.ts";
import { PanelContext } from "./views/panel-context.ts";

declare function acquireVsCodeApi(): PanelHost;

/** Contains the texts that any view shows: most come from models, pages, programs and file names. */
function contained(children: ComponentChildren): ComponentChildren {
  if (typeof children === "string") return containedText(children);
  return Array.isArray(children) ? children.map(contained) : children;
}

const { vnode: made } = options;
options.vnode = (node) => {
  const props: { children?: ComponentChildren } = node.props;
  if (props.children !== undefined) props.children = contained(props.children);
  made?.(node);
};

const panel = new Panel(acquireVsCodeApi(), {
  now: () => performance.now(),
  nextFrame: (paint) => {
    requestAnimationFrame(paint);
  },
});

window.addEventListener("message", ({ data }: MessageEvent<unknown>) => {
  // Other senders write here, too, such as browser extensions. A message of another type has no effect.
  if (typeof data === "object" && data !== null && "type" in data) panel.receive(data as HostMessage);
});
/** `keyCode` of a key that an input method takes. Safari and some Linux methods set it instead of `isComposing`. */
const TAKEN = 229;
// The Enter of an input method chooses a word: no view must send, choose or close anything by it.
const keepFromViews = (event: KeyboardEvent): void => {
  if (event.isComposing || event.keyCode === TAKEN) event.stopPropagation();
};
window.addEventListener("keydown", keepFromViews, true);
window.addEventListener("keydown", typeIntoMessage);
window.addEventListener("focus", () => panel.post({ type: "focus" }));
addEventListener("pagehide", () => panel.memory.save());
const root = document.getElementById("root");
if (root !== null) {
  const early = root.querySelector("textarea")?.value ?? ""; // typed before this script ran
  if (early !== "") panel.compose(early);
  root.replaceChildren();
  render(
    <PanelContext.Provider value={panel}>
      <App />
    </PanelContext.Provider>,
    root,
  );
}
panel.start();
