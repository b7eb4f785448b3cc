/** A page in a tab of the thin VS Code's editor. */
import { EventEmitter } from "./thin-events.ts";
import type { Uri } from "./thin-files.ts";

export type ThinTab = {
  readonly html: string;
  /** Hands the extension a message of the page. */
  receive(message: unknown): void;
  /** Takes what the extension sends to the page. */
  toPage: (message: unknown) => void;
};

/** A `WebviewPanel` for the extension. `origin` begins the addresses of its files. */
export function thinTab(origin: string, addressOf: (file: Uri) => string): ThinTab {
  const fromPage = new EventEmitter<unknown>();
  const never = new EventEmitter<never>().event;
  const webview = {
    options: {},
    html: "",
    cspSource: origin,
    onDidReceiveMessage: fromPage.event,
    postMessage: (message: unknown) => {
      tab.toPage(message);
      return Promise.resolve(true);
    },
    asWebviewUri: addressOf,
  };
  const tab = {
    webview,
    get html() {
      return webview.html;
    },
    receive: (message: unknown) => fromPage.fire(message),
    toPage: (_message: unknown): void => undefined,
    visible: true,
    active: true,
    reveal: () => undefined,
    dispose: () => undefined,
    onDidDispose: never,
    onDidChangeViewState: never,
  };
  return tab;
}
