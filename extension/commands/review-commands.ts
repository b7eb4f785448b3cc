/** Commands that keep, undo and show the agent's edits. */

import { hunkOfChange, reviewedDocument } from "../review/hunk-at.ts";
import { decideHunk, revealHunk } from "../review/hunk-keys.ts";
import type { CommandTable } from "./command.ts";

export const reviewCommands: CommandTable = {
  "hermes.keepHunk": ({ review, opener }, ...args) => decideHunk(review, opener, "keep", args),
  "hermes.undoHunk": ({ review, opener }, ...args) => decideHunk(review, opener, "undo", args),

  "hermes.keepChange": ({ review }, ...args) => {
    const place = hunkOfChange(review, args);
    if (place) review.keep(place.uri, place.hunk);
  },
  "hermes.undoChange": async ({ review }, ...args) => {
    const place = hunkOfChange(review, args);
    if (place) await review.undo(place.uri, place.hunk);
  },

  "hermes.keepFile": ({ review }, ...args) => {
    const uri = reviewedDocument(review, args);
    if (uri) review.keepFile(uri);
  },
  "hermes.undoFile": async ({ review }, ...args) => {
    const uri = reviewedDocument(review, args);
    if (uri) await review.undoFile(uri);
  },

  "hermes.keepAll": ({ review }) => review.keepAll(),
  "hermes.undoAll": ({ review }) => review.undoAll(),

  "hermes.nextHunk": ({ review, opener }, ...args) => revealHunk(review, opener, 1, args),
  "hermes.previousHunk": ({ review, opener }, ...args) => revealHunk(review, opener, -1, args),

  "hermes.openReview": async ({ review, opener }, ...args) => {
    const uri = reviewedDocument(review, args) ?? review.documents[0];
    if (uri) await opener.openDiff(uri, false);
  },
  "hermes.openAllReviews": ({ opener }) => opener.openAll(),
};
