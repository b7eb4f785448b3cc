/** Patterns of names with `*`, as settings and permission rules have them. */

/**
 * True when the whole name matches the pattern, in which `*` stands for any characters. It takes the first place of each part,
 * so the time is linear: a regular expression would try all places.
 */
export function matchesWildcards(pattern: string, name: string): boolean {
  const [first = "", ...rest] = pattern.split("*");
  const last = rest.pop();
  if (last === undefined) return name === pattern;
  if (!name.startsWith(first)) return false;
  let at = first.length;
  for (const part of rest) {
    const found = name.indexOf(part, at);
    if (found < 0) return false;
    at = found + part.length;
  }
  return name.length - last.length >= at && name.endsWith(last);
}
