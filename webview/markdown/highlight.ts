/** Colours for finished code blocks; a language's grammar is loaded when the first block of it appears. */
import highlighter from "highlight.js/lib/core";

/** Larger blocks stay plain: colouring them would hold up the panel. Characters. */
const MAX_CODE_CHARS = 50_000;

type Grammar = Parameters<typeof highlighter.registerLanguage>[1];

const loaders: Readonly<Record<string, () => Promise<{ readonly default: Grammar }>>> = {
  bash: () => import("highlight.js/lib/languages/bash"),
  c: () => import("highlight.js/lib/languages/c"),
  cpp: () => import("highlight.js/lib/languages/cpp"),
  csharp: () => import("highlight.js/lib/languages/csharp"),
  css: () => import("highlight.js/lib/languages/css"),
  diff: () => import("highlight.js/lib/languages/diff"),
  go: () => import("highlight.js/lib/languages/go"),
  java: () => import("highlight.js/lib/languages/java"),
  javascript: () => import("highlight.js/lib/languages/javascript"),
  json: () => import("highlight.js/lib/languages/json"),
  markdown: () => import("highlight.js/lib/languages/markdown"),
  python: () => import("highlight.js/lib/languages/python"),
  rust: () => import("highlight.js/lib/languages/rust"),
  sql: () => import("highlight.js/lib/languages/sql"),
  typescript: () => import("highlight.js/lib/languages/typescript"),
  xml: () => import("highlight.js/lib/languages/xml"),
  yaml: () => import("highlight.js/lib/languages/yaml"),
};

const aliases: Readonly<Record<string, string>> = {
  sh: "bash",
  shell: "bash",
  zsh: "bash",
  "c++": "cpp",
  cs: "csharp",
  patch: "diff",
  golang: "go",
  js: "javascript",
  jsx: "javascript",
  mjs: "javascript",
  md: "markdown",
  py: "python",
  rs: "rust",
  ts: "typescript",
  tsx: "typescript",
  html: "xml",
  svg: "xml",
  yml: "yaml",
};

/** Colours `code` in place; does nothing for a language that is not known. */
export async function highlight(code: HTMLElement, language: string): Promise<void> {
  const name = aliases[language] ?? language;
  const load = Object.hasOwn(loaders, name) ? loaders[name] : undefined;
  const text = code.textContent;
  if (load === undefined || text.length > MAX_CODE_CHARS) return;
  if (!highlighter.getLanguage(name)) highlighter.registerLanguage(name, (await load()).default);
  // The library escapes the text itself; nothing of it can become a tag.
  code.innerHTML = highlighter.highlight(text, { language: name, ignoreIllegals: true }).value;
}
