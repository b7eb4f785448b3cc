import type { OfflineForm } from "../form.ts";
import { END, formOf, PATH, pathOf, TEXT, textOf } from "../words.ts";

const words = formOf(
  String.raw`(?:replace|change)\s+((?:every|all)\s+)?(${TEXT})\s+(?:with|to|by)\s+(${TEXT})\s+in\s+(?:the\s+)?(?:file\s+)?(${PATH})${END}`,
);

/** `replace two with TWO in a.txt`; one place, or every one. */
export const replace: OfflineForm = {
  usage: ["replace two with TWO in a.txt", "replace every foo with bar in a.txt"],
  verbs: ["replace", "change"],
  parse(request) {
    const [, every, oldText, newText, path] = words.exec(request) ?? [];
    if (oldText === undefined || newText === undefined || path === undefined) return undefined;
    return {
      title: `Replace ${every === undefined ? "" : "every "}${oldText} with ${newText} in ${pathOf(path)}`,
      tool: "patch",
      input: {
        mode: "replace",
        path: pathOf(path),
        old_string: textOf(oldText),
        new_string: textOf(newText),
        ...(every !== undefined && { replace_all: true }),
      },
    };
  },
};
