/** Reads a patch in V4A, forgiving what models really write: fences, missing frames, headers of unified diffs. */
import { addedText } from "./added-text.ts";
import { readHunks } from "./hunk-reader.ts";
import type { FileSection, ParsedPatch } from "./patch-text.ts";

const HEADER = /^\*\*\* *(Add|Create|Update|Modify|Delete|Remove|Move|Rename) File: *(.+?) *$/i;
const MOVE_TO = /^\*\*\* *(?:Move|Rename)(?:d)? *to: *(.+?) *$/i;
const BEGIN = /^\*\*\* *Begin Patch/i;
const END = /^\*\*\* *End Patch/i;
const ARROW = / *-> */;
const MOVES = /^(?:move|rename)$/i;
const FENCE = /^\s*```/;

/** All other verbs update. */
const KINDS: Readonly<Record<string, FileSection["kind"]>> = {
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
  " a line that stays",
  "-a line that goes",
  "+a line that comes",
  "*** Add File: src/new.ts",
  "+its text",
  "*** Delete File: src/old.ts",
  "*** End Patch",
].join("\n");

/** A section as it is written: its head, and the lines below. */
type RawSection = {
  readonly kind: FileSection["kind"];
  readonly path: string;
  moveTo: string | undefined;
  readonly lines: string[];
};

/** The refusal says what a patch looks like, or which line cannot be understood. */
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

/** False when the line belongs nowhere. */
function take(section: RawSection | undefined, line: string): boolean {
  if (section === undefined) return line.trim() === "";
  const moveTo = MOVE_TO.exec(line)?.[1];
  if (moveTo === undefined) section.lines.push(line);
  else section.moveTo = cleanPath(moveTo);
  return true;
}

/** The lines inside the frames, where there are any; what stands around them and a fence around the whole are left out. */
function framed(patch: string): readonly string[] {
  const lines = patch.replace(/\r\n/g, "\n").split("\n");
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
  const kind = KINDS[verb.toLowerCase()] ?? "update";
  const [from = rest, to] = MOVES.test(verb) ? rest.split(ARROW) : [rest];
  return { kind, path: cleanPath(from), moveTo: to === undefined ? undefined : cleanPath(to), lines: [] };
}

function finished({ kind, path, moveTo, lines }: RawSection): FileSection {
  switch (kind) {
    case "add":
      return { kind, path, text: addedText(lines).text };
    case "delete":
      return { kind, path };
    case "update":
      return { kind, path, moveTo, hunks: readHunks(lines) };
  }
}

function cleanPath(path: string): string {
  return path.trim().replace(/^(["'`])(.*)\1$/, "$2");
}

function refused(why: string): ParsedPatch {
  return { ok: false, text: `${why} ${FORM}` };
}
