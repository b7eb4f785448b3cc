import type { OfflineForm } from "../form.ts";
import { END, formOf, PATH, pathOf } from "../words.ts";

const IN = String.raw`\s+(?:in|of|under)`;
const FOLDER = String.raw`(?:\s+the)?(?:\s+(?:folder|directory))?`;
const listWords = formOf(
  String.raw`(?:list|ls)(?:\s+all)?(?:\s+the)?(?:\s+files)?(?:${IN})?${FOLDER}(?:\s+(${PATH}))?${END}`,
);
const showWords = formOf(String.raw`show(?:\s+me)?(?:\s+all)?(?:\s+the)?\s+files(?:${IN}${FOLDER}\s+(${PATH}))?${END}`);

/** `list`, `list src`, `show the files in src`. */
export const list: OfflineForm = {
  usage: ["list", "list src"],
  verbs: ["list", "ls", "show"],
  parse(request) {
    const found = listWords.exec(request) ?? showWords.exec(request);
    if (found === null) return undefined;
    const path = pathOf(found[1] ?? ".");
    return {
      title: path === "." ? "List the files" : `List the files in ${path}`,
      tool: "search_files",
      input: { target: "files", pattern: "*", path },
    };
  },
};
