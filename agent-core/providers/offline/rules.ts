/** The grammar of the offline interpreter, one rule a form of request. First match decides. */
import { type OfflineRule, unquoted } from "./step.ts";

const QUOTED = String.raw`"[^"]*"|'[^']*'|\`[^\`]*\`|“[^”]*”`;
const TERM = String.raw`(?:${QUOTED}|[\s\S]+?)`;

const replaceForm = new RegExp(
  String.raw`^(?:replace|change)\s+(every\s+|all\s+)?(${TERM})\s+(?:with|to|by)\s+(${TERM})\s+in\s+(?:the\s+)?(?:file\s+)?(${QUOTED}|\S+)$`,
  "i",
);
const createForm = new RegExp(
  String.raw`^(?:create|write|make)\s+(?:a\s+)?(?:new\s+)?(?:file\s+)?(${QUOTED}|\S+)\s+(?:with|containing|saying)\s+(?:the\s+)?(?:text\s+|content\s+)?([\s\S]+)$`,
  "i",
);
const runForm = /^(?:run|execute)\s+(?:the\s+)?(?:command\s+)?([\s\S]+)$/i;
const readForm = /^(?:read|show|open|cat|print)\s+(?:me\s+)?(?:the\s+)?(?:file\s+)?(\S+|"[^"]+")$/i;
const listForm =
  /^(?:list|ls)(?:\s+(?:the\s+)?(?:files|folder|directory))*(?:\s+(?:in|of))?(?:\s+(?:the\s+)?(?:folder\s+)?(\S+))?$/i;
const searchForm = new RegExp(
  String.raw`^(?:search|grep|find|look)\s+(?:for\s+)?(${TERM})(?:\s+in\s+(?:the\s+)?(?:folder\s+|file\s+)?(${QUOTED}|\S+))?$`,
  "i",
);
const askForm = /^ask\s+me\s+([\s\S]+?)(?:\s*[:?]?\s+(?:choices|options)\s*:?\s+([\s\S]+))?$/i;
const planForm = /^(?:plan|make a plan)\s*:?\s+([\s\S]+)$/i;
const rememberForm = /^remember\s+(?:that\s+)?([\s\S]+)$/i;

export const rules: readonly OfflineRule[] = [
  {
    usage: "replace two with TWO in a.txt (or: replace every … with … in FILE)",
    parse(words) {
      const [, all, oldText = "", newText = "", path = ""] = replaceForm.exec(words) ?? [];
      if (path === "") return undefined;
      const input = {
        mode: "replace",
        path: unquoted(path),
        old_string: unquoted(oldText),
        new_string: unquoted(newText),
        ...(all !== undefined && { replace_all: true }),
      };
      return { title: `Replace ${oldText} with ${newText} in ${unquoted(path)}`, tool: "patch", input };
    },
  },
  {
    usage: "create notes.txt with Hello",
    parse(words) {
      const [, path, content] = createForm.exec(words) ?? [];
      if (path === undefined || content === undefined) return undefined;
      const text = unquoted(content).replaceAll("\\n", "\n");
      const input = { path: unquoted(path), content: text.endsWith("\n") ? text : `${text}\n` };
      return { title: `Create ${unquoted(path)}`, tool: "write_file", input };
    },
  },
  {
    usage: "run npm test",
    parse(words) {
      const [, command] = runForm.exec(words) ?? [];
      if (command === undefined) return undefined;
      return { title: `Run ${unquoted(command)}`, tool: "terminal", input: { command: unquoted(command) } };
    },
  },
  {
    usage: "ask me which colour? choices red, green or blue",
    parse(words) {
      const [, question, choices] = askForm.exec(words) ?? [];
      if (question === undefined) return undefined;
      const list = choices?.split(/\s*,\s*(?:or\s+)?|\s+or\s+/i).map(unquoted) ?? [];
      const input = { question: unquoted(question), choices: list.filter((choice) => choice !== "").slice(0, 4) };
      return { title: `Ask: ${unquoted(question)}`, tool: "clarify", input };
    },
  },
  {
    usage: "plan look around; change the code; run the tests",
    parse(words) {
      const [, items] = planForm.exec(words) ?? [];
      if (items === undefined) return undefined;
      const todos = items
        .split(/\s*;\s*/)
        .filter((content) => content !== "")
        .map((content, index) => ({ id: String(index + 1), content, status: "pending" }));
      return { title: "Make a plan", tool: "todo", input: { todos } };
    },
  },
  {
    usage: "remember that I like tabs",
    parse(words) {
      const [, fact] = rememberForm.exec(words) ?? [];
      if (fact === undefined) return undefined;
      const input = { action: "add", target: "user", content: unquoted(fact) };
      return { title: `Remember: ${unquoted(fact)}`, tool: "memory", input };
    },
  },
  {
    usage: "list, or list src",
    parse(words) {
      const form = listForm.exec(words);
      if (form === null) return undefined;
      const path = form[1] === undefined ? "." : unquoted(form[1]);
      return { title: `List ${path}`, tool: "search_files", input: { target: "files", pattern: "*", path } };
    },
  },
  {
    usage: "read a.txt",
    parse(words) {
      const [, path] = readForm.exec(words) ?? [];
      if (path === undefined) return undefined;
      return { title: `Read ${unquoted(path)}`, tool: "read_file", input: { path: unquoted(path) } };
    },
  },
  {
    usage: 'search "total" in src',
    parse(words) {
      const [, pattern, path] = searchForm.exec(words) ?? [];
      if (pattern === undefined) return undefined;
      const input = { pattern: escapePattern(unquoted(pattern)), ...(path !== undefined && { path: unquoted(path) }) };
      return { title: `Search ${unquoted(pattern)}`, tool: "search_files", input };
    },
  },
];

/** Plain words are looked for, not a regular expression. */
function escapePattern(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
}
