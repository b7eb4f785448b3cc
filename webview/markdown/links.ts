/** Allow-list of link targets. Any other target stays text. */

const MAX_HREF_CHARS = 2000;
const webSchemes = new Set(["http", "https", "mailto"]);

export type LinkKind = "web" | "file";

/**
 * Kind of target that a click on `href` opens; undefined for a target that is not allowed. A file is a relative or
 * absolute path, optionally with `:line` or `#L10`, or a `file:` URI without a host. Network paths (`//host`, `\\host`)
 * are not allowed: opening one would contact that host.
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

/** The decoded address; undefined for an invalid one, or one that disguises its target. */
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
    // A stray % sign makes the address invalid.
    return undefined;
  }
}

// Control characters and direction marks disguise a target.
function hasControls(text: string): boolean {
  return /[\p{Cc}\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/u.test(text);
}
