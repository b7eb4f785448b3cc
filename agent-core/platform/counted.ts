/** `1 file`, `2 files`. `noun`: singular, with a regular plural. */
export function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? "" : "s"}`;
}
