/** Reads a patch in V4A, forgiving what models really write: fences, missing frames, headers of unified diffs. */
import { HunkReader } from "./hunk-reader.ts";
import type { FileSection, ParsedPatch } from "./patch-text.ts";

const HEADER = /^\*\*\* *(Add|Create|Update|Modify|Delete|Remove|Move|Rename) File: *(.+?) *$/i;
const MOVE_TO = /^\*\*\* *(?:Move|Rename)(?:d)? *to: *(.+?) *$/i;
const BEGIN = /^\*\*\* *Begin Patch/i;
const END = /^\*\*\* *End Patch/i;
const ARROW = / *-> */;
const FENCE = /^\s*```/;

const FORM = [
  "A patch looks like this:",
  "*** Begin Patch",
  "*** Update File: src/a.ts",
  "@@ function total",
  " a line that stays",
  "-a line that goes",
  "+a line that comes",
  "*** Add File: src/new.ts",
  "+its text",
  "*** Delete File: src/old.ts",
  "*** End Patch",
].join("\n");

type OpenSection = { readonly kind: "add" | "update" | "delete"; readonly path: string; moveTo: string | undefined };

/** The refusal says what a patch looks like, or which line cannot be understood. */
export function parsePatch(patch: string): ParsedPatch {
  const sections: FileSection[] = [];
  let open: { readonly section: OpenSection; readonly reader: HunkReader; readonly added: string[] } | undefined;
  const close = (): void => {
    if (open !== undefined) sections.push(finished(open.section, open.reader, open.added));
    open = undefined;
  };
  for (const [index, line] of framed(patch).entries()) {
    const header = headerOf(line);
    if (header !== undefined) {
      close();
      open = { section: header, reader: new HunkReader(), added: [] };
      continue;
    }
    const moveTo = MOVE_TO.exec(line)?.[1];
    if (open === undefined) {
      if (line.trim() === "") continue;
      return refused(
        `Line ${index + 1} of the patch belongs to no file: ${JSON.stringify(line.slice(0, 80))}. ${FORM}`,
      );
    }
    if (moveTo !== undefined) open.section.moveTo = cleanPath(moveTo);
    else if (open.section.kind === "add") open.added.push(line);
    else if (open.section.kind === "update") open.reader.take(line);
  }
  close();
  return sections.length === 0 ? refused(`The patch names no file. ${FORM}`) : { ok: true, sections };
}

/** The lines between the frame, where there is one; a fence around the whole is left out. */
function framed(patch: string): readonly string[] {
  const lines = patch.replace(/\r\n/g, "\n").split("\n");
  const begin = lines.findIndex((line) => BEGIN.test(line));
  const end = lines.findIndex((line) => END.test(line));
  const inner = lines.slice(begin + 1, end < 0 ? lines.length : end);
  if (FENCE.test(inner[0] ?? "")) inner.shift();
  while (end < 0 && (inner.at(-1)?.trim() === "" || FENCE.test(inner.at(-1) ?? ""))) inner.pop();
  return inner;
}

function headerOf(line: string): OpenSection | undefined {
  const [, verb, rest] = HEADER.exec(line) ?? [];
  if (verb === undefined || rest === undefined) return undefined;
  switch (verb.toLowerCase()) {
    case "add":
    case "create":
      return { kind: "add", path: cleanPath(rest), moveTo: undefined };
    case "delete":
    case "remove":
      return { kind: "delete", path: cleanPath(rest), moveTo: undefined };
    case "move":
    case "rename": {
      const [from = rest, to] = rest.split(ARROW);
      return { kind: "update", path: cleanPath(from), moveTo: to === undefined ? undefined : cleanPath(to) };
    }
    default:
      return { kind: "update", path: cleanPath(rest), moveTo: undefined };
  }
}

function finished({ kind, path, moveTo }: OpenSection, reader: HunkReader, added: readonly string[]): FileSection {
  switch (kind) {
    case "add":
      return { kind, path, text: addedText(added) };
    case "delete":
      return { kind, path };
    case "update":
      return { kind, path, moveTo, hunks: reader.end() };
  }
}

/** Some models leave the plus signs out; then the lines are the text as they stand. */
function addedText(lines: readonly string[]): string {
  const said = lines.filter((line) => line !== "" && !/^@@/.test(line));
  const isMarked = said.some((line) => line.startsWith("+"));
  const text = isMarked ? lines.flatMap((line) => (line.startsWith("+") ? [line.slice(1)] : [])) : [...lines];
  while (!isMarked && text.at(-1) === "") text.pop();
  return text.length === 0 ? "" : `${text.join("\n")}\n`;
}

function cleanPath(path: string): string {
  return path.trim().replace(/^(["'`])(.*)\1$/, "$2");
}

function refused(text: string): ParsedPatch {
  return { ok: false, text };
}
