/** Code blocks: a toolbar, and syntax colours. */
import highlighter from "highlight.js/lib/core";
import type { PanelMessage } from "../../agent-core/protocol/panel-messages.ts";
import { t } from "../texts.ts";
import type { FenceInfo } from "./parser.ts";
import { isPath } from "./path-links.ts";

/** Display time of the check mark after copying. Milliseconds. */
const COPIED_MS = 1_500;

/** Languages of commands. */
const COMMANDS: ReadonlySet<string> = new Set([
  "bash",
  "sh",
  "shell",
  "zsh",
  "console",
  "powershell",
  "ps1",
  "cmd",
  "bat",
]);
/** Languages of commands and outputs, which are not file contents unless the fence names a file. */
const NO_FILE: ReadonlySet<string> = new Set([
  ...COMMANDS,
  ...["text", "txt", "plaintext", "output", "log", "mermaid"],
]);

export type CodeBlock = FenceInfo & { readonly text: () => string };

/**
 * Adds a toolbar to a code block: its file or language, apply or insert into a terminal, insert at the cursor, copy. The output of a tool has
 * only the copy button.
 */
export function addToolbar(block: HTMLElement, code: CodeBlock, post: (message: PanelMessage) => void): HTMLElement {
  const { language, path, text } = code;
  const bar = document.createElement("div");
  bar.className = "code-toolbar";
  const label = document.createElement("span");
  label.className = "code-language";
  label.textContent = path || language;
  const copy = button("copy", t("Copy Code"), () => {
    navigator.clipboard.writeText(text()).then(
      () => {
        copy.firstElementChild?.classList.replace("codicon-copy", "codicon-check");
        setTimeout(() => copy.firstElementChild?.classList.replace("codicon-check", "codicon-copy"), COPIED_MS);
      },
      () => copy.setAttribute("title", t("Copying was refused")),
    );
  });
  const apply = path === "" ? t("Apply to the File") : t("Apply to {0}", path);
  const uses = [
    button("git-pull-request-go-to-changes", apply, () => {
      const paths = path === "" ? pathsAbove(block) : [path];
      post({ type: "apply-code", text: text(), language, paths });
    }),
    button("insert", t("Insert at Cursor"), () => post({ type: "insert-text", text: text() })),
  ];
  const toTerminal = button("terminal", t("Insert into Terminal"), () =>
    post({ type: "insert-into-terminal", text: text() }),
  );
  const diagram = button("type-hierarchy", t("Show Diagram"), () => post({ type: "show-diagram", text: text() }));
  const isOutput = block.closest("[data-tool-call]") !== null;
  const hasFile = path !== "" || !NO_FILE.has(language);
  const ways = [
    ...(path === "" && COMMANDS.has(language) ? [toTerminal] : []),
    ...(language === "mermaid" ? [diagram] : []),
    ...uses.slice(hasFile ? 0 : 1),
  ];
  bar.append(label, ...(isOutput ? [] : ways), copy);
  block.prepend(bar);
  return bar;
}

/** More paths in one paragraph do not name the file of a block. */
const MAX_PATHS = 10;

/** Files that the paragraph or the heading above a code block names, the last one first. */
function pathsAbove(block: HTMLElement): readonly string[] {
  const above = block.previousElementSibling ?? block.closest(".markdown-block")?.previousElementSibling;
  const text = above?.matches("p, h1, h2, h3, h4, h5, h6") ? above : above?.lastElementChild;
  if (text == null || text.matches("pre")) return [];
  const named = [text, ...text.querySelectorAll("code, strong, a")].map((element) =>
    (element.textContent ?? "").trim().replace(/:$/, ""),
  );
  return [...new Set(named.filter(isPath).toReversed())].slice(0, MAX_PATHS);
}

function button(icon: string, label: string, act: () => void): HTMLButtonElement {
  const element = document.createElement("button");
  element.type = "button";
  element.className = "icon-button";
  element.title = label;
  element.setAttribute("aria-label", label);
  const glyph = document.createElement("span");
  glyph.className = `codicon codicon-${icon}`;
  element.append(glyph);
  element.addEventListener("click", act);
  return element;
}

/** Larger blocks stay plain: highlighting them would block the panel. Characters. */
const MAX_CODE_CHARS = 20_000;

/** The time for a word is quadratic in its length, so code with a longer line stays plain too. */
const LONG_LINE = /[^\n]{500}/;

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

/** Blocks are highlighted one after the other, each in a task of its own. */
let queue: Promise<void> = Promise.resolve();

/** Highlights `code` in place. The grammar loads with the first block of its language; an unknown one stays plain. */
export function highlight(code: HTMLElement, language: string): void {
  const name = aliases[language] ?? language;
  const load = Object.hasOwn(loaders, name) ? loaders[name] : undefined;
  const text = code.textContent;
  if (load === undefined || text.length > MAX_CODE_CHARS || LONG_LINE.test(text)) return;
  const work = async (): Promise<void> => {
    if (!highlighter.getLanguage(name)) highlighter.registerLanguage(name, (await load()).default);
    await new Promise((resolve) => setTimeout(resolve));
    // The row may have left the list meanwhile.
    if (!code.isConnected) return;
    // The library escapes the text.
    code.innerHTML = highlighter.highlight(text, { language: name, ignoreIllegals: true }).value;
  };
  queue = queue.then(work).catch(() => undefined); // a grammar that does not load: the text stays plain
}
