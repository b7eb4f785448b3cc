/** What a fork is called. */

const NUMBER = / \((\d{1,4})\)$/;

/** `Title (2)`, or the next number that none of `taken` has; undefined for what has no title. */
export function forkTitle(title: string | undefined, taken: readonly string[]): string | undefined {
  if (title === undefined) return undefined;
  const plain = title.replace(NUMBER, "");
  const numbers = [title, ...taken]
    .filter((other) => other.replace(NUMBER, "") === plain)
    .map((other) => Number(NUMBER.exec(other)?.[1] ?? 1));
  return `${plain} (${Math.max(...numbers) + 1})`;
}
