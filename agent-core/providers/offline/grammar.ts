/** The grammar of the offline interpreter: all forms of request. */
import { counted } from "../../platform/counted.ts";
import { END, formPattern, PATH, TEXT, unquoteCommand, unquotePath, unquoteText } from "./quoting.ts";

/** A tool call and its description. */
export type OfflineStep = {
  /** Title in the plan, such as `Read a.txt`. */
  readonly title: string;
  readonly tool: string;
  readonly input: Readonly<Record<string, unknown>>;
  /** Text for the user about the result. Default: the result as a quote. */
  report?(result: string): string;
  /** Next step after this result; it replaces this step's report. Only for a request of one step. */
  next?(result: string): OfflineStep | undefined;
};

export type OfflineForm = {
  /** Examples for the help, the usual wording first. */
  readonly usage: readonly string[];
  /** First words of such a request, in lower case. */
  readonly verbs: readonly string[];
  /** Returns the requested step; undefined when `words` have another form. */
  parse(words: string): OfflineStep | undefined;
};

/** Makes the step from the groups of the pattern. */
type StepOf = (...groups: readonly (string | undefined)[]) => OfflineStep | undefined;

/** A form with these patterns; the first one that fits decides. Groups that a pattern needs are never undefined. */
function form(
  usage: OfflineForm["usage"],
  verbs: OfflineForm["verbs"],
  patterns: RegExp[],
  stepOf: StepOf,
): OfflineForm {
  return {
    usage,
    verbs,
    parse(request) {
      const found = patterns.map((pattern) => pattern.exec(request)).find((groups) => groups !== null);
      return found && stepOf(...found.slice(1));
    },
  };
}

const IN_WORDS = String.raw`\s+(?:in|of|under)`;
const LISTED_FOLDER = String.raw`(?:\s+the)?(?:\s+(?:folder|directory))?`;
const listWords = formPattern(
  String.raw`(?:list|ls)(?:\s+all)?(?:\s+the)?(?:\s+files)?(?:${IN_WORDS})?${LISTED_FOLDER}(?:\s+(${PATH}))?${END}`,
);
const showWords = formPattern(
  String.raw`show(?:\s+me)?(?:\s+all)?(?:\s+the)?\s+files(?:${IN_WORDS}${LISTED_FOLDER}\s+(${PATH}))?${END}`,
);

/** `list`, `list src`, `show the files in src`. */
const list = form(["list", "list src"], ["list", "ls", "show"], [listWords, showWords], (folder = ".") => {
  const path = unquotePath(folder);
  const title = path === "." ? "List the files" : `List the files in ${path}`;
  return { title, tool: "search_files", input: { target: "files", pattern: "*", path } };
});

const readWords = formPattern(
  String.raw`(?:read|show|open|cat|print|view)\s+(?:me\s+)?(?:the\s+)?(?:contents?\s+of\s+)?(?:the\s+)?(?:file\s+)?(${PATH})(?:\s+from\s+line\s+(\d+))?${END}`,
);

/** `read a.txt`, `show a.txt from line 20`. */
const read = form(
  ["read a.txt", "show a.txt from line 20"],
  ["read", "show", "open", "cat", "print", "view"],
  [readWords],
  (path = "", line) => ({
    title: `Read ${unquotePath(path)}`,
    tool: "read_file",
    input: { path: unquotePath(path), ...(line !== undefined && { offset: Number(line) }) },
  }),
);

const IN_FOLDER = String.raw`(?:\s+in\s+(?:the\s+)?(?:folder\s+|file\s+)?(${PATH}))?`;
const searchTextWords = formPattern(
  String.raw`(?:search(?:\s+for)?|grep|find|look\s+for)\s+(${TEXT})${IN_FOLDER}${END}`,
);
const searchNameWords = formPattern(
  String.raw`(?:search(?:\s+for)?|find|look\s+for)\s+(?:all\s+)?files\s+(?:named|called)\s+(${TEXT})${IN_FOLDER}${END}`,
);

/** `search "total" in src` for plain text, or `find files named *.md`. */
const search: OfflineForm = {
  usage: ['search "total" in src', "find files named *.md"],
  verbs: ["search", "grep", "find", "look"],
  parse(request) {
    const names = searchNameWords.exec(request);
    if (names?.[1] !== undefined) return searchStep("files", unquoteText(names[1]), names[2]);
    const texts = searchTextWords.exec(request);
    return texts?.[1] === undefined ? undefined : searchStep("content", unquoteText(texts[1]), texts[2]);
  },
};

function searchStep(target: "files" | "content", wanted: string, folder: string | undefined) {
  const path = folder === undefined ? undefined : unquotePath(folder);
  return {
    title: `${target === "files" ? "Find" : "Search"} ${wanted}${path === undefined ? "" : ` in ${path}`}`,
    tool: "search_files",
    input: {
      target,
      pattern: target === "files" ? wanted : wanted.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"),
      ...(path !== undefined && { path }),
    },
  };
}

const replaceWords = formPattern(
  String.raw`(?:replace|change)\s+((?:every|all)\s+)?(${TEXT})\s+(?:with|to|by)\s+(${TEXT})\s+in\s+(?:the\s+)?(?:file\s+)?(${PATH})${END}`,
);

/** `replace two with TWO in a.txt`, once or everywhere. */
const replace = form(
  ["replace two with TWO in a.txt", "replace every foo with bar in a.txt"],
  ["replace", "change"],
  [replaceWords],
  (every, oldText = "", newText = "", path = "") => ({
    title: `Replace ${every === undefined ? "" : "every "}${oldText} with ${newText} in ${unquotePath(path)}`,
    tool: "patch",
    input: {
      mode: "replace",
      path: unquotePath(path),
      old_string: unquoteText(oldText),
      new_string: unquoteText(newText),
      ...(every !== undefined && { replace_all: true }),
    },
  }),
);

const planWords = formPattern(String.raw`(?:make\s+a\s+)?plan\s*:?\s+(\S[\s\S]*)$`);

/** `plan look around; change the code; run the tests`. The list is only kept, not carried out. */
const plan = form(
  ["plan look around; change the code; run the tests"],
  ["plan", "make a plan"],
  [planWords],
  (listed = "") => {
    const todos = listed
      .split(/\s*;\s*|\n+/)
      .map((item) => unquoteText(item.replace(/\.$/, "")))
      .filter((content) => content !== "")
      .map((content, index) => ({ id: String(index + 1), content, status: "pending" }));
    if (todos.length === 0) return undefined;
    const report = (): string => `The plan:\n\n${todos.map(({ id, content }) => `${id}. ${content}`).join("\n")}`;
    return { title: "Make a plan", tool: "todo", input: { todos }, report };
  },
);

const FILE = String.raw`(?:a\s+|the\s+)?(?:new\s+)?`;
const WITH = String.raw`\s+(?:with|containing|saying)\s+(?:the\s+)?(?:text\s+|content\s+)?(\S[\s\S]*)$`;
const createWords = formPattern(
  String.raw`(?:create|(?:write|make)(?=\s+${FILE}file\s))\s+${FILE}(?:file\s+)?(${PATH})${WITH}`,
);
/** These verbs require a word that looks like a path: "write tests with vitest" names no file. */
const writeWords = formPattern(String.raw`(?:write|make)\s+${FILE}(?=["'\x60“]|\S*[./]\S)(${PATH})${WITH}`);

/** `create notes.txt with Hello`. The file ends with a newline. */
const create = form(
  ["create notes.txt with Hello", 'create notes.txt with "first line\\nsecond line"'],
  ["create", "write", "make"],
  [createWords, writeWords],
  (path = "", written = "") => {
    const text = unquoteText(written);
    const content = text.endsWith("\n") ? text : `${text}\n`;
    return { title: `Create ${unquotePath(path)}`, tool: "write_file", input: { path: unquotePath(path), content } };
  },
);

const runWords = formPattern(String.raw`(?:run|execute)\s+(?:the\s+)?(?:command\s+)?(\S[\s\S]*)$`);

/** `run npm test`. A command that contains `then` needs quotes. */
const run = form(
  ["run npm test", 'run "if true; then cat a.txt; fi"'],
  ["run", "execute"],
  [runWords],
  (written = "") => {
    const command = unquoteCommand(written);
    return { title: `Run ${command}`, tool: "terminal", input: { command } };
  },
);

/** Limit of the clarify tool. */
const MAX_CHOICES = 4;

const askWords = formPattern(
  String.raw`ask\s+me\s*:?\s+(\S[\s\S]*?)(?:\s*[,:]?\s+(?:with\s+)?(?:the\s+)?(?:choices|options)\s*:?\s+(\S[\s\S]*?))?\s*$`,
);

/** `ask me which colour? choices red, green or blue`. */
const ask = form(
  ["ask me which colour? choices red, green or blue"],
  ["ask"],
  [askWords],
  (asked = "", listed = "") => {
    const question = unquoteText(asked);
    const choices = listed
      .split(/\s*,\s*(?:or\s+)?|\s+or\s+/i)
      .map((choice) => unquoteText(choice.replace(/[.?!]$/, "")))
      .filter((choice) => choice !== "");
    const input = { question, choices: choices.slice(0, MAX_CHOICES) };
    return { title: `Ask: ${question}`, tool: "clarify", input, report: (result) => `${question} ${result}` };
  },
);

const rememberWords = formPattern(String.raw`remember\s+(?:that\s+)?(\S[\s\S]*)$`);

/** `remember that I like tabs`: a note about the user. */
const remember = form(["remember that I like tabs"], ["remember"], [rememberWords], (fact = "") => {
  const content = unquoteText(fact);
  return { title: `Remember: ${content}`, tool: "memory", input: { action: "add", target: "user", content } };
});

/** The most files that one search lists, and folders that an answer names. */
const MAX_FILES = 500;
const MAX_FOLDERS = 12;
/** Length of the quote from the README. Characters. */
const README_CHARS = 1_200;

const projectWords = formPattern(
  String.raw`(?:what\s+(?:does|is)|explain|describe|summari[sz]e|tell\s+me\s+about)\s+(?:this|the|my)\s+(?:project|repo(?:sitory)?|workspace|code(?:\s*base)?)(?:\s+(?:do|about|for))?[.?!\s]*$`,
);

/** `What does this project do?`: lists the files, then reads the README if there is one. */
const describeProject = form(
  ["What does this project do?"],
  ["what", "explain", "describe", "summarize", "summarise", "tell"],
  [projectWords],
  () => listProject,
);

const listProject: OfflineStep = {
  title: "List the files",
  tool: "search_files",
  input: { target: "files", pattern: "*", path: ".", limit: MAX_FILES },
  report: structureOf,
  next(listing) {
    const readme = filesIn(listing).find((path) => /^readme(?:\.(?:md|markdown|txt|rst))?$/i.test(path));
    if (readme === undefined) return undefined;
    return {
      title: `Read ${readme}`,
      tool: "read_file",
      input: { path: readme },
      report: (text) => `${beginningOf(text)}\n\n${structureOf(listing)}`,
    };
  },
};

/** Paths of a listing, without its last line about further ones. */
function filesIn(listing: string): readonly string[] {
  return listing
    .split("\n")
    .filter((line) => line !== "" && !line.startsWith("[") && !line.startsWith("Nothing found."));
}

function structureOf(listing: string): string {
  const files = filesIn(listing);
  if (files.length === 0) return "This folder has no files yet.";
  const folders = new Set(files.map((path) => /^[^/]+\//.exec(path)?.[0] ?? "."));
  const names = [...folders].slice(0, MAX_FOLDERS).map((name) => `\`${name}\``);
  const total = files.length < MAX_FILES ? counted(files.length, "file") : `${MAX_FILES} files or more`;
  return `**Structure**: ${total} in ${names.join(", ")}${folders.size > MAX_FOLDERS ? " …" : "."}`;
}

/** The first paragraphs of a README as a quote, from a result with line numbers. Badges and comments are left out. */
function beginningOf(result: string): string {
  const text = result
    .split("\n")
    .map((line) => line.replace(/^\d+\|/, ""))
    .join("\n")
    .replace(/<!--[\s\S]*?-->|<[^>]+>/g, "")
    .replace(/\[?!\[[^\]]*\]\([^)]*\)(?:\]\([^)]*\))?/g, "");
  const [prose = ""] = text.trim().split(/^```/m, 1);
  const start = prose.length > README_CHARS ? prose.slice(0, prose.lastIndexOf("\n", README_CHARS)) : prose;
  if (start.trim() === "") return "The README is empty.";
  const lines = start
    .trim()
    .replaceAll(/\n\s*\n/g, "\n\n")
    .split("\n");
  return `The README says:\n\n${lines.map((line) => `> ${line}`.trimEnd()).join("\n")}`;
}

/** The first form that fits decides: `list` precedes `read` (`show the files`), `plan` precedes `create` (`make a plan`). */
export const grammar: readonly OfflineForm[] = [
  ...[list, read, search, replace, plan, create, run, ask, remember],
  describeProject,
];
