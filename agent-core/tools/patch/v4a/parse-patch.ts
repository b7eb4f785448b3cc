/** Reads a patch in V4A, and in the forms that models write: fences, missing frames, unified diffs, SEARCH/REPLACE blocks. */
import { withoutMark } from "../../../host/decode-file.ts";
import { absolutePath } from "../../shown-path.ts";

export type HunkLine = { readonly kind: "context" | "removed" | "added"; readonly text: string };

export type Hunk = {
  /** Lines before the hunk, in order: each names a block that the next one is in. */
  readonly anchors: readonly string[];
  readonly lines: readonly HunkLine[];
  /** The hunk ends with the file. */
  readonly isAtEnd: boolean;
};

/** Change of one file; paths are as the model wrote them. */
export type FileSection =
  | { readonly kind: "add"; readonly path: string; readonly text: string }
  | {
      readonly kind: "update";
      readonly path: string;
      /** Its new path, when it moves. */
      readonly moveTo: string | undefined;
      readonly hunks: readonly Hunk[];
    }
  | { readonly kind: "delete"; readonly path: string };

export type ParsedPatch =
  | { readonly ok: true; readonly sections: readonly FileSection[] }
  | { readonly ok: false; readonly text: string };

const HEADER = /^\*\*\* *(Add|Create|Update|Modify|Delete|Remove|Move|Rename) File: *(.+?) *$/i;
const HEADER_LINE = new RegExp(HEADER.source, "im");
const MOVE_TO = /^\*\*\* *(?:Move|Rename)(?:d)? *to: *(.+?) *$/i;
const BEGIN = /^\*\*\* *Begin Patch/i;
const END = /^\*\*\* *End Patch/i;
const FENCE = /^\s*```/;

/** All other verbs update. */
const SECTION_KINDS: Readonly<Record<string, FileSection["kind"]>> = {
  add: "add",
  create: "add",
  delete: "delete",
  remove: "delete",
};

const FORM = [
  "A patch looks like this:",
  "*** Begin Patch",
  "*** Update File: src/a.ts",
  "@@ function total",
  " a line to keep",
  "-a line to remove",
  "+a line to add",
  "*** Add File: src/new.ts",
  "+its text",
  "*** Delete File: src/old.ts",
  "*** End Patch",
].join("\n");

/** Head of a section and the lines below it. */
type RawSection = {
  readonly kind: FileSection["kind"];
  readonly path: string;
  moveTo: string | undefined;
  readonly lines: string[];
};

/** A refusal names the line that cannot be read, and shows the form of a patch. */
export function parsePatch(patch: string): ParsedPatch {
  const raw: RawSection[] = [];
  for (const line of framed(patch)) {
    const head = headOf(line);
    if (head !== undefined) raw.push(head);
    else if (!take(raw.at(-1), line)) {
      return refused(`A line of the patch belongs to no file: ${JSON.stringify(line.slice(0, 80))}.`);
    }
  }
  const bare = raw.find(({ kind, lines }) => kind === "add" && addedText(lines).bareLine !== undefined);
  if (bare !== undefined) {
    const line = JSON.stringify(addedText(bare.lines).bareLine);
    return refused(`${bare.path}: a line of the added file has no + before it: ${line}.`);
  }
  return raw.length === 0 ? refused("The patch names no file.") : { ok: true, sections: raw.map(finished) };
}

/** False for a line without a section. */
function take(section: RawSection | undefined, line: string): boolean {
  if (section === undefined) return line.trim() === "";
  const moveTo = MOVE_TO.exec(line)?.[1];
  if (moveTo === undefined) section.lines.push(line);
  else section.moveTo = cleanPath(moveTo);
  return true;
}

/** Heads of a file in a unified diff. */
const DIFF_FILE =
  /^((?:diff [^\n]*\n)?(?:(?:index|new file|deleted file|similarity|rename) [^\n]*\n)*)--- ([^\n\t]+).*\n\+\+\+ ([^\n\t]+).*\n(?=@@)/gm;
/** Block of Aider, Cline or Roo, below the name of its file or alone. */
const BLOCK =
  /(?:^(?!```|>>|\+\+\+)(\S.*)\n)?(?:^```.*\n)?^(?:<{5,}|-{5,}) ?SEARCH>?.*\n(?:(?::\w+:.*\n)+-{3,}\n)?([\s\S]*?)^={7} *\n([\s\S]*?)^(?:>{5,}|\+{5,}) ?REPLACE.*\n?(?:^```\n?)?/gm;
const FILE_NAME = /^[^\s<>"|?*:]+\.\w{1,8}$/;
/** Line of a block or of a merge conflict: inside a block or left over, it does not show where the text ends. */
const MARKER = /^\\?(?:[<>|]{7}(?: |$)|={7} *$|[<-]{5,} ?SEARCH|[>+]{5,} ?REPLACE)/m;

/** The patch in V4A, with its own heads, by which hooks know the files. `path`: its file, where it names none. Undefined for other text. */
export function asV4a(patch: string, path: string | undefined): string | undefined {
  if (HEADER_LINE.test(patch)) return patch.split(/\r?\n/).map(ownHead).join("\n");
  const marked = (text: string, mark: string): string => text.replaceAll(/^.*(?=\n)/gm, `${mark}$&`);
  let last: string | undefined;
  const own = `${patch.replaceAll("\r\n", "\n")}\n`
    .replaceAll(DIFF_FILE, (_, heads: string, from: string, to: string) => {
      const pair = [from, to].map((name) => name.replace(/\s+\d{4}-\d\d-\d\d[ T]\d\d:.*$/, "").trim());
      const isGit = /^(?:a\/.*|\/dev\/null)\n(?:b\/|\/dev\/null$)/.test(pair.join("\n"));
      const [old = "", now = ""] = pair.map((name) =>
        isGit ? name.replace(/^[ab]\/(?=[ab]\/)/, "./").replace(/^[ab]\//, "") : name,
      );
      if (now === "/dev/null") return `*** Delete File: ${old}\n`;
      if (/^rename /m.test(heads)) return `*** Update File: ${old}\n*** Move to: ${now}\n`;
      return `*** ${old === "/dev/null" ? "Add" : "Update"} File: ${now}\n`;
    })
    .replaceAll(BLOCK, (block: string, name: string | undefined, search: string, replace: string) => {
      if (MARKER.test(search + replace)) return block;
      const written = name?.trim().replaceAll("`", "");
      // A line above a block is the name of its file, or a sentence.
      const isOther = written !== undefined && FILE_NAME.test(written) && path?.endsWith(written) === false;
      const file = isOther ? written : (path ?? written ?? last);
      const isNew = search.trim() === "";
      const head = file === last && !isNew ? "" : `*** ${isNew ? "Add" : "Update"} File: ${file ?? ""}\n`;
      last = file;
      return `${head}${isNew ? "" : `@@\n${marked(search, "-")}`}${marked(replace, "+")}`;
    });
  return HEADER_LINE.test(own) && !MARKER.test(own) ? own : undefined;
}

function ownHead(line: string): string {
  const { kind, path, moveTo = MOVE_TO.exec(line)?.[1] } = headOf(line) ?? {};
  const head = kind === undefined ? [] : [`*** ${kind.replace(/^./, (letter) => letter.toUpperCase())} File: ${path}`];
  const lines = moveTo === undefined ? head : [...head, `*** Move to: ${cleanPath(moveTo)}`];
  return lines.length === 0 ? line : lines.join("\n");
}

/** Lines inside the frames, where there are any, without text around them and a fence around the whole. */
function framed(patch: string): readonly string[] {
  const lines = withoutMark(patch).replace(/\r\n/g, "\n").split("\n");
  let isInside = !lines.some((line) => BEGIN.test(line));
  let isEnded = false;
  const inner = lines.filter((line) => {
    const isFrame = BEGIN.test(line) || END.test(line);
    if (isFrame) isInside = BEGIN.test(line);
    isEnded ||= END.test(line);
    return isInside && !isFrame;
  });
  if (FENCE.test(inner[0] ?? "")) inner.shift();
  while (!isEnded && (inner.at(-1)?.trim() === "" || FENCE.test(inner.at(-1) ?? ""))) inner.pop();
  return inner;
}

function headOf(line: string): RawSection | undefined {
  const [, verb, rest] = HEADER.exec(line) ?? [];
  if (verb === undefined || rest === undefined) return undefined;
  const kind = SECTION_KINDS[verb.toLowerCase()] ?? "update";
  const [from = rest, to] = /^(?:move|rename)$/i.test(verb) ? rest.split(/ *-> */) : [rest];
  return { kind, path: cleanPath(from), moveTo: to === undefined ? undefined : cleanPath(to), lines: [] };
}

function finished({ kind, path, moveTo, lines }: RawSection): FileSection {
  if (kind === "add") return { kind, path, text: addedText(lines).text };
  return kind === "delete" ? { kind, path } : { kind, path, moveTo, hunks: readHunks(lines) };
}

function cleanPath(path: string): string {
  return path.trim().replace(/^(["'`])(.*)\1$/, "$2");
}

function refused(why: string): ParsedPatch {
  return { ok: false, text: `${why} ${FORM}` };
}

const END_OF_FILE = /^\*\*\* *End of File/i;
const NO_FINAL_BREAK = /^\\ No newline/;

type AddedText = {
  readonly text: string;
  /** A line without a plus sign among lines that have one: it may belong to the text or not. */
  readonly bareLine: string | undefined;
};

/** Text of an added file. Some models leave all plus signs out; then the lines are the text. */
function addedText(section: readonly string[]): AddedText {
  const lines = section
    .join("\n")
    .replace(FILE_HEADS, "")
    .split("\n")
    .filter((line) => !END_OF_FILE.test(line));
  while (lines.at(-1) === "") lines.pop();
  const isMarked = lines.some((line) => line.startsWith("+"));
  if (!isMarked) return { text: withFinalBreak(lines), bareLine: undefined };
  const marked = lines.filter((line) => !line.startsWith("@@") && !NO_FINAL_BREAK.test(line));
  // Blank lines lose their plus sign most often.
  const bareLine = marked.find((line) => line !== "" && !line.startsWith("+"));
  const text = withFinalBreak(marked.map((line) => line.slice(1)));
  const isCut = lines.some((line) => NO_FINAL_BREAK.test(line));
  return { text: isCut ? text.replace(/\n$/, "") : text, bareLine };
}

function withFinalBreak(lines: readonly string[]): string {
  return lines.length === 0 ? "" : `${lines.join("\n")}\n`;
}

const UNIFIED_HEADER = /^@@ -\d+(?:,\d+)? \+\d+(?:,\d+)? @@ ?(.*)$/;
const ANCHOR = /^@@ ?(.*?)(?: ?@@)?$/;
/** Heads of unified diffs, which repeat the section's own head. */
const FILE_HEADS = /^(?:(?:diff --git |index [0-9a-f]+\.\.)[^\n]*\n)*--- [^\n]*\n\+\+\+ [^\n]*\n(?=@@)/;

const LINE_KINDS: Readonly<Record<string, HunkLine["kind"]>> = { " ": "context", "-": "removed", "+": "added" };

function readHunks(lines: readonly string[]): readonly Hunk[] {
  const reader = new HunkReader();
  for (const line of lines.join("\n").replace(FILE_HEADS, "").split("\n")) reader.take(line);
  return reader.end();
}

class HunkReader {
  readonly #hunks: Hunk[] = [];
  #anchors: string[] = [];
  #lines: { readonly line: HunkLine; readonly isBare: boolean }[] = [];
  #isAtEnd: boolean = false;

  take(line: string): void {
    if (line.startsWith("@@")) {
      if (this.#lines.length > 0) this.#close();
      const anchor = (UNIFIED_HEADER.exec(line) ?? ANCHOR.exec(line))?.[1]?.trim();
      if (anchor) this.#anchors.push(anchor);
      return;
    }
    if (END_OF_FILE.test(line)) {
      this.#isAtEnd = true;
      this.#close();
      return;
    }
    if (line.startsWith("\\ No newline")) return;
    this.#lines.push(hunkLine(line));
  }

  end(): readonly Hunk[] {
    this.#close();
    return this.#hunks;
  }

  /** Empty lines without a mark at a hunk's ends separate hunks more often than they belong to the file. */
  #close(): void {
    while (this.#lines.at(-1)?.isBare) this.#lines.pop();
    while (this.#lines[0]?.isBare) this.#lines.shift();
    if (this.#lines.length > 0) {
      const lines = this.#lines.map(({ line }) => line);
      this.#hunks.push({ anchors: this.#anchors, lines, isAtEnd: this.#isAtEnd });
      this.#anchors = [];
    }
    this.#lines = [];
    this.#isAtEnd = false;
  }
}

/** A line without a mark is context without its leading space. */
function hunkLine(line: string): { readonly line: HunkLine; readonly isBare: boolean } {
  const kind = LINE_KINDS[line[0] ?? ""];
  if (kind === undefined) return { line: { kind: "context", text: line }, isBare: line === "" };
  return { line: { kind, text: line.slice(1) }, isBare: false };
}

const DIFF_PREFIX = /^[ab]\/(?=[^/])/;

/** Files that a path may mean, absolute; the first that exists is meant. Only old text shows which. Approval judges them all. */
export function candidatePaths(section: FileSection, cwd: string): readonly string[] {
  const path = absolutePath(section.path, cwd);
  if (section.kind !== "update" || section.hunks.length === 0) return [path];
  return [...new Set([path, absolutePath(section.path.replace(DIFF_PREFIX, ""), cwd)])];
}
