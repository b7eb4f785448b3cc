/** Limits that both search engines keep. */

/** Hits of one search at most, context lines included. */
export const MAX_HITS = 10_000;
/** Larger files are not searched for content. Bytes. */
export const MAX_SEARCHED_BYTES = 10_000_000;
/** Lines beyond this are cut in hits, and not searched by the built-in engine. Characters. */
export const MAX_LINE_CHARS = 10_000;
