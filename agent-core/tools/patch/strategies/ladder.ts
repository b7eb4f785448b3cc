/** The strategies after the exact one, in their order: from what cannot be meant otherwise to likeness. */
import { blockAnchor } from "./block-anchor.ts";
import { contextAware } from "./context-aware.ts";
import { escapeNormalized } from "./escape-normalized.ts";
import { indentationFlexible } from "./indentation-flexible.ts";
import { lineTrimmed } from "./line-trimmed.ts";
import type { Strategy } from "./strategy.ts";
import { trimmedBoundary } from "./trimmed-boundary.ts";
import { unicodeNormalized } from "./unicode-normalized.ts";
import { whitespaceNormalized } from "./whitespace-normalized.ts";

export const ladder: readonly Strategy[] = [
  lineTrimmed,
  whitespaceNormalized,
  indentationFlexible,
  escapeNormalized,
  trimmedBoundary,
  unicodeNormalized,
  blockAnchor,
  contextAware,
];
