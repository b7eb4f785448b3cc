/** Edits that wait for review. */
import { openLocation } from "../open-location.ts";
import type { Actions } from "./actions.ts";

export const reviewActions: Actions<"open-review" | "keep-file" | "undo-file" | "keep-all" | "undo-all"> = {
  "open-review": ({ path }, { review, opener }) => {
    const [document] = review.documentsOf(path);
    return document === undefined ? openLocation(path, undefined) : opener.openDiff(document, false);
  },
  "keep-file": ({ path }, { review }) => {
    for (const document of review.documentsOf(path)) review.keepFile(document);
  },
  "undo-file": async ({ path }, { review }) => {
    for (const document of review.documentsOf(path)) await review.undoFile(document);
  },
  "keep-all": (_message, { review }) => review.keepAll(),
  "undo-all": (_message, { review }) => review.undoAll(),
};
