/** Cuts Markdown into pieces that fit into messages: between blocks, else between lines, words and letters. */

/** Opening or closing line of a code block, with its marks and its language. */
const FENCE = /^ {0,3}(`{3,}|~{3,})[ \t]*([^\s`]*)/;
/** Parts of a line that no cut may divide: code, links, emphasis. */
const PARTS = /`[^`]*`|!?\[[^\]]*\]\([^)]*\)|\*\*[^*]+\*\*|~~[^~]+~~|\S+|\s+/g;

type Block = { readonly text: string; readonly fence?: { readonly open: string; readonly close: string } };

/**
 * The pieces of a text, in order; `fits` says that a piece fits into a message. A code block that does not fit is closed and
 * opened again. No piece is empty.
 */
export function splitMarkdown(markdown: string, fits: (piece: string) => boolean): readonly string[] {
  const blocks = blocksOf(markdown.trim());
  const texts = blocks.map(({ text }) => text);
  const pieces = pack(texts, "\n\n", fits, (_, at) => splitBlock(blocks[at] ?? { text: "" }, fits));
  return pieces.filter((piece) => piece.trim() !== "");
}

function blocksOf(text: string): readonly Block[] {
  const blocks: Block[] = [];
  let open: string[] = [];
  let mark: string | undefined;
  const end = (): void => {
    const joined = open.join("\n").replace(/^\n+|\s+$/g, "");
    const first = open[0] ?? "";
    const fence = mark === undefined ? {} : { fence: { open: first, close: mark } };
    if (joined !== "") blocks.push({ text: joined, ...fence });
    open = [];
    mark = undefined;
  };
  for (const line of text.split("\n")) {
    const [, marks] = FENCE.exec(line) ?? [];
    if (mark !== undefined) {
      open.push(line);
      if (marks?.startsWith(mark) && line.trim() === marks) end();
    } else if (marks !== undefined) {
      end();
      mark = marks;
      open.push(line);
    } else if (line.trim() === "") end();
    else open.push(line);
  }
  if (mark !== undefined) open.push(mark); // a cut answer ends within its code block
  end();
  return blocks;
}

function splitBlock({ text, fence }: Block, fits: (piece: string) => boolean): readonly string[] {
  const lines = text.split("\n");
  if (fence === undefined) {
    const words = (line: string): readonly string[] =>
      pack(line.match(PARTS) ?? [], "", fits, (part) => splitLetters(part, fits));
    return pack(lines, "\n", fits, words);
  }
  const wrap = (body: string): string => `${fence.open}\n${body}\n${fence.close}`;
  const fitsWrapped = (body: string): boolean => fits(wrap(body));
  return pack(lines.slice(1, -1), "\n", fitsWrapped, (line) => splitLetters(line, fitsWrapped)).map(wrap);
}

const graphemes = new Intl.Segmenter("en", { granularity: "grapheme" });

/** Cuts between letters, never within an emoji. */
function splitLetters(text: string, fits: (piece: string) => boolean): readonly string[] {
  const letters = [...graphemes.segment(text)].map(({ segment }) => segment);
  return pack(letters, "", fits, (letter) => [letter]);
}

/** Joins as many parts as fit into each piece; `divide` cuts a part that does not fit alone. */
function pack(
  parts: readonly string[],
  glue: string,
  fits: (piece: string) => boolean,
  divide: (part: string, at: number) => readonly string[],
): readonly string[] {
  const pieces: string[] = [];
  for (let at = 0; at < parts.length; ) {
    const count = largest(parts.length - at, (size) => fits(parts.slice(at, at + size).join(glue)));
    if (count > 0) pieces.push(parts.slice(at, at + count).join(glue));
    else pieces.push(...divide(parts[at] ?? "", at));
    at += Math.max(count, 1);
  }
  return pieces;
}

/** The largest size up to `max` that passes, found in few tests, each of which formats a text; 0 when none does. */
function largest(max: number, passes: (size: number) => boolean): number {
  let [low, high] = [0, 1];
  while (high <= max && passes(high)) [low, high] = [high, high * 2];
  high = Math.min(high, max + 1);
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if (passes(middle)) low = middle;
    else high = middle;
  }
  return low;
}
