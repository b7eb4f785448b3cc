/** The last step before the DOM: only what is on this list gets through. */
import createDOMPurify from "dompurify";

const TAGS = [
  "p",
  "br",
  "hr",
  "strong",
  "em",
  "s",
  "del",
  "code",
  "pre",
  "blockquote",
  "ul",
  "ol",
  "li",
  "a",
  "span",
  "div",
  "h1",
  "h2",
  "h3",
  "h4",
  "h5",
  "h6",
  "table",
  "thead",
  "tbody",
  "tr",
  "th",
  "td",
];
const ATTRIBUTES = ["href", "title", "class", "dir", "start", "colspan", "rowspan"];

const purifier = createDOMPurify(window);

/** HTML that can neither load nor run anything. */
export function sanitize(html: string): DocumentFragment {
  return purifier.sanitize(html, {
    ALLOWED_TAGS: TAGS,
    ALLOWED_ATTR: ATTRIBUTES,
    ALLOW_DATA_ATTR: false,
    ALLOW_ARIA_ATTR: false,
    // Addresses were judged by the parser (links.ts); this is the second look.
    ALLOWED_URI_REGEXP: /^(?:https?:|mailto:|file:\/\/\/|[^a-z]|[a-z+.-]+(?:[^a-z+.\-:]|$)|[\w./-]+:\d)/i,
    RETURN_DOM_FRAGMENT: true,
  });
}
