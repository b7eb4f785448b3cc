/** Roles of elements as assistive programs see them, as far as a snapshot distinguishes them. */

/** A model can click these or type into them. */
const INTERACTIVE = new Set(
  [
    "button checkbox combobox link listbox menuitem menuitemcheckbox menuitemradio option radio searchbox slider spinbutton",
    "switch tab textbox treeitem file",
  ].flatMap((line) => line.split(" ")),
);

/** Their content is their name. */
const NAMED_BY_CONTENT = new Set(
  [
    "button link heading tab menuitem menuitemcheckbox menuitemradio option checkbox radio switch treeitem tooltip",
  ].flatMap((line) => line.split(" ")),
);

/** They are a level of the tree. */
const CONTAINERS = new Set(
  [
    "alert alertdialog article banner blockquote cell code columnheader complementary contentinfo dialog figure form grid gridcell group",
    "list listbox listitem log main menu menubar navigation radiogroup region row rowheader search status table tablist tabpanel toolbar",
    "tree treegrid",
  ].flatMap((line) => line.split(" ")),
);

const KNOWN = new Set([...INTERACTIVE, ...NAMED_BY_CONTENT, ...CONTAINERS, "img"]);

const BY_TAG: Readonly<Record<string, string>> = {
  article: "article",
  aside: "complementary",
  blockquote: "blockquote",
  button: "button",
  dialog: "dialog",
  fieldset: "group",
  figure: "figure",
  footer: "contentinfo",
  form: "form",
  h1: "heading",
  h2: "heading",
  h3: "heading",
  h4: "heading",
  h5: "heading",
  h6: "heading",
  header: "banner",
  iframe: "iframe",
  frame: "iframe",
  li: "listitem",
  main: "main",
  meter: "meter",
  nav: "navigation",
  ol: "list",
  optgroup: "group",
  option: "option",
  pre: "code",
  progress: "progressbar",
  search: "search",
  select: "combobox",
  summary: "button",
  table: "table",
  td: "cell",
  textarea: "textbox",
  th: "columnheader",
  tr: "row",
  ul: "list",
};

const BY_INPUT_TYPE: Readonly<Record<string, string>> = {
  button: "button",
  checkbox: "checkbox",
  file: "file",
  image: "button",
  number: "spinbutton",
  radio: "radio",
  range: "slider",
  reset: "button",
  search: "searchbox",
  submit: "button",
};

/** Inline elements, which do not end a line of text. */
const INLINE =
  /^(a|abbr|b|bdi|bdo|cite|code|data|del|dfn|em|font|i|ins|kbd|label|mark|q|s|samp|small|span|strong|sub|sup|time|u|var|wbr)$/;

type Attribute = (name: string) => string | undefined;

/** Undefined for an element without a meaning of its own. */
export function roleOf(tag: string, attribute: Attribute): string | undefined {
  const role = attribute("role")?.trim().split(/\s+/)[0]?.toLowerCase() ?? "";
  if (role === "presentation" || role === "none" || role === "generic") return undefined;
  return KNOWN.has(role) ? role : nativeRole(tag, attribute);
}

function nativeRole(tag: string, attribute: Attribute): string | undefined {
  switch (tag) {
    case "a":
      return attribute("href") === undefined ? undefined : "link";
    case "img":
      return attribute("alt") === "" ? undefined : "img";
    case "input":
      return BY_INPUT_TYPE[attribute("type")?.toLowerCase() ?? ""] ?? "textbox";
    case "section":
      return (attribute("aria-label") ?? attribute("aria-labelledby")) ? "region" : undefined;
    default:
      if (isEditable(attribute)) return "textbox";
      return Object.hasOwn(BY_TAG, tag) ? BY_TAG[tag] : undefined;
  }
}

/** True for the root of an area that the user can edit. */
function isEditable(attribute: Attribute): boolean {
  const value = attribute("contenteditable");
  return value !== undefined && value !== "false";
}

export function isInteractive(role: string): boolean {
  return INTERACTIVE.has(role);
}

export function isNamedByContent(role: string): boolean {
  return NAMED_BY_CONTENT.has(role);
}

export function isContainer(role: string): boolean {
  return CONTAINERS.has(role);
}

export function isInline(tag: string): boolean {
  return INLINE.test(tag);
}
