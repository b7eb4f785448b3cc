/** Page as indented text, with a ref for each element that can be clicked or typed into. */
import { oneLine } from "../platform/one-line.ts";
import { type Capture, PageDocument } from "./page-document.ts";
import { isContainer, isInline, isInteractive, isNamedByContent } from "./roles.ts";

/** Deeper elements are left out: pages nest them without end. */
const MAX_DEPTH = 300;
/** Length of one line of text. Characters. */
const TEXT_CHARS = 1_000;
/** Clickable areas with a longer content are shown as containers. Characters. */
const LABEL_CHARS = 80;
/** Words for values of `aria-expanded`. */
const EXPANSION = new Map([
  ["true", "expanded"],
  ["false", "collapsed"],
]);
/** Elements without text for people. */
const UNSEEN = /^(head|script|style|noscript|template)$/;
/** Options of a list that a line names. */
const MAX_OPTIONS = 20;
/** Roles of a row's cells. */
const CELL = /^(cell|gridcell|columnheader|rowheader)$/;
/** Length of an address in a line. Characters. */
const ADDRESS_CHARS = 100;

/** Part of the page that is in view, in the units of the capture. */
export type View = { readonly top: number; readonly bottom: number };

export type SnapshotOptions = {
  /** Ref of an element by the browser's id. The same element keeps its ref. */
  readonly refOf: (backendId: number) => string;
  /** Only elements with refs, and headings. */
  readonly compact?: boolean;
  /** Only the part in view. */
  readonly view?: View | undefined;
  /** With the addresses of links. */
  readonly addresses?: boolean;
};

type Line = {
  readonly depth: number;
  readonly text: string;
  /** Container: kept for its content, so without content it is dropped. */
  readonly role: string | undefined;
  readonly kind: "container" | "text" | "element";
  readonly inView: boolean;
};

/** Lines of the page, one for each element or piece of text that matters. */
export function snapshotLines(capture: Capture, options: SnapshotOptions): readonly string[] {
  const writer = new SnapshotWriter(capture, options);
  writer.writeDocument(0, 0);
  return writer.finished();
}

class SnapshotWriter {
  readonly #capture: Capture;
  readonly #options: SnapshotOptions;
  readonly #lines: Line[] = [];
  #text: string[] = [];
  #textInView = false;

  constructor(capture: Capture, options: SnapshotOptions) {
    this.#capture = capture;
    this.#options = options;
  }

  writeDocument(index: number, depth: number): void {
    this.#writeChildren(new PageDocument(this.#capture, index), 0, { depth, level: depth, isPointer: false });
    this.#flush(depth);
  }

  finished(): readonly string[] {
    const { view } = this.#options;
    const lines = view === undefined ? this.#lines : withParents(this.#lines);
    return lines.map(({ depth, text }) => `${"  ".repeat(depth)}- ${text}`);
  }

  #writeChildren(page: PageDocument, node: number, place: Place): void {
    if (place.level > MAX_DEPTH) return;
    for (const child of page.children(node)) this.#write(page, child, { ...place, level: place.level + 1 });
  }

  #write(page: PageDocument, node: number, place: Place): void {
    const kind = page.kind(node);
    if (kind === "root") this.#writeChildren(page, node, place);
    else if (kind === "other" || !page.isVisible(node)) return;
    else if (kind === "text") this.#addText(page, node);
    else if (!UNSEEN.test(page.tag(node))) this.#writeVisible(page, node, place);
  }

  #writeVisible(page: PageDocument, node: number, outer: Place): void {
    const role = page.role(node);
    const place = { ...outer, isPointer: page.style(node, "cursor") === "pointer" };
    if (role === "iframe") this.#writeFrame(page, node, place);
    else if (isClickable(page, node, outer)) this.#writeClickable(page, node, place);
    else if (page.tag(node) === "label" && page.fieldOf(node) !== undefined) this.#writeControls(page, node, place);
    else if (role === undefined) this.#writeGeneric(page, node, place);
    else {
      this.#flush(place.depth);
      if (isContainer(role)) this.#writeContainer(page, node, place, role);
      else this.#writeElement(page, node, place, role);
    }
  }

  /** An element without a meaning of its own. A block ends the line of text before and after it. */
  #writeGeneric(page: PageDocument, node: number, place: Place): void {
    const isBlock = !isInline(page.tag(node));
    if (isBlock) this.#flush(place.depth);
    this.#writeChildren(page, node, place);
    if (isBlock) this.#flush(place.depth);
  }

  #writeElement(page: PageDocument, node: number, place: Place, role: string): void {
    const isNamed = isNamedByContent(role);
    const own = page.givenName(node) || (isNamed ? page.content(node) : "");
    const name = own || (role === "button" ? (page.attribute(node, "value") ?? "") : "");
    const ref = isInteractive(role) ? this.#options.refOf(page.backendId(node)) : "";
    const parts = [role, name && JSON.stringify(name), ref, ...this.#states(page, node, role)];
    const isShown = ref !== "" || role === "heading" || !this.#options.compact;
    if (isShown) this.#add(page, node, { depth: place.depth, text: parts.filter((part) => part).join(" ") });
    if (role === "combobox" || role === "textbox") return;
    if (isNamed)
      this.#writeControls(page, node, { ...place, depth: place.depth + 1, isInControl: isInteractive(role) });
    else this.#writeChildren(page, node, place);
  }

  /** For an element named by its content: only those descendants that have refs. */
  #writeControls(page: PageDocument, node: number, place: Place): void {
    this.#flush(place.depth);
    const length = this.#lines.length;
    this.#writeChildren(page, node, { ...place, isPointer: true });
    this.#text = [];
    const kept = this.#lines.splice(length).filter(({ kind, role }) => kind === "element" && role !== "img");
    this.#lines.push(...kept);
  }

  #writeClickable(page: PageDocument, node: number, place: Place): void {
    this.#flush(place.depth);
    const ref = this.#options.refOf(page.backendId(node));
    const content = page.givenName(node) || page.content(node, LABEL_CHARS + 1);
    const isShort = content.length <= LABEL_CHARS;
    const text = isShort && content !== "" ? `clickable ${JSON.stringify(content)} ${ref}` : `clickable ${ref}`;
    this.#add(page, node, { depth: place.depth, text });
    const inner = { ...place, depth: place.depth + 1, isPointer: true };
    if (isShort) this.#writeControls(page, node, inner);
    else {
      this.#writeChildren(page, node, inner);
      this.#flush(inner.depth);
    }
  }

  #writeContainer(page: PageDocument, node: number, place: Place, role: string): void {
    const { compact } = this.#options;
    const name = page.givenName(node);
    const start = this.#lines.length;
    const isLevel = !compact || name !== "";
    const text = name === "" ? role : `${role} ${JSON.stringify(name)}`;
    if (isLevel) this.#add(page, node, { depth: place.depth, text, role, kind: "container" });
    const depth = isLevel ? place.depth + 1 : place.depth;
    this.#writeChildren(page, node, { ...place, depth });
    this.#flush(depth);
    if (isLevel) this.#mergeContent(start, name);
  }

  /** Drops an empty container, and writes one with a single text, or a row of such cells, as one line. */
  #mergeContent(start: number, name: string): void {
    const [container, ...content] = this.#lines.slice(start);
    if (container === undefined) return;
    const [only] = content;
    if (content.length === 0 && name === "") this.#lines.splice(start);
    else if (content.length === 1 && only?.kind === "text" && only.depth === container.depth + 1) {
      this.#lines.splice(start, 2, { ...container, kind: "text", text: `${container.text}: ${only.text}` });
    } else if (content.length === 1 && only?.kind === "element" && /^(listitem|.*cell)$/.test(container.role ?? "")) {
      this.#lines.splice(start, 2, { ...only, depth: container.depth });
    } else if (container.role === "row" && content.every(({ kind, role = "" }) => kind === "text" && CELL.test(role))) {
      const cells = content.map(({ text }) => text.replace(/^\w+(?: "[^"]*")?: /, ""));
      const text = `${container.text}: ${cells.join(" | ")}`;
      this.#lines.splice(start, content.length + 1, { ...container, kind: "text", text });
    }
  }

  #writeFrame(page: PageDocument, node: number, place: Place): void {
    this.#flush(place.depth);
    const document = page.frameDocument(node);
    const source = page.attribute(node, "src") ?? "";
    const label = ["iframe", page.givenName(node) && JSON.stringify(page.givenName(node))]
      .filter((part) => part)
      .join(" ");
    const note = document === undefined ? ` of another site: ${oneLine(source, ADDRESS_CHARS)}` : "";
    const start = this.#lines.length;
    this.#add(page, node, { depth: place.depth, text: `${label}${note}`, role: "iframe", kind: "container" });
    if (document === undefined || place.level > MAX_DEPTH) return;
    this.writeDocument(document, place.depth + 1);
    this.#mergeContent(start, note);
  }

  /** States of an element that a person sees, such as `checked` or the text in a field. */
  #states(page: PageDocument, node: number, role: string): readonly string[] {
    const is = (name: string): boolean => page.attribute(node, name) !== undefined;
    const expanded = page.attribute(node, "aria-expanded");
    return [
      role === "heading"
        ? `level=${/^h([1-6])$/.exec(page.tag(node))?.[1] ?? page.attribute(node, "aria-level") ?? 2}`
        : "",
      page.isChecked(node) ? "checked" : "",
      role !== "option" && page.attribute(node, "aria-selected") === "true" ? "selected" : "",
      is("disabled") || page.attribute(node, "aria-disabled") === "true" ? "disabled" : "",
      is("required") ? "required" : "",
      is("readonly") ? "readonly" : "",
      EXPANSION.get(expanded ?? "") ?? "",
      role === "combobox" ? optionsOf(page, node) : fieldValue(page, node, role),
      role === "link" && this.#options.addresses ? addressOf(page, node) : "",
    ];
  }

  #addText(page: PageDocument, node: number): void {
    const text = page.text(node);
    if (text.trim() === "") {
      if (text !== "" && this.#text.length > 0) this.#text.push(" ");
      return;
    }
    this.#text.push(text);
    this.#textInView ||= this.#isInView(page, node);
  }

  /** Ends the line of text. */
  #flush(depth: number): void {
    const text = oneLine(this.#text.join(""), TEXT_CHARS);
    const inView = this.#textInView;
    this.#text = [];
    this.#textInView = false;
    if (text !== "" && !this.#options.compact) {
      this.#lines.push({ depth, text, inView, kind: "text", role: undefined });
    }
  }

  #add(page: PageDocument, node: number, line: Pick<Line, "depth" | "text"> & Partial<Line>): void {
    this.#lines.push({ role: undefined, kind: "element", inView: this.#isInView(page, node), ...line });
  }

  #isInView(page: PageDocument, node: number): boolean {
    const { view } = this.#options;
    if (view === undefined) return true;
    const bounds = page.bounds(node);
    return bounds === undefined || (bounds.y < view.bottom && bounds.y + bounds.height > view.top);
  }
}

/** True for an area that reacts to clicks, without a role that shows it. The outermost such area counts. */
function isClickable(page: PageDocument, node: number, { isInControl, isPointer }: Place): boolean {
  const role = page.role(node);
  if (isInControl || (role !== undefined && (isInteractive(role) || isNamedByContent(role)))) return false;
  const tag = page.tag(node);
  if (tag === "html" || tag === "body") return false;
  // A label passes clicks on to its field.
  if (tag === "label") return page.fieldOf(node) === undefined && page.style(node, "cursor") === "pointer";
  return page.hasClickListener(node) || (!isPointer && page.style(node, "cursor") === "pointer");
}

/** `depth`: indentation. `level`: nesting of elements. `isInControl`: inside an element with a ref. */
type Place = {
  readonly depth: number;
  readonly level: number;
  readonly isPointer: boolean;
  readonly isInControl?: boolean;
};

/** Lines in view, and the containers around them. */
function withParents(lines: readonly Line[]): readonly Line[] {
  const kept: Line[] = [];
  /** Depth of the next container to keep. */
  let parentDepth = -1;
  for (const line of lines.toReversed()) {
    const isParent = line.kind === "container" && line.depth <= parentDepth;
    if (!isParent && (line.kind === "container" || !line.inView)) continue;
    kept.push(line);
    parentDepth = line.depth - 1;
  }
  return kept.reverse();
}

function fieldValue(page: PageDocument, node: number, role: string): string {
  if (!/^(textbox|searchbox|spinbutton|slider|file)$/.test(role)) return "";
  const value = page.tag(node) === "input" || page.tag(node) === "textarea" ? page.value(node) : page.content(node);
  if (value === undefined || value === "") return "";
  return page.attribute(node, "type") === "password"
    ? "value=(hidden)"
    : `value=${JSON.stringify(oneLine(value, 200))}`;
}

/** Options of a select element with the chosen one. */
function optionsOf(page: PageDocument, node: number): string {
  const options: number[] = [];
  const walk = (at: number): void => {
    for (const child of page.children(at)) {
      if (page.tag(child) === "option") options.push(child);
      else walk(child);
    }
  };
  walk(node);
  if (options.length === 0) return fieldValue(page, node, "textbox");
  const names = options.slice(0, MAX_OPTIONS).map((option) => optionText(page, option));
  const chosen = options
    .filter((option) => page.isSelected(option))
    .map((option) => JSON.stringify(optionText(page, option)));
  const more = options.length > MAX_OPTIONS ? `, … ${options.length - MAX_OPTIONS} more` : "";
  return `value=${chosen.join(",") || '""'} options=[${names.join(", ")}${more}]`;
}

/** Options of a closed list have no box, so they do not count as visible. */
function optionText(page: PageDocument, option: number): string {
  const text = page.children(option).map((child) => page.text(child));
  return oneLine(page.attribute(option, "label") ?? text.join(""), 60);
}

function addressOf(page: PageDocument, node: number): string {
  const address = page.attribute(node, "href") ?? "";
  return /^(javascript:|#?$)/i.test(address) ? "" : `→ ${oneLine(address, ADDRESS_CHARS)}`;
}
