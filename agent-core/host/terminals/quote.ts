/** `text` as one word of a POSIX shell's command line. */
export function quote(text: string): string {
  return /^[\w./:@%+=-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}
