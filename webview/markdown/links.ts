/** Which targets may become links. Everything else stays the text it is. */

const MAX_HREF_CHARS = 2000;
const webSchemes = new Set(["http", "https", "mailto"]);

export type LinkKind = "web" | "file";

/**
 * What a click on `href` would open: a web or mail address, a file of the workspace, or nothing (undefined).
 * Files are relative or absolute paths, with `:line` or `#L10` if need be, and `file:` URIs without a host;
 * network paths (`//host`, `\\host`) are refused, since opening one tells that host who asks.
 */
export function linkKind(href: string): LinkKind | undefined {
  const decoded = decodeHonest(href);
  if (decoded === undefined || /^(?:[\\/]{2}|#|\?)/.test(decoded)) return undefined;
  const scheme = /^([a-z][a-z0-9+.-]*):/i.exec(decoded)?.[1]?.toLowerCase();
  if (scheme === undefined) return "file";
  if (webSchemes.has(scheme)) return isWebAddress(href, scheme) ? "web" : undefined;
  if (scheme === "file") return /^file:\/\/\/[^\\/]/i.test(decoded) ? "file" : undefined;
  const isDrive = /^[a-z]:[\\/][^\\/]/i.test(decoded);
  const isLineNumber = /^[^:]+(:\d+){1,2}$/.test(decoded) && scheme.includes(".");
  return isDrive || isLineNumber ? "file" : undefined;
}

/** The address as it would be followed; undefined when it is none, or hides what it is. */
function decodeHonest(href: string): string | undefined {
  if (href === "" || href.length > MAX_HREF_CHARS || hasControls(href)) return undefined;
  const decoded = decode(href);
  return decoded === undefined || hasControls(decoded) ? undefined : decoded;
}

function isWebAddress(href: string, scheme: string): boolean {
  if (scheme === "mailto") return href.length > "mailto:".length;
  return URL.canParse(href) && new URL(href).hostname !== "";
}

function decode(href: string): string | undefined {
  try {
    return decodeURIComponent(href);
  } catch {
    // A stray % sign: not an address that anything could open.
    return undefined;
  }
}

// Controls and the marks that turn the direction of text round hide what a target really is.
function hasControls(text: string): boolean {
  return /[\p{Cc}\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/u.test(text);
}
