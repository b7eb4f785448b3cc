/** Paths in inline code and in prose as links: the host checks in one batch which of them exist. */
import { t } from "../texts.ts";

/** Words that may be a file: with a folder or a file name extension, and an optional place in the file. */
const PATH = /^(?=[^:]*[./])(?:\.{0,2}\/)?[\w@+.-]+(?:\/[\w@+.-]+)*(?::\d+(?:[:-]\d+)?|#L\d+(?:-L?\d+)?)?$/;
const MAX_PATH_CHARS = 300;
/** Paths of one request. */
const BATCH = 200;

export class PathLinks {
  readonly #check: (paths: readonly string[]) => void;
  readonly #known = new Set<string>();
  /** Elements that wait for the host's answer, by their text. */
  readonly #waiting = new Map<string, HTMLElement[]>();
  #isScheduled: boolean = false;

  constructor(check: (paths: readonly string[]) => void) {
    this.#check = check;
  }

  /** Makes the inline code of a finished block links, now or with the host's answer. */
  watch(block: HTMLElement): void {
    const inProse = textsIn(block).flatMap(wrapPaths);
    for (const code of [...block.querySelectorAll<HTMLElement>("code"), ...inProse]) {
      const text = code.textContent;
      if (!isPath(text) || code.closest("pre, a") !== null) continue;
      if (this.#known.has(text)) link(code, text);
      else this.#wait(code, text);
    }
  }

  /** Takes the host's answer. */
  answer(asked: readonly string[], existing: readonly string[]): void {
    for (const path of existing) {
      this.#known.add(path);
      for (const code of this.#waiting.get(path) ?? []) if (code.isConnected) link(code, path);
    }
    // A file that is missing now may be there at its next mention.
    for (const path of asked) this.#waiting.delete(path);
  }

  #wait(code: HTMLElement, text: string): void {
    this.#waiting.set(text, [...(this.#waiting.get(text) ?? []), code]);
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    setTimeout(() => {
      this.#isScheduled = false;
      const paths = [...this.#waiting.keys()];
      for (let start = 0; start < paths.length; start += BATCH) this.#check(paths.slice(start, start + BATCH));
    });
  }
}

/** True for a text that may name a file. */
export function isPath(text: string): boolean {
  return text.length <= MAX_PATH_CHARS && PATH.test(text) && /[a-z]/i.test(text);
}

/** In prose, only a name with an extension, and with a folder or a line, may be a path: `src/a.ts`, `a.ts:7`. */
const PROSE =
  /(?<![\w/.:@-])(?:[\w@+.-]+\/)+[\w@+-][\w@+.-]*\.[a-z]\w{0,9}(?::\d+(?:[:-]\d+)?)?|(?<![\w/.:@-])[\w@+-][\w@+.-]*\.[a-z]\w{0,9}:\d+(?:[:-]\d+)?/gi;

/** Texts outside of code and links. */
function textsIn(block: HTMLElement): readonly Text[] {
  const walker = document.createTreeWalker(block, NodeFilter.SHOW_TEXT);
  const texts: Text[] = [];
  while (walker.nextNode()) {
    const { currentNode: node } = walker;
    if (node instanceof Text && node.parentElement?.closest("a, code, pre, math") === null) texts.push(node);
  }
  return texts;
}

/** Puts each possible path into an element of its own. */
function wrapPaths(text: Text): readonly HTMLElement[] {
  const spans: HTMLElement[] = [];
  for (const { 0: path, index } of [...text.data.matchAll(PROSE)].toReversed()) {
    if (path.length > MAX_PATH_CHARS) continue;
    const part = text.splitText(index);
    part.splitText(path.length);
    const span = document.createElement("span");
    part.replaceWith(span);
    span.append(part);
    spans.push(span);
  }
  return spans;
}

function link(code: HTMLElement, path: string): void {
  const anchor = document.createElement("a");
  anchor.className = "path-link";
  anchor.setAttribute("href", encodeURI(path));
  anchor.title = t("Open {0}", path);
  code.replaceWith(anchor);
  anchor.append(code);
}
