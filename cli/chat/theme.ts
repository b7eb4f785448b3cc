/** Colours of the interactive session: the terminal's own sixteen, which fit light and dark screens. */
import type { EditorTheme, SelectListTheme } from "@earendil-works/pi-tui";

type Paint = (text: string) => string;

export type Theme = Readonly<
  Record<
    | "accent"
    | "dim"
    | "bold"
    | "italic"
    | "strike"
    | "underline"
    | "good"
    | "bad"
    | "warning"
    | "code"
    | "added"
    | "removed",
    Paint
  >
>;

const BASE: Readonly<Record<keyof Theme, readonly [on: number, off: number]>> = {
  accent: [33, 39],
  dim: [2, 22],
  bold: [1, 22],
  italic: [3, 23],
  strike: [9, 29],
  underline: [4, 24],
  good: [32, 39],
  bad: [31, 39],
  warning: [33, 39],
  code: [36, 39],
  added: [32, 39],
  removed: [31, 39],
};

/** By the names that `/theme` and `display.theme` take. */
const ACCENTS: Readonly<Record<string, number>> = { hermes: 33, ocean: 36, forest: 32, rose: 35, sky: 34 };
export const THEMES: readonly string[] = [...Object.keys(ACCENTS), "mono"];

/** `mono`, and any theme under `NO_COLOR`, has no colours. Undefined for an unknown name. */
export function themeOf(name: string): Theme | undefined {
  const accent = ACCENTS[name];
  if (accent === undefined && name !== "mono") return undefined;
  const isPlain = accent === undefined || Boolean(process.env["NO_COLOR"]);
  const paints = Object.entries(BASE).map(([key, [on, off]]) => {
    const code = key === "accent" ? accent : on;
    return [key, isPlain ? (text: string) => text : (text: string) => `\u001b[${code}m${text}\u001b[${off}m`];
  });
  return Object.fromEntries(paints) as Theme; // has every name of BASE
}

export function listTheme(theme: Theme): SelectListTheme {
  return {
    selectedPrefix: theme.accent,
    selectedText: theme.accent,
    description: theme.dim,
    scrollInfo: theme.dim,
    noMatch: theme.dim,
  };
}

export function editorTheme(theme: Theme): EditorTheme {
  return { borderColor: theme.dim, selectList: listTheme(theme) };
}
