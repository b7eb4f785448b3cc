/** What a patch in V4A says: which files it adds, updates, deletes and moves. */

export type HunkLine = { readonly kind: "context" | "removed" | "added"; readonly text: string };

export type Hunk = {
  /** Texts of lines, each after the one before, behind which the hunk stands. */
  readonly anchors: readonly string[];
  readonly lines: readonly HunkLine[];
  /** The hunk ends with the file. */
  readonly isAtEnd: boolean;
};

/** What becomes of one file; paths are as the model wrote them. */
export type FileSection =
  | { readonly kind: "add"; readonly path: string; readonly text: string }
  | {
      readonly kind: "update";
      readonly path: string;
      /** Its new path, when it moves. */
      readonly moveTo: string | undefined;
      readonly hunks: readonly Hunk[];
    }
  | { readonly kind: "delete"; readonly path: string };

export type ParsedPatch =
  | { readonly ok: true; readonly sections: readonly FileSection[] }
  | { readonly ok: false; readonly text: string };
