import type { OfflineForm } from "../form.ts";
import { END, formOf, PATH, pathOf } from "../words.ts";

const words = formOf(
  String.raw`(?:read|show|open|cat|print|view)\s+(?:me\s+)?(?:the\s+)?(?:contents?\s+of\s+)?(?:the\s+)?(?:file\s+)?(${PATH})(?:\s+from\s+line\s+(\d+))?${END}`,
);

/** `read a.txt`, `show a.txt from line 20`. */
export const read: OfflineForm = {
  usage: ["read a.txt", "show a.txt from line 20"],
  verbs: ["read", "show", "open", "cat", "print", "view"],
  parse(request) {
    const [, path, line] = words.exec(request) ?? [];
    if (path === undefined) return undefined;
    return {
      title: `Read ${pathOf(path)}`,
      tool: "read_file",
      input: { path: pathOf(path), ...(line !== undefined && { offset: Number(line) }) },
    };
  },
};
