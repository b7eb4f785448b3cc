/** Wires the page "Hermes: Learning": messages of the host in, views onto the screen. */
import "@vscode/codicons/dist/codicon.css";
import "./styles/panel.css";
import "./styles/learning.css";
import { render } from "preact";
import type { LearningHostMessage } from "../agent-core/protocol/learning-page.ts";
import { LearningContext, type LearningHost, LearningPanel } from "./learning/learning-panel.ts";
import { LearningView } from "./learning/learning-view.tsx";

declare function acquireVsCodeApi(): LearningHost;

const panel = new LearningPanel(acquireVsCodeApi());
// The window also receives messages of other senders: browser extensions, developer tools.
window.addEventListener("message", ({ data }: MessageEvent<unknown>) => {
  if (typeof data === "object" && data !== null && "type" in data) panel.receive(data as LearningHostMessage);
});
const root = document.getElementById("root");
if (root !== null) {
  root.replaceChildren();
  render(
    <LearningContext.Provider value={panel}>
      <LearningView />
    </LearningContext.Provider>,
    root,
  );
}
panel.post({ type: "ready" });
