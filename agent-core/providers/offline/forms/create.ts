import type { OfflineForm } from "../form.ts";
import { formOf, PATH, pathOf, textOf } from "../words.ts";

const FILE = String.raw`(?:a\s+|the\s+)?(?:new\s+)?`;
const WITH = String.raw`\s+(?:with|containing|saying)\s+(?:the\s+)?(?:text\s+|content\s+)?(\S[\s\S]*)$`;
const createWords = formOf(
  String.raw`(?:create|(?:write|make)(?=\s+${FILE}file\s))\s+${FILE}(?:file\s+)?(${PATH})${WITH}`,
);
/** "write tests with vitest" is no file: these verbs want a path that looks like one. */
const writeWords = formOf(String.raw`(?:write|make)\s+${FILE}(?=["'\x60“]|\S*[./]\S)(${PATH})${WITH}`);

/** `create notes.txt with Hello`; the file ends with a newline. */
export const create: OfflineForm = {
  usage: ["create notes.txt with Hello", 'create notes.txt with "first line\\nsecond line"'],
  verbs: ["create", "write", "make"],
  parse(request) {
    const [, path, content] = createWords.exec(request) ?? writeWords.exec(request) ?? [];
    if (path === undefined || content === undefined) return undefined;
    const text = textOf(content);
    return {
      title: `Create ${pathOf(path)}`,
      tool: "write_file",
      input: { path: pathOf(path), content: text.endsWith("\n") ? text : `${text}\n` },
    };
  },
};
