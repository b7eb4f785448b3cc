import type { OfflineForm } from "../form.ts";
import { commandOf, formOf } from "../words.ts";

const words = formOf(String.raw`(?:run|execute)\s+(?:the\s+)?(?:command\s+)?(\S[\s\S]*)$`);

/** `run npm test`: a shell command as it stands; in quotes when it has a `then` of its own. */
export const run: OfflineForm = {
  usage: ["run npm test", 'run "if true; then cat a.txt; fi"'],
  verbs: ["run", "execute"],
  parse(request) {
    const written = words.exec(request)?.[1];
    if (written === undefined) return undefined;
    const command = commandOf(written);
    return { title: `Run ${command}`, tool: "terminal", input: { command } };
  },
};
