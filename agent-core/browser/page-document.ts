/** Nodes of a document as the browser captured them: structure, attributes, visibility, role and name. */
import type { Protocol } from "devtools-protocol";
import { oneLine } from "../platform/one-line.ts";
import { roleOf } from "./roles.ts";

export type Capture = Protocol.DOMSnapshot.CaptureSnapshotResponse;
type Rect = { readonly x: number; readonly y: number; readonly width: number; readonly height: number };

/** Computed styles that the capture must have, in this order. */
export const CAPTURED_STYLES: readonly string[] = ["cursor", "visibility"];

/** Elements that a label names. */
const FIELD = /^(input|select|textarea|meter|progress|output)$/;
const ELEMENT = 1;
const TEXT = 3;
const DOCUMENT = 9;
const FRAGMENT = 11;
/** Length of a name. Characters. */
const NAME_CHARS = 200;
/** Text below is left out of a name. */
const MAX_DEPTH = 100;

/** A node is its index in the capture. */
export class PageDocument {
  readonly #nodes: Protocol.DOMSnapshot.NodeTreeSnapshot;
  readonly #strings: readonly string[];
  readonly #children: number[][] = [];
  /** Index in the layout; only of nodes that have a box. */
  readonly #layoutOf = new Map<number, number>();
  readonly #layout: Protocol.DOMSnapshot.LayoutTreeSnapshot;
  /** Nodes with a visible part. */
  readonly #visible = new Set<number>();
  readonly #clickable: ReadonlySet<number>;
  readonly #checked: ReadonlySet<number>;
  readonly #selected: ReadonlySet<number>;
  readonly #values: ReadonlyMap<number, string>;
  readonly #frames: ReadonlyMap<number, number>;
  readonly #hiddenRoots: ReadonlySet<number>;
  #labels: ReadonlyMap<string, number> | undefined;
  #ids: ReadonlyMap<string, number> | undefined;

  constructor({ documents, strings }: Capture, index: number) {
    const document = documents[index];
    if (document === undefined) throw new Error("no such document");
    this.#strings = strings;
    this.#nodes = document.nodes;
    this.#layout = document.layout;
    const { isClickable, inputChecked, optionSelected, inputValue, textValue, contentDocumentIndex, shadowRootType } =
      document.nodes;
    this.#clickable = new Set(isClickable?.index);
    this.#checked = new Set(inputChecked?.index);
    this.#selected = new Set(optionSelected?.index);
    this.#values = new Map([...this.#rare(textValue), ...this.#rare(inputValue)]);
    this.#frames = new Map(contentDocumentIndex?.index.map((node, at) => [node, contentDocumentIndex.value[at] ?? -1]));
    this.#hiddenRoots = new Set(
      this.#rare(shadowRootType)
        .filter(([, type]) => type === "user-agent")
        .map(([node]) => node),
    );
    this.#link();
  }

  #rare(data: Protocol.DOMSnapshot.RareStringData | undefined): (readonly [number, string])[] {
    return (data?.index ?? []).map((node, at) => [node, this.#string(data?.value[at])] as const);
  }

  #link(): void {
    for (const [at, node] of this.#layout.nodeIndex.entries()) {
      if (!this.#layoutOf.has(node)) this.#layoutOf.set(node, at);
    }
    const parents = this.#nodes.parentIndex ?? [];
    for (const [node, parent] of parents.entries()) {
      this.#children.push([]);
      if (parent >= 0 && !this.#hiddenRoots.has(node)) this.#children[parent]?.push(node);
    }
    // Children follow their parents, so one pass backwards marks the parents of visible nodes.
    for (let node = parents.length - 1; node >= 0; node -= 1) {
      if (this.#layoutOf.has(node) && this.style(node, "visibility") !== "hidden") this.#visible.add(node);
      if (this.#visible.has(node)) this.#visible.add(parents[node] ?? -1);
    }
  }

  #string(index: number | undefined): string {
    return (index === undefined ? undefined : this.#strings[index]) ?? "";
  }

  /** Nodes of the document below `node`. */
  children(node: number): readonly number[] {
    return this.#children[node] ?? [];
  }

  kind(node: number): "element" | "text" | "root" | "other" {
    switch (this.#nodes.nodeType?.[node]) {
      case ELEMENT:
        return "element";
      case TEXT:
        return "text";
      case DOCUMENT:
      case FRAGMENT:
        return "root";
      default:
        return "other";
    }
  }

  /** Name of the element in lower case. */
  tag(node: number): string {
    return this.#string(this.#nodes.nodeName?.[node]).toLowerCase();
  }

  text(node: number): string {
    return this.#string(this.#nodes.nodeValue?.[node]);
  }

  backendId(node: number): number {
    return this.#nodes.backendNodeId?.[node] ?? 0;
  }

  /** Value of an attribute; undefined without it. */
  attribute(node: number, name: string): string | undefined {
    const pairs = this.#nodes.attributes?.[node] ?? [];
    for (let at = 0; at < pairs.length; at += 2) {
      if (this.#string(pairs[at]) === name) return this.#string(pairs[at + 1]);
    }
    return undefined;
  }

  style(node: number, name: "cursor" | "visibility"): string | undefined {
    const at = this.#layoutOf.get(node);
    return at === undefined ? undefined : this.#string(this.#layout.styles[at]?.[CAPTURED_STYLES.indexOf(name)]);
  }

  /** Place in the document; undefined without a box. Device pixels. */
  bounds(node: number): Rect | undefined {
    const at = this.#layoutOf.get(node);
    const [x, y, width, height] = (at === undefined ? undefined : this.#layout.bounds[at]) ?? [];
    if (x === undefined || y === undefined || width === undefined || height === undefined) return undefined;
    return { x, y, width, height };
  }

  isVisible(node: number): boolean {
    return this.#visible.has(node) && this.attribute(node, "aria-hidden") !== "true";
  }

  /** The element has a listener for clicks. */
  hasClickListener(node: number): boolean {
    return this.#clickable.has(node);
  }

  isChecked(node: number): boolean {
    return this.#checked.has(node) || this.attribute(node, "aria-checked") === "true";
  }

  isSelected(node: number): boolean {
    return this.#selected.has(node) || this.attribute(node, "aria-selected") === "true";
  }

  /** Text in a field; undefined for other elements. */
  value(node: number): string | undefined {
    return this.#values.get(node);
  }

  /** Index of the document in a frame; undefined when the frame's document is another site's. */
  frameDocument(node: number): number | undefined {
    return this.#frames.get(node);
  }

  /** Visible text below the node with the names of its pictures, in one line. */
  content(node: number, limit = NAME_CHARS): string {
    const parts: string[] = [];
    this.#collect(node, { parts, left: limit + 1 }, 0);
    return oneLine(parts.join(" "), limit);
  }

  #collect(node: number, into: { readonly parts: string[]; left: number }, depth: number): void {
    for (const child of this.children(node)) {
      if (into.left <= 0 || depth > MAX_DEPTH) return;
      const kind = this.kind(child);
      if (kind === "other" || (kind !== "root" && !this.isVisible(child))) continue;
      const part = kind === "text" ? this.text(child) : this.#replacement(child);
      if (part === undefined) this.#collect(child, into, depth + 1);
      else {
        into.parts.push(part);
        into.left -= part.length;
      }
    }
  }

  /** Text of an element that stands for its content; undefined for any other. */
  #replacement(node: number): string | undefined {
    const label = this.attribute(node, "aria-label");
    if (label !== undefined && label.trim() !== "") return label;
    const tag = this.tag(node);
    if (tag === "img") return this.attribute(node, "alt") ?? "";
    return tag === "script" || tag === "style" || tag === "noscript" ? "" : undefined;
  }

  /** Accessible name without the element's own content, as far as attributes and labels give one. */
  givenName(node: number): string {
    const referred = this.attribute(node, "aria-labelledby")
      ?.split(/\s+/)
      .map((id) => this.#byId(id));
    const label = referred?.map((target) => (target === undefined ? "" : this.content(target))).join(" ");
    const candidates = [
      label,
      this.attribute(node, "aria-label"),
      this.#labelText(node),
      this.attribute(node, "alt"),
      this.attribute(node, "placeholder"),
      this.attribute(node, "title"),
    ];
    return oneLine(candidates.find((text) => text !== undefined && text.trim() !== "") ?? "", NAME_CHARS);
  }

  #byId(id: string): number | undefined {
    this.#ids ??= this.#index((node) => this.attribute(node, "id"));
    return this.#ids.get(id);
  }

  /** The field that a label element names; undefined when it is not visible. */
  fieldOf(label: number): number | undefined {
    const id = this.attribute(label, "for");
    const field = id === undefined ? this.#descendant(label, FIELD) : this.#byId(id);
    return field !== undefined && this.isVisible(field) ? field : undefined;
  }

  #descendant(node: number, tags: RegExp): number | undefined {
    for (const child of this.children(node)) {
      const found = tags.test(this.tag(child)) ? child : this.#descendant(child, tags);
      if (found !== undefined) return found;
    }
    return undefined;
  }

  /** Text of the label element that belongs to a field. */
  #labelText(node: number): string | undefined {
    if (!FIELD.test(this.tag(node))) return undefined;
    this.#labels ??= this.#index((label) => (this.tag(label) === "label" ? this.attribute(label, "for") : undefined));
    const id = this.attribute(node, "id");
    const label = id === undefined ? undefined : this.#labels.get(id);
    return this.content(label ?? this.#enclosingLabel(node) ?? -1);
  }

  #enclosingLabel(node: number): number | undefined {
    const parents = this.#nodes.parentIndex ?? [];
    for (let at = parents[node] ?? -1; at >= 0; at = parents[at] ?? -1) if (this.tag(at) === "label") return at;
    return undefined;
  }

  #index(keyOf: (node: number) => string | undefined): ReadonlyMap<string, number> {
    const found = new Map<string, number>();
    for (const node of this.#children.keys()) {
      const key = this.kind(node) === "element" ? keyOf(node) : undefined;
      if (key !== undefined && !found.has(key)) found.set(key, node);
    }
    return found;
  }

  /** Role by the attribute `role`, or else by the element; undefined for an element without a meaning of its own. */
  role(node: number): string | undefined {
    return roleOf(this.tag(node), (name) => this.attribute(node, name));
  }
}
