/** Text in several sections with an empty line between them. The first half of a surrogate pair waits for the second. */

/** The same break as between two answers that the repair of messages joins. */
export const SECTION_BREAK = "\n\n";

export type Sections = {
  /** The current section; undefined before the first. */
  readonly key: string | undefined;
  /** UTF-16 units of the section so far, without the break before it. */
  readonly chars: number;
  /** First half of a surrogate pair. */
  readonly held: string;
};

export type SectionStep = { readonly sections: Sections; readonly text: string };

export const noSections: Sections = { key: undefined, chars: 0, held: "" };

/** Adds to a section and returns the text to show. A new section ends the one before it. */
export function addToSection(sections: Sections, key: string, piece: string): SectionStep {
  if (piece === "") return { sections, text: "" };
  if (key === sections.key) {
    const { text, held } = wholeCharacters(sections.held, piece);
    return { sections: { key, chars: sections.chars + text.length, held }, text };
  }
  const ended = endSection(sections);
  const { text, held } = wholeCharacters("", piece);
  const between = sections.key === undefined ? "" : SECTION_BREAK;
  return { sections: { key, chars: text.length, held }, text: ended.text + between + text };
}

/** Returns the waiting half, whose other half never came. */
export function endSection(sections: Sections): SectionStep {
  const text = sections.held.toWellFormed();
  return { sections: { ...sections, chars: sections.chars + text.length, held: "" }, text };
}

export type WholeCharacters = { readonly text: string; readonly held: string };

/** Joins the waiting half with the next piece. Unpaired halves become U+FFFD. */
export function wholeCharacters(held: string, piece: string): WholeCharacters {
  const joined = held + piece;
  const last = joined.charCodeAt(joined.length - 1);
  const isHalf = last >= 0xd800 && last <= 0xdbff;
  const text = isHalf ? joined.slice(0, -1) : joined;
  return { text: text.toWellFormed(), held: isHalf ? joined.slice(-1) : "" };
}
