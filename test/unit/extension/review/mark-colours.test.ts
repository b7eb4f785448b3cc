import { expect, test } from "vitest";
import * as z from "zod";
import { readManifest } from "../../../support/manifest.ts";

const Colours = z.object({
  contributes: z.object({ colors: z.array(z.object({ id: z.string(), defaults: z.record(z.string(), z.string()) })) }),
});

/** Background of an editor in VS Code's own themes. */
const EDITORS = { dark: "#1f1f1f", light: "#ffffff", highContrast: "#000000", highContrastLight: "#ffffff" } as const;

type Colour = readonly [red: number, green: number, blue: number];

const parts = (hex: string): readonly number[] =>
  (hex.match(/[0-9a-f]{2}/g) ?? []).map((pair) => Number.parseInt(pair, 16));

function over(hex: string, [red, green, blue]: Colour): Colour {
  const [r = 0, g = 0, b = 0, a = 255] = parts(hex);
  const mix = (top: number, below: number): number => (top * a + below * (255 - a)) / 255;
  return [mix(r, red), mix(g, green), mix(b, blue)];
}

function luminance(colour: Colour): number {
  const [red = 0, green = 0, blue = 0] = colour.map((value) => {
    const share = value / 255;
    return share <= 0.03928 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

test.for([
  ["dark", 4.5],
  ["light", 4.5],
  ["highContrast", 7],
  ["highContrastLight", 7],
] as const)("removed words are readable on their mark in %s, with a contrast of %d", ([theme, contrast]) => {
  const colours = Colours.parse(readManifest()).contributes.colors;
  const colour = (id: string): string => colours.find((each) => each.id === `hermes.${id}`)?.defaults[theme] ?? "";
  const line = over(colour("addedLineBackground"), over(EDITORS[theme], [0, 0, 0]));
  const mark = over(colour("removedTextBackground"), line);
  const [dark = 0, bright = 0] = [mark, over(colour("removedTextForeground"), mark)]
    .map(luminance)
    .sort((a, b) => a - b);
  expect((bright + 0.05) / (dark + 0.05)).toBeGreaterThanOrEqual(contrast);
});
