/** Wires the panel: the host's events into the store, the store onto the screen. */
import "@vscode/codicons/dist/codicon.css";
import "./styles/panel.css";
import "./styles/transcript.css";
import "./styles/markdown.css";
import "./styles/earlier.css";
import "./styles/dock.css";
import "./styles/processes.css";
import "./styles/history.css";
import "./styles/problems.css";
import "./styles/restore.css";
import "./styles/models.css";
import { render } from "preact";
import { Channel, isHostMessage } from "./channel.ts";
import { PanelMemory, type StateKeeper } from "./panel-memory.ts";
import type { PanelMessage } from "./panel-protocol.ts";
import { PanelStore } from "./panel-store.ts";
import { App } from "./views/app.tsx";
import { PanelContext } from "./views/panel-context.ts";

declare function acquireVsCodeApi(): StateKeeper & { postMessage(message: PanelMessage): void };

const host = acquireVsCodeApi();
const post = (message: PanelMessage): void => host.postMessage(message);
const store = new PanelStore({
  now: () => performance.now(),
  nextFrame: (paint) => {
    requestAnimationFrame(paint);
  },
  onShown: () => channel.acknowledge(),
});
const channel = new Channel(post, (events, reset) => store.apply(events, reset));
const panel = { store, memory: new PanelMemory(host), post, epoch: () => channel.epoch };

window.addEventListener("message", ({ data }: MessageEvent<unknown>) => {
  if (isHostMessage(data)) channel.receive(data);
});
const root = document.getElementById("root");
if (root !== null) {
  render(
    <PanelContext.Provider value={panel}>
      <App />
    </PanelContext.Provider>,
    root,
  );
}
channel.start();
