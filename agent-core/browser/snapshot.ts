/** Lines of a snapshot: what a page shows, as a tree with a ref for each element that a model can use. */
import * as z from "zod";
import { oneLine } from "../platform/one-line.ts";

const state = z.union([z.boolean(), z.literal("mixed")]).optional();

/** Node of Playwright's snapshot. Text is a string among the children, or `text`; `box`: in pixels of the view of its frame. */
export const pageNode = z.object({
  role: z.string(),
  name: z.string().optional(),
  text: z.string().optional(),
  ref: z.string().optional(),
  url: z.string().optional(),
  cursor: z.string().optional(),
  level: z.number().optional(),
  checked: state,
  pressed: state,
  disabled: z.boolean().optional(),
  expanded: z.boolean().optional(),
  selected: z.boolean().optional(),
  active: z.boolean().optional(),
  box: z.object({ x: z.number(), y: z.number(), width: z.number(), height: z.number() }).optional(),
  get children() {
    return z.array(z.union([z.string(), pageNode])).optional();
  },
});

export type PageNode = z.infer<typeof pageNode>;

export type SnapshotOptions = {
  /** Ref for the model. `driverRef`: Playwright's. */
  refOf(driverRef: string): string;
  /** Only headings, and elements with refs. */
  readonly compact: boolean;
  /** Addresses of links. */
  readonly addresses: boolean;
  /** Height of the view in pixels, for the part in view alone. */
  readonly viewHeight: number | undefined;
  /** Texts of password fields, which are hidden. */
  readonly passwords: ReadonlySet<string>;
};

const FIELDS = new Set(["textbox", "searchbox", "spinbutton", "slider"]);
/** A model can use these. */
const INTERACTIVE = new Set([
  ...FIELDS,
  ...["button", "checkbox", "combobox", "link", "listbox", "menuitem", "menuitemcheckbox", "menuitemradio", "option"],
  ...["radio", "switch", "tab", "treeitem"],
]);
/** Their content is their name. */
const NAMED_BY_CONTENT = new Set([...INTERACTIVE, "heading", "tooltip"].filter((role) => !FIELDS.has(role)));
/** They say nothing that their content does not. */
const TRANSPARENT = new Set(["generic", "paragraph", "rowgroup", "presentation", "none", "strong", "emphasis", "text"]);

const MAX_OPTIONS = 30;
const NAME_CHARS = 200;
const OPTION_CHARS = 60;
const ADDRESS_CHARS = 150;

/** Lines with two blanks for each level. */
export function snapshotLines(nodes: readonly (PageNode | string)[], options: SnapshotOptions): readonly string[] {
  return new Writer(options).lines(nodes, { depth: 0, top: 0, isInControl: false });
}

/** `top`: of the frame in the view, in pixels. `isInControl`: inside an element with a ref. */
type Place = { readonly depth: number; readonly top: number; readonly isInControl: boolean };

class Writer {
  readonly #options: SnapshotOptions;

  constructor(options: SnapshotOptions) {
    this.#options = options;
  }

  lines(nodes: readonly (PageNode | string)[], place: Place): readonly string[] {
    const names = new Set(nodes.map((node) => (typeof node === "string" ? "" : node.name)));
    return nodes.flatMap((node) => {
      if (typeof node !== "string") return this.#isInView(node, place.top) ? this.#node(node, place) : [];
      // The label of a field beside it is the field's name.
      const isRepeated = node.trim() === "" || names.has(node.trim());
      return isRepeated || this.#options.compact ? [] : [this.#line(oneLine(node, NAME_CHARS * 2), place)];
    });
  }

  #node(node: PageNode, place: Place): readonly string[] {
    if (node.role === "row") return this.#row(node, place);
    const isClickable = node.cursor === "pointer" && TRANSPARENT.has(node.role) && !place.isInControl;
    if (TRANSPARENT.has(node.role) && !isClickable) return this.lines(contentOf(node), place);
    const hasRef = isClickable || INTERACTIVE.has(node.role);
    const isShown = hasRef || !this.#options.compact || /^(heading|iframe)$/.test(node.role);
    const isInControl = place.isInControl || isClickable || NAMED_BY_CONTENT.has(node.role);
    const content = this.#content(node, {
      depth: place.depth + (isShown ? 1 : 0),
      top: node.role === "iframe" ? place.top + (node.box?.y ?? 0) : place.top,
      isInControl,
    });
    const words = [
      isClickable ? "clickable" : node.role,
      nameOf(node, isInControl),
      hasRef && node.ref && this.#options.refOf(node.ref),
      ...statesOf(node),
      this.#valueOf(node),
      this.#addressOf(node),
    ];
    return isShown ? [this.#line(words.filter(Boolean).join(" "), place), ...content] : content;
  }

  #content(node: PageNode, place: Place): readonly string[] {
    if (FIELDS.has(node.role) || optionsOf(node).length > 0) return [];
    const content = contentOf(node);
    // The name of a control has its text: what remains are the controls in it.
    return place.isInControl ? this.lines(content.flatMap(controlsIn), place) : this.lines(content, place);
  }

  /** Cells of text are one line. */
  #row(node: PageNode, place: Place): readonly string[] {
    const cells = contentOf(node).filter((cell) => typeof cell !== "string");
    if (cells.some((cell) => controlsIn(cell).length > 0)) {
      return [this.#line("row", place), ...this.lines(cells, { ...place, depth: place.depth + 1 })];
    }
    if (this.#options.compact) return [];
    return [
      this.#line(`row: ${cells.map((cell) => oneLine(cell.name || textOf(cell), NAME_CHARS)).join(" | ")}`, place),
    ];
  }

  #valueOf(node: PageNode): string {
    const options = optionsOf(node);
    if (options.length > 0) {
      const names = options.slice(0, MAX_OPTIONS).map(({ name = "" }) => oneLine(name, OPTION_CHARS));
      const more = options.length > MAX_OPTIONS ? `, … ${options.length - MAX_OPTIONS} more` : "";
      const chosen = options.filter(({ selected }) => selected).map(({ name = "" }) => JSON.stringify(name));
      return `value=${chosen.join(",") || '""'} options=[${names.join(", ")}${more}]`;
    }
    const value = FIELDS.has(node.role) ? textOf(node) : "";
    if (value === "") return "";
    return this.#options.passwords.has(value)
      ? "value=(hidden)"
      : `value=${JSON.stringify(oneLine(value, NAME_CHARS))}`;
  }

  #addressOf({ url = "" }: PageNode): string {
    const isAddress = this.#options.addresses && !/^(javascript:|#?$)/i.test(url);
    return isAddress ? `→ ${oneLine(url, ADDRESS_CHARS)}` : "";
  }

  /** True for a part of the view, and for a node without a box of its own. */
  #isInView({ box }: PageNode, top: number): boolean {
    const { viewHeight } = this.#options;
    if (viewHeight === undefined || box === undefined || box.height === 0) return true;
    return top + box.y < viewHeight && top + box.y + box.height > 0;
  }

  #line(text: string, { depth }: Place): string {
    return `${"  ".repeat(depth)}- ${text}`;
  }
}

function contentOf({ text, children = [] }: PageNode): readonly (PageNode | string)[] {
  return text === undefined ? children : [text, ...children];
}

function textOf(node: PageNode): string {
  const parts = contentOf(node).map((part) => (typeof part === "string" ? part : part.name || textOf(part)));
  return parts.join(" ").replaceAll(/\s+/g, " ").trim();
}

function nameOf(node: PageNode, isInControl: boolean): string {
  const name = node.name || (isInControl ? textOf(node) : "");
  return name === "" ? "" : JSON.stringify(oneLine(name, NAME_CHARS));
}

function controlsIn(node: PageNode | string): readonly PageNode[] {
  if (typeof node === "string") return [];
  return INTERACTIVE.has(node.role) && node.role !== "option" ? [node] : contentOf(node).flatMap(controlsIn);
}

function optionsOf({ role, children = [] }: PageNode): readonly PageNode[] {
  if (role !== "combobox" && role !== "listbox") return [];
  return children.flatMap((child) => {
    if (typeof child === "string") return [];
    return child.role === "option" ? [child] : optionsOf({ ...child, role });
  });
}

function statesOf({
  role,
  level,
  checked,
  pressed,
  disabled,
  expanded,
  selected,
  active,
}: PageNode): readonly string[] {
  return [
    level === undefined ? "" : `level=${level}`,
    checked === true ? "checked" : "",
    checked === "mixed" ? "mixed" : "",
    pressed ? "pressed" : "",
    disabled ? "disabled" : "",
    expanded === true ? "expanded" : "",
    expanded === false ? "collapsed" : "",
    selected ? "selected" : "",
    active && role !== "generic" ? "focused" : "",
  ];
}
