/** Status line and spinner of the interactive session. */
import { homedir } from "node:os";
import { sep } from "node:path";
import { truncateToWidth, visibleWidth } from "@earendil-works/pi-tui";
import type { Drawing } from "./activity.ts";
import type { Theme } from "./theme.ts";

/** Below these widths the line is compact, or has the model and the mode alone. Columns. */
const FULL = 76;
const COMPACT = 52;
const BAR_CELLS = 10;
/** Shares of the window at which the bar changes its colour. */
const SHARES = { noticed: 0.5, high: 0.8, full: 0.95 };

export type Status = {
  readonly model: string;
  readonly mode: string;
  readonly used: number;
  /** Tokens; 0 before the first answer. */
  readonly window: number;
  readonly costUsd: number | undefined;
  readonly branch: string | undefined;
  /** Running processes and prompts in the background. */
  readonly background: number;
};

export function statusLine(status: Status, { theme, width }: Drawing): string {
  const { model, mode, used, window: size, costUsd, branch, background } = status;
  const share = size === 0 ? 0 : used / size;
  const tokens = size === 0 ? [] : [`${count(used)}/${count(size)}`];
  const percent = `${Math.round(share * 100)}%`;
  const gauge = size === 0 ? [] : [`${bar(share, theme)} ${theme.dim(percent)}`];
  const cost = costUsd === undefined ? [] : [`$${costUsd.toFixed(costUsd < 1 ? 3 : 2)}`];
  const work = background > 0 ? [`${background} in background`] : [];
  const place = branch === undefined ? [] : [`⎇ ${branch}`];
  const dimmed = (parts: readonly string[]): readonly string[] => parts.map(theme.dim);
  const first = [theme.dim(model)];
  const full = [...first, ...dimmed(tokens), ...gauge, ...dimmed([...cost, mode, ...place, ...work])];
  const compact = [...first, ...(size === 0 ? [] : [theme.dim(percent)]), ...dimmed([...cost, mode, ...work])];
  const chosen = width >= FULL ? full : compact;
  const parts = width >= COMPACT ? chosen : [theme.dim(mode), ...first];
  return truncateToWidth(` ${parts.join(theme.dim(" · "))}`, width, "…");
}

function bar(share: number, theme: Theme): string {
  const filled = Math.min(BAR_CELLS, Math.round(share * BAR_CELLS));
  const text = `${"█".repeat(filled)}${"░".repeat(BAR_CELLS - filled)}`;
  if (share >= SHARES.full) return theme.bold(theme.bad(text));
  if (share >= SHARES.high) return theme.bad(text);
  return share >= SHARES.noticed ? theme.warning(text) : theme.good(text);
}

function count(tokens: number): string {
  if (tokens >= 1_000_000) return `${(tokens / 1_000_000).toFixed(1)}M`;
  return tokens >= 1_000 ? `${Math.round(tokens / 1_000)}k` : String(tokens);
}

const FACES = ["(｡•́︿•̀｡)", "(◔_◔)", "(¬‿¬)", "(⌐■_■)", "(´･_･`)", "(°ロ°)", "( ˘⌣˘)♡", "٩(๑❛ᴗ❛๑)۶", "(⊙_⊙)", "(¬_¬)"];
const VERBS = [
  ...["pondering", "contemplating", "musing", "cogitating", "ruminating", "deliberating", "mulling", "reflecting"],
  ...["processing", "reasoning", "analyzing", "computing", "synthesizing", "formulating", "brainstorming"],
];
const DOTS = ["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"];
/** A face stays for a while; its dots turn. Milliseconds. */
const FACE_MS = 3_000;
export const DOT_MS = 120;

/** Line of a turn that runs. `elapsed`: since its start, in milliseconds. */
export function spinnerLine(style: "kawaii" | "plain", elapsed: number, { theme, width }: Drawing): string {
  const dot = DOTS[Math.floor(elapsed / DOT_MS) % DOTS.length] ?? "";
  const step = Math.floor(elapsed / FACE_MS);
  const verb = VERBS[(step * 7) % VERBS.length] ?? "";
  const words = style === "plain" ? "working" : `${FACES[(step * 3) % FACES.length] ?? ""} ${verb}...`;
  const time = elapsed < 1_000 ? "" : ` (${Math.floor(elapsed / 1000)}s · Esc stops)`;
  return truncateToWidth(`  ${theme.accent(dot)} ${words}${theme.dim(time)}`, width, "…");
}

/** The path with `~` for the user's own folder. */
function shortened(path: string): string {
  const home = homedir();
  return path === home || path.startsWith(`${home}${sep}`) ? `~${path.slice(home.length)}` : path;
}

/** Shown once, at the start. */
export function banner(
  { version, cwd }: { readonly version: string; readonly cwd: string },
  drawing: Drawing,
): readonly string[] {
  const { theme, width } = drawing;
  const lines = [
    `${theme.bold(theme.accent("⚕ Hermes"))} ${theme.dim(version)}`,
    theme.dim(shortened(cwd)),
    theme.dim("/help lists the commands · @ attaches a file · ! runs a command · Ctrl+D leaves"),
  ];
  return ["", ...lines.map((line) => truncateToWidth(` ${line}`, width, "…")), ""].filter(
    (line, index) => index === 0 || visibleWidth(line) <= width,
  );
}
