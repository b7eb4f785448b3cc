// An extension host of its own: activates the extension, sends one prompt, and prints how long each blocked the process.
import { join } from "node:path";
import { HostMessage } from "../../agent-core/protocol/panel-events.ts";
import { loadExtension } from "../support/panel/load-extension.ts";
import { ThinVSCode } from "../support/panel/thin-vscode.ts";

/** The start of a turn has work of its own. */
const SETTLING_MS = 500;

const root = process.argv[2] ?? "";
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
  toPanel: (message) => show(HostMessage.safeParse(message).data),
});

/** Acknowledges events as the panel does. */
function show(message: HostMessage | undefined): void {
  if (message?.type !== "events") return;
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

const start = processorMs();
const { extension } = loadExtension(vscode.api);
extension.activate(vscode.context);
const activation = processorMs() - start;

await vscode.showPanel();
vscode.receive({ type: "ready", epoch: "", next: 0 });
vscode.receive({ type: "prompt", text: "Tell me something long." });
isSent = true;
const blocks: number[] = [];
let last = processorMs();
const beat = setInterval(() => {
  const now = processorMs();
  if (begun !== undefined && performance.now() - begun > SETTLING_MS) blocks.push(now - last);
  last = now;
}, 1);
await ended.promise;
clearInterval(beat);
process.stdout.write(JSON.stringify({ activation, longest: Math.max(...blocks) }));
await extension.deactivate();
process.exit();
