/** Colours of code blocks. Blocks are plain until the highlighter is loaded. */
import type { Theme } from "./theme.ts";

/** Larger blocks stay plain: each frame draws the open block anew. Characters. */
const MAX_CHARS = 20_000;

/** Paints by the first word of a scope of highlight.js. Other scopes are plain. */
const PAINTS: Readonly<Record<string, keyof Theme>> = {
  ...{ keyword: "accent", literal: "accent", built_in: "code", type: "code", title: "bold", name: "code" },
  ...{ string: "good", regexp: "good", number: "code", symbol: "code", comment: "dim", meta: "dim", doctag: "dim" },
  ...{ addition: "added", deletion: "removed", attr: "code", selector: "code", section: "bold" },
};

const ENTITIES: Readonly<Record<string, string>> = { amp: "&", lt: "<", gt: ">", quot: '"', "#x27": "'" };

let loaded: typeof import("highlight.js") | undefined;

/** Loads the highlighter with the first turn: it takes as long as the start of a session. */
export async function loadHighlighter(): Promise<void> {
  loaded ??= (await import("highlight.js/lib/common")).default;
}

/** Lines of a code block. No paint goes over the end of a line. */
export function highlighted(code: string, language: string | undefined, theme: Theme): string[] {
  if (language === undefined || code.length > MAX_CHARS || loaded?.getLanguage(language) === undefined) {
    return code.split("\n");
  }
  const { value } = loaded.highlight(code, { language, ignoreIllegals: true });
  const open: (keyof Theme | undefined)[] = [];
  let text = "";
  for (const [part, scope] of value.matchAll(/<span class="hljs-(\w+)[^"]*">|<\/span>|[^<]+/g)) {
    if (scope !== undefined) open.push(PAINTS[scope] ?? open.at(-1));
    else if (part === "</span>") open.pop();
    else
      text += painted(
        part.replaceAll(/&(\S+?);/g, (all, name) => ENTITIES[name] ?? all),
        open.at(-1),
        theme,
      );
  }
  return text.split("\n");
}

function painted(text: string, name: keyof Theme | undefined, theme: Theme): string {
  if (name === undefined) return text;
  return text
    .split("\n")
    .map((line) => (line === "" ? "" : theme[name](line)))
    .join("\n");
}
