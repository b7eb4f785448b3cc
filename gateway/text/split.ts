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
  const whole = markdown.trim();
  if (whole === "") return [];
  if (fits(whole)) return [whole];
  const pieces: string[] = [];
  let piece = "";
  for (const block of blocksOf(whole)) {
    const joined = piece === "" ? block.text : `${piece}\n\n${block.text}`;
    if (fits(joined)) {
      piece = joined;
      continue;
    }
    if (piece !== "") pieces.push(piece);
    piece = "";
    const parts = fits(block.text) ? [block.text] : splitBlock(block, fits);
    pieces.push(...parts.slice(0, -1));
    piece = parts.at(-1) ?? "";
  }
  return [...pieces, piece].filter((each) => each.trim() !== "");
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
  if (fence === undefined)
    return pack(lines, "\n", fits, (line) => pack(line.match(PARTS) ?? [], "", fits, (part) => letters(part, fits)));
  const wrap = (body: string): string => `${fence.open}\n${body}\n${fence.close}`;
  const fitsWrapped = (body: string): boolean => fits(wrap(body));
  return pack(lines.slice(1, -1), "\n", fitsWrapped, (line) => letters(line, fitsWrapped)).map(wrap);
}

/** Joins parts as long as they fit; `divide` cuts a part that does not fit alone. */
function pack(
  parts: readonly string[],
  glue: string,
  fits: (piece: string) => boolean,
  divide: (part: string) => readonly string[],
): readonly string[] {
  const pieces: string[] = [];
  let piece: string | undefined;
  for (const part of parts) {
    const joined: string = piece === undefined ? part : piece + glue + part;
    if (fits(joined)) {
      piece = joined;
      continue;
    }
    if (piece !== undefined) pieces.push(piece);
    const divided = fits(part) ? [part] : divide(part);
    pieces.push(...divided.slice(0, -1));
    piece = divided.at(-1);
  }
  if (piece !== undefined) pieces.push(piece);
  return pieces;
}

const graphemes = new Intl.Segmenter("en", { granularity: "grapheme" });

/** Cuts between letters, never within an emoji. */
function letters(text: string, fits: (piece: string) => boolean): readonly string[] {
  const all = [...graphemes.segment(text)].map(({ segment }) => segment);
  const pieces: string[] = [];
  for (let from = 0; from < all.length; ) {
    let [low, high] = [1, all.length - from];
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (fits(all.slice(from, from + middle).join(""))) low = middle;
      else high = middle - 1;
    }
    pieces.push(all.slice(from, from + low).join(""));
    from += low;
  }
  return pieces;
}
