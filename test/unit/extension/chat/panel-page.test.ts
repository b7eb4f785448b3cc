import { expect, test, vi } from "vitest";

const vscode = { l10n: { bundle: undefined as object | undefined }, env: { language: "en" } };
vi.mock("vscode", () => ({
  ...vscode,
  l10n: Object.assign(vscode.l10n, { t: (text: string) => text }),
  env: vscode.env,
  Uri: { joinPath: () => "file" },
  Disposable: { from: () => ({ dispose: () => undefined }) },
}));
const { servePage } = await import("../../../../extension/chat/panel-page.ts");
const { ChatView } = await import("../../../../extension/chat/chat-view.ts");

function page(): string {
  const webview = { html: "", cspSource: "", onDidReceiveMessage: () => undefined, asWebviewUri: String };
  const parts = { root: "root", panels: {}, actionsOf: () => ({ actions: {} }), log: {} };
  servePage(webview as never, {} as never, parts as never);
  return webview.html;
}

test("an English page holds no texts", () => {
  expect(page().match(/<script/g)).toHaveLength(2);
});

test("a page in another language holds its texts as data that no text can end", () => {
  const bundle = { Stop: "Anhalten </script><script>alert(1)</script>", "{0}": "<!-- {0}" };
  Object.assign(vscode.env, { language: "de" });
  Object.assign(vscode.l10n, { bundle });
  const html = page();
  expect(html).toContain('<html lang="de">');
  const [, json = ""] = /<script id="texts" type="application\/json">([^<]*)<\/script>/.exec(html) ?? [];
  expect(JSON.parse(json)).toEqual(bundle);
  expect(html.match(/<script/g)).toHaveLength(3);
});

test.each(["open", "none"] as const)("before its page is loaded, a view opens its session: folder %s", (folder) => {
  const open = vi.fn(() => Promise.resolve());
  const webview = { html: "", cspSource: "", onDidReceiveMessage: () => undefined, asWebviewUri: String };
  const panels = { facts: { folder }, sideBar: { shown: { open } } };
  const parts = { root: "root", panels, actionsOf: () => ({ actions: {} }), log: {} };
  const counter = { onDidChange: () => undefined, jobsSeen: () => undefined };
  const view = { webview, onDidDispose: () => undefined, onDidChangeVisibility: () => undefined };
  new ChatView(parts as never, counter as never).resolveWebviewView(view as never);
  expect(open).toHaveBeenCalledTimes(folder === "open" ? 1 : 0);
});

test("a view that was removed gets no badge, and counts as hidden", () => {
  const webview = { html: "", cspSource: "", onDidReceiveMessage: () => undefined, asWebviewUri: String };
  const panels = { facts: { folder: "none" }, sideBar: { detach: () => undefined } };
  const parts = { root: "root", panels, actionsOf: () => ({ actions: {} }), log: {} };
  const emit = { dispose: (): void => undefined, count: (_: object): void => undefined };
  const counter = { onDidChange: (listener: typeof emit.count) => Object.assign(emit, { count: listener }) };
  const onDidDispose = (listener: typeof emit.dispose) => Object.assign(emit, { dispose: listener });
  const view = { webview, visible: true, onDidDispose, onDidChangeVisibility: () => undefined, badge: undefined };
  const chat = new ChatView(parts as never, { ...counter, jobsSeen: () => undefined } as never);
  chat.resolveWebviewView(view as never);
  emit.dispose();
  emit.count({ waiting: 1, ended: 0 });
  expect([view.badge, chat.isVisible]).toEqual([undefined, false]);
});
