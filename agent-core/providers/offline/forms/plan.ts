import type { OfflineForm } from "../form.ts";
import { formOf, textOf } from "../words.ts";

const words = formOf(String.raw`(?:make\s+a\s+)?plan\s*:?\s+(\S[\s\S]*)$`);

/** `plan look around; change the code; run the tests`: a list to keep, nothing is done. */
export const plan: OfflineForm = {
  usage: ["plan look around; change the code; run the tests"],
  verbs: ["plan", "make a plan"],
  parse(request) {
    const listed = words.exec(request)?.[1];
    if (listed === undefined) return undefined;
    const todos = listed
      .split(/\s*;\s*|\n+/)
      .map((item) => textOf(item.replace(/\.$/, "")))
      .filter((content) => content !== "")
      .map((content, index) => ({ id: String(index + 1), content, status: "pending" }));
    if (todos.length === 0) return undefined;
    return {
      title: "Make a plan",
      tool: "todo",
      input: { todos },
      report: () => `The plan:\n\n${todos.map(({ id, content }) => `${id}. ${content}`).join("\n")}`,
    };
  },
};
