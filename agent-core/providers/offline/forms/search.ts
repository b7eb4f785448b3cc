import type { OfflineForm } from "../form.ts";
import { END, formOf, PATH, pathOf, TEXT, textOf } from "../words.ts";

const IN_FOLDER = String.raw`(?:\s+in\s+(?:the\s+)?(?:folder\s+|file\s+)?(${PATH}))?`;
const textWords = formOf(String.raw`(?:search(?:\s+for)?|grep|find|look\s+for)\s+(${TEXT})${IN_FOLDER}${END}`);
const nameWords = formOf(
  String.raw`(?:search(?:\s+for)?|find|look\s+for)\s+(?:all\s+)?files\s+(?:named|called)\s+(${TEXT})${IN_FOLDER}${END}`,
);

/** `search "total" in src`: plain text, not a pattern; or `find files named *.md`. */
export const search: OfflineForm = {
  usage: ['search "total" in src', "find files named *.md"],
  verbs: ["search", "grep", "find", "look"],
  parse(request) {
    const names = nameWords.exec(request);
    if (names?.[1] !== undefined) return stepOf("files", textOf(names[1]), names[2]);
    const texts = textWords.exec(request);
    return texts?.[1] === undefined ? undefined : stepOf("content", textOf(texts[1]), texts[2]);
  },
};

function stepOf(target: "files" | "content", wanted: string, folder: string | undefined) {
  const path = folder === undefined ? undefined : pathOf(folder);
  return {
    title: `${target === "files" ? "Find" : "Search"} ${wanted}${path === undefined ? "" : ` in ${path}`}`,
    tool: "search_files",
    input: {
      target,
      pattern: target === "files" ? wanted : wanted.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"),
      ...(path !== undefined && { path }),
    },
  };
}
