/** Text of an attachment as the model gets it, between marks that tell it from the user's own words. */
import type { AttachedPart, TextPart } from "./message.ts";

/** End of an embedded text. The text itself must not contain it. */
const END = "</attachment>";
const SENT_END = "<\\/attachment>";

/** `name`: for the model. `lines`: range in a file, such as `3-9`. */
export function attachedText(
  text: string,
  {
    name,
    lines,
    ...attached
  }: { readonly name: string; readonly lines?: string | undefined } & Omit<AttachedPart, "name">,
): TextPart {
  const range = lines === undefined ? "" : ` lines="${lines}"`;
  const marked = `<attachment name=${JSON.stringify(name)}${range}>\n${text.replaceAll(END, SENT_END)}\n${END}`;
  return { type: "text", text: marked, attached };
}

export function textOfAttached(part: TextPart): string {
  return part.text.slice(part.text.indexOf("\n") + 1, part.text.lastIndexOf("\n")).replaceAll(SENT_END, END);
}
