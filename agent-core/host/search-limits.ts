/** Limits of both search engines. */

/** Hits of one search at most, context lines included. */
export const MAX_HITS = 10_000;
/** Larger files are not searched for content. Bytes. */
export const MAX_SEARCHED_BYTES = 10_000_000;
/** Lines are cut in hits after this length; the built-in engine skips longer ones. Characters. */
export const MAX_LINE_CHARS = 10_000;
