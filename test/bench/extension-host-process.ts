// An extension host of its own: activates the extension, sends one prompt, shows the tree of agents, and prints how long each
// blocked the process.
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import type { HostMessage } from "../../agent-core/protocol/panel-events.ts";
import { loadExtension } from "../support/panel/load-extension.ts";
import { ThinVSCode } from "../support/panel/thin-vscode.ts";

/** The start of a turn has work of its own. */
const SETTLING_MS = 500;

const root = process.argv[2] ?? "";
/** Stored sessions of the home. */
const SESSIONS = Number(process.argv[3]);
const ended = Promise.withResolvers<void>();
let isSent = false;
/** Time of the answer's first update. */
let begun: number | undefined;

const vscode = new ThinVSCode({
  workspace: join(root, "workspace"),
  storage: join(root, "storage"),
  settings: { "hermes.home": join(root, "home") },
  memory: { global: new Map(), workspace: new Map(), secrets: new Map() },
  origin: "http://127.0.0.1",
  language: "en",
  isWeb: false,
  toPanel: (message) => show(message as HostMessage), // a parse would count as the host's time
});

/** Acknowledges events as the panel does. */
function show(message: HostMessage): void {
  if (message.type !== "events") return;
  const events = typeof message.events === "string" ? JSON.parse(message.events) : message.events;
  vscode.receive({ type: "ack", epoch: message.epoch, next: message.first + events.length });
  for (const { kind } of events) {
    if (kind === "update" && isSent) begun ??= performance.now();
    if (kind === "turn-end") ended.resolve();
  }
}

/** Time on the processor of this thread so far. Milliseconds. */
function processorMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1_000;
}

type Tree = {
  getChildren(parent?: object): Promise<readonly object[]>;
  getTreeItem(element: object): object;
};
let tree: Tree | undefined;
let showTree: ((change: { readonly visible: boolean }) => void) | undefined;
const createTreeView = (id: string, { treeDataProvider }: { readonly treeDataProvider: Tree }) => {
  const isAgents = id === "hermes.agents";
  if (isAgents) tree = treeDataProvider;
  const onDidChangeVisibility = (listener: typeof showTree): void => {
    if (isAgents) showTree = listener;
  };
  return { visible: true, onDidChangeVisibility, dispose: () => undefined };
};
Object.assign(Reflect.get(vscode.api, "window"), { createTreeView });

/** Draws the tree anew, as for a user who opens the view. */
async function drawAgents(): Promise<{ readonly ms: number; readonly rows: number }> {
  if (tree === undefined) throw new Error("The extension has no tree of agents.");
  const before = processorMs();
  showTree?.({ visible: true });
  let rows = 0;
  for (const group of await tree.getChildren()) {
    tree.getTreeItem(group);
    for (const row of await tree.getChildren(group)) {
      tree.getTreeItem(row);
      rows += 1;
    }
  }
  return { ms: processorMs() - before, rows };
}

const start = processorMs();
const { extension } = loadExtension(vscode.api);
extension.activate(vscode.context);
const activation = processorMs() - start;

await vscode.showPanel();
vscode.receive({ type: "ready", epoch: "", next: 0 });
vscode.receive({ type: "prompt", text: "Tell me something long." });
isSent = true;
const blocks: number[] = [];
/** The block with the first update of the answer. */
let first: number | undefined;
let last = processorMs();
const beat = setInterval(() => {
  const now = processorMs();
  if (begun !== undefined) first ??= now - last;
  if (begun !== undefined && performance.now() - begun > SETTLING_MS) blocks.push(now - last);
  last = now;
}, 1);
await ended.promise;
clearInterval(beat);
// The index is complete when the list has all sessions.
while ((await drawAgents()).rows < SESSIONS) await delay(SETTLING_MS);
process.stdout.write(JSON.stringify({ activation, first, longest: Math.max(...blocks), agents: await drawAgents() }));
await extension.deactivate();
process.exit();
