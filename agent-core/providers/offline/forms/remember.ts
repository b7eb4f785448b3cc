import type { OfflineForm } from "../form.ts";
import { formOf, textOf } from "../words.ts";

const words = formOf(String.raw`remember\s+(?:that\s+)?(\S[\s\S]*)$`);

/** `remember that I like tabs`: a note about the user. */
export const remember: OfflineForm = {
  usage: ["remember that I like tabs"],
  verbs: ["remember"],
  parse(request) {
    const fact = words.exec(request)?.[1];
    if (fact === undefined) return undefined;
    const content = textOf(fact);
    return { title: `Remember: ${content}`, tool: "memory", input: { action: "add", target: "user", content } };
  },
};
