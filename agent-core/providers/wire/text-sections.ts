/** Text that arrives as several sections, shown with an empty line between them; halves of characters are held back. */
import { wholeCharacters } from "./whole-characters.ts";

/** Between two sections; the same as between two answers that repair puts together. */
export const SECTION_BREAK = "\n\n";

export type Sections = {
  /** The section that was written to last; undefined before the first. */
  readonly key: string | undefined;
  /** UTF-16 units of it that were given out, without the break before it. */
  readonly chars: number;
  /** Half a character whose other half has not come yet. */
  readonly held: string;
};

export type SectionStep = { readonly sections: Sections; readonly text: string };

export const noSections: Sections = { key: undefined, chars: 0, held: "" };

/** Adds to a section, and gives what can be shown now. A section that another one follows is over. */
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

/** Gives what was held back: its other half will not come. */
export function endSection(sections: Sections): SectionStep {
  const text = sections.held.toWellFormed();
  return { sections: { ...sections, chars: sections.chars + text.length, held: "" }, text };
}
