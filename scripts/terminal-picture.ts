// node scripts/terminal-picture.ts: draws the pictures of docs/command-line.md, interactive sessions of the built command
// line, from the emulator of the tests. Build first: node esbuild.mjs --only=core,plugin.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { call, callTools, say, startModelServer } from "../test/support/model-server/model-server.ts";
import { type Cell, TerminalProgram } from "../test/support/terminal-program.ts";

const CELL = { width: 8.4, height: 18 };
/** Colours of the terminal's palette that the session uses. */
const PALETTE: Readonly<Record<number, string>> = {
  1: "#f47067",
  2: "#57ab5a",
  3: "#d4a72c",
  4: "#539bf5",
  6: "#39c5cf",
};

const folder = mkdtempSync(join(tmpdir(), "hermes-picture-"));
const cwd = join(folder, "shop");
mkdirSync(cwd);
const model = await startModelServer();
writeFileSync(
  join(cwd, "average.ts"),
  "export const average = (of: number[]) =>\n  of.reduce((a, b) => a + b) / of.length;\n",
);
model.script(
  callTools(call("read_file", { path: "average.ts" })),
  callTools(
    call("write_file", {
      path: "average.ts",
      content:
        "export const average = (of: number[]) =>\n  of.length === 0 ? 0 : of.reduce((a, b) => a + b) / of.length;\n",
    }),
  ),
  say("`average` returns **0** for an empty list now. Before, it threw: `reduce` needs a first value.\n"),
);
const environment = {
  PATH: process.env["PATH"] ?? "",
  HOME: folder,
  HERMES_HOME: join(folder, ".hermes"),
  HERMES_LOCAL_SERVERS: "off",
  HERMES_BASE_URL: model.baseUrl,
  HERMES_MODEL: "hermes-4-405b",
  HERMES_API_KEY: "sk-1",
};
const program = join(process.cwd(), "dist/cli.js");
const terminal = new TerminalProgram(process.execPath, [program, "--mode", "ask"], {
  columns: 84,
  rows: 25,
  cwd,
  environment,
});
await terminal.until("hermes-4-405b");
terminal.type("average of an empty list fails, please mend @average.ts\r");
await terminal.until("y Allow Once");
await terminal.untilTyped("y", () => terminal.text.includes("✓ Allow Once"));
await terminal.until("Before, it threw");
await terminal.settled();
writeFileSync("docs/terminal.svg", drawn(terminal.cells));
await terminal.end();

const todos = ["Read the service's settings", "Restart the service", "Check its log"].map((content, index) => ({
  ...{ id: String(index), content, status: ["completed", "in_progress", "pending"][index] },
}));
writeFileSync(join(cwd, "restart.sh"), '"$SUDO_ASKPASS" "[sudo] password for ann:" >/dev/null && echo restarted\n');
model.script(
  say("One: `shop.service`."),
  say("The unit restarts on failure:\n\n```ini\n[Service]\nRestart=on-failure # not always\nRestartSec=5\n```\n"),
  callTools(call("todo", { todos })),
  callTools(call("terminal", { command: "sh restart.sh", unsandboxed: true })),
  say("Done."),
);
const second = new TerminalProgram(process.execPath, [program, "--yes"], { columns: 84, rows: 25, cwd, environment });
await second.until("hermes-4-405b");
second.type("which services run here?\r");
await second.until("One: shop");
await second.settled();
second.type("how does the unit restart?\r");
await second.until("RestartSec");
await second.settled();
second.type("restart it now, please\r");
await second.until("password for ann");
await second.untilTyped("s", () => second.text.includes("•"));
second.type("ecret");
await second.until("••••••");
writeFileSync("docs/terminal-password.svg", drawn(second.cells));
await second.end();
await model.stop();
rmSync(folder, { recursive: true, force: true });

function drawn(rows: readonly (readonly Cell[])[]): string {
  const [width, height] = [(rows[0]?.length ?? 0) * CELL.width + 24, rows.length * CELL.height + 24];
  const lines = rows.map(
    (row, index) => `<text y="${(index + 1) * CELL.height + 6}">${row.map(spanOf).join("")}</text>`,
  );
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" font-family="ui-monospace, Menlo, Consolas, monospace" font-size="14" fill="#adbac7">`,
    `<rect width="100%" height="100%" rx="8" fill="#22272e"/>`,
    ...lines,
    "</svg>\n",
  ].join("\n");
}

function spanOf({ text, color, isBold, isDim, column }: Cell): string {
  if (text.trim() === "") return "";
  const escaped = text.replaceAll("&", "&amp;").replaceAll("<", "&lt;");
  const fill = color === undefined ? "" : ` fill="${PALETTE[color] ?? "#adbac7"}"`;
  const style = `${isBold ? ' font-weight="bold"' : ""}${isDim ? ' opacity="0.65"' : ""}`;
  return `<tspan x="${(12 + column * CELL.width).toFixed(1)}"${fill}${style}>${escaped}</tspan>`;
}
