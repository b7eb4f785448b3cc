/** A command's output as the model reads it: plain, and when it is long its beginning, its end and where the rest is. */
import type { CommandOutput } from "../../host/terminals/terminals.ts";
import { plainText } from "./plain-text.ts";

/** Empty when there was none. */
export function shownOutput({ head, tail, omittedBytes, file }: CommandOutput): string {
  if (tail === "") return plainText(head).trimEnd();
  // Both ends were cut anywhere, perhaps within an escape sequence: they are shown by whole lines where there are any.
  const first = head.slice(0, head.lastIndexOf("\n") + 1) || head;
  const last = tail.slice(tail.indexOf("\n") + 1) || tail;
  const omitted = omittedBytes + bytesBetween(head, first) + bytesBetween(tail, last);
  const where = file === undefined ? "" : `; the whole output is in ${file}`;
  return `${plainText(first).trimEnd()}\n\n[… ${omitted} bytes omitted${where} …]\n\n${plainText(last).trimEnd()}`;
}

function bytesBetween(whole: string, part: string): number {
  return Buffer.byteLength(whole) - Buffer.byteLength(part);
}
