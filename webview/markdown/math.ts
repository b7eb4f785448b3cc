/** Formulas of answers as MathML. Temml, which makes them, is loaded with the first formula. */
import createDOMPurify from "dompurify";
import type { Formula } from "./math-rules.ts";
import { DISPLAY_CLASS, formulaIn, MATH_CLASS } from "./math-rules.ts";

/** Time of one task for new formulas: half a frame. Milliseconds. */
const TASK_MS = 8;
/** Formulas that are kept, because a growing block is rendered again with each delta. */
const MAX_KEPT = 500;
/** A formula with more elements, or deeper ones, stays text: its layout could block the panel. */
const MAX_ELEMENTS = 1_500;
const MAX_DEPTH = 40;
/** A wider source may not fit a narrow panel, so its formula scrolls. Characters. */
const NARROW_CHARS = 24;
/** Definitions can grow without end, and no formula of an answer needs them. */
const DEFINITION = /\\(?:[egx]?def|let|futurelet|global|long|(?:re)?newcommand|providecommand|newenvironment)\b/;

let temml: typeof import("temml").default | undefined;
/** Formulas by their source; null for one that stays text. */
const kept = new Map<string, Element | null>();

/** Replaces the sources of formulas in `element`: at once while there is time, and the others in tasks of their own. */
export function showMath(element: Element): void {
  const sources = [...element.querySelectorAll(`.${MATH_CLASS}`)];
  if (sources.length === 0) return;
  if (temml !== undefined) showSome(sources);
  else load(sources).catch(() => undefined); // the sources stay
}

async function load(sources: readonly Element[]): Promise<void> {
  temml = (await import("temml")).default;
  showSome(sources);
}

function showSome(sources: readonly Element[]): void {
  const end = performance.now() + TASK_MS;
  let shown = 0;
  for (const source of sources) {
    const isKnown = kept.has(source.textContent ?? "");
    if (!isKnown && shown > 0 && performance.now() > end) break;
    show(source);
    shown += 1;
  }
  const rest = sources.slice(shown);
  if (rest.length > 0) setTimeout(() => showSome(rest.filter(({ isConnected }) => isConnected)));
}

function show(source: Element): void {
  const text = source.textContent ?? "";
  const formula = formulaIn(text);
  const math = formula === undefined ? null : (kept.get(text) ?? mathOf(formula));
  if (formula !== undefined) keep(text, math);
  if (math === null) return;
  source.classList.toggle("math-wide", source.classList.contains(DISPLAY_CLASS) || text.length > NARROW_CHARS);
  if (source instanceof HTMLElement) source.dataset["tex"] = text;
  source.replaceChildren(math.cloneNode(true));
}

/** Source of the formula that `element` shows; undefined for any other element. */
export function texOf(element: Node): string | undefined {
  return element instanceof HTMLElement ? element.dataset["tex"] : undefined;
}

/** Text and HTML of a range in which formulas are TeX; undefined for a range without formulas. */
export function copyWithTex(range: Range): { readonly text: string; readonly html: string } | undefined {
  const whole = range.cloneRange();
  const [first, last] = [formulaAround(range.startContainer), formulaAround(range.endContainer)];
  if (first) whole.setStartBefore(first);
  if (last) whole.setEndAfter(last);
  const copy = document.createElement("div");
  copy.className = "math-copy";
  copy.append(whole.cloneContents());
  const formulas = copy.querySelectorAll("[data-tex]");
  if (formulas.length === 0) return undefined;
  for (const formula of formulas) formula.replaceChildren(texOf(formula) ?? "");
  document.body.append(copy); // line breaks come from the layout
  const copied = { text: copy.innerText, html: copy.innerHTML };
  copy.remove();
  return copied;
}

function formulaAround(node: Node): Element | null {
  return (node instanceof Element ? node : node.parentElement)?.closest("[data-tex]") ?? null;
}

function keep(text: string, math: Element | null): void {
  const [oldest] = kept.keys();
  if (kept.size >= MAX_KEPT && oldest !== undefined && !kept.has(text)) kept.delete(oldest);
  kept.set(text, math);
}

/** Null for a formula with an error, and for one that is too large. */
function mathOf({ tex, isDisplay }: Formula): Element | null {
  if (temml === undefined || DEFINITION.test(tex)) return null;
  const holder = document.createElement("span");
  try {
    temml.render(tex, holder, {
      displayMode: isDisplay,
      throwOnError: true,
      trust: false,
      strict: false,
      maxSize: [10, 100],
      maxExpand: 200,
    });
  } catch {
    return null; // a source with an error, or one whose nesting exceeds the stack
  }
  const elements = holder.getElementsByTagName("*");
  if (elements.length > MAX_ELEMENTS || depthOf(holder) > MAX_DEPTH) return null;
  purifier.sanitize(holder, { ...ALLOWED, IN_PLACE: true });
  for (const element of elements) restyle(element);
  return holder.firstElementChild;
}

function depthOf(element: Element): number {
  let deepest = 0;
  const walker = document.createTreeWalker(element, NodeFilter.SHOW_ELEMENT);
  for (let depth = 0; ; ) {
    if (walker.firstChild() !== null) depth += 1;
    else {
      while (walker.nextSibling() === null) {
        if (walker.parentNode() === null) return deepest;
        depth -= 1;
      }
    }
    deepest = Math.max(deepest, depth);
    if (deepest > MAX_DEPTH) return deepest;
  }
}

const purifier = createDOMPurify(window);

/** Elements of MathML Core without links, actions and foreign content. */
const ALLOWED = {
  ALLOWED_TAGS: [
    ...["span", "math", "mrow", "mstyle", "mpadded", "mphantom", "menclose"],
    ...["mi", "mn", "mo", "ms", "mtext", "mspace"],
    ...["mfrac", "msqrt", "mroot", "msub", "msup", "msubsup", "munder", "mover", "munderover"],
    ...["mmultiscripts", "mprescripts", "none", "mtable", "mtr", "mtd"],
  ],
  ALLOWED_ATTR: [
    ...["class", "display", "displaystyle", "scriptlevel", "mathvariant", "notation", "style"],
    ...["accent", "accentunder", "fence", "form", "largeop", "lspace", "rspace", "maxsize", "minsize", "movablelimits"],
    ...["separator", "stretchy", "symmetric", "linethickness", "columnspan", "rowspan", "width", "mathbackground"],
  ],
  ALLOW_DATA_ATTR: false,
  ALLOW_ARIA_ATTR: false,
};

/** Styles that place or overlap nothing. The policy of the page forbids styles in HTML, so a script sets them. */
const STYLES = ["color", "border", "math-depth"];
const CELL_STYLES = [...STYLES, "padding-left", "padding-right"];

function restyle(element: Element): void {
  if (!(element instanceof MathMLElement)) return;
  const names = element.localName === "mtd" ? CELL_STYLES : STYLES;
  const styles = names.map((name) => [name, element.style.getPropertyValue(name)] as const);
  element.removeAttribute("style");
  for (const [name, value] of styles) if (value !== "") element.style.setProperty(name, value);
}
