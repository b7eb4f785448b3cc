/** A file without schemas: the panel's bundle imports it, and stays free of zod. */

/** Matches a last line of output that asks for a secret: the input after it is not shown. */
export const ASKS_FOR_SECRET = /pass(?:word|phrase|code)|secret|token|\bpin\b/i;
