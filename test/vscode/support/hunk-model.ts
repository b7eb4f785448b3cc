// Model of the expected results of hunk keys: texts of lines and hunks, and a caret, without VS Code.

/** A line that both texts have, or lines of the agent's. */
type Segment =
  | { readonly kind: "line"; readonly text: string }
  | {
      readonly kind: "hunk";
      readonly old: readonly string[];
      readonly fresh: readonly string[];
      verdict: "keep" | "undo" | undefined;
    };

type HunkSegment = Extract<Segment, { kind: "hunk" }>;

/** Keys that a user can press. */
export type Key = "next" | "previous" | "keep" | "undo";

export type Random = (limit: number) => number;

/** Gives whole numbers from 0 below `limit`, the same ones for the same seed. */
export function randomOf(seed: number): Random {
  let state = seed;
  return (limit) => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
    return Math.floor((state / 2_147_483_648) * limit);
  };
}

/** A file with hunks of every kind, two or more lines apart. All lines differ, so that there is one way to compare. */
export class ModelFile {
  readonly path: string;
  readonly #segments: Segment[];

  constructor(path: string, hunks: number, random: Random) {
    this.path = path;
    let count = 0;
    const line = (what: string): string => {
      count += 1;
      return `${what} ${count}\n`;
    };
    const lines = (what: string, many: number): string[] => Array.from({ length: many }, () => line(what));
    this.#segments = Array.from({ length: hunks }).flatMap((): Segment[] => {
      const [old, fresh] = [
        [1, 1],
        [0, 2],
        [2, 0],
        [3, 1],
        [1, 4],
      ][random(5)] ?? [1, 1];
      const apart = lines("same", 2 + random(3)).map((text): Segment => ({ kind: "line", text }));
      return [
        ...apart,
        { kind: "hunk", old: lines("old", old ?? 1), fresh: lines("new", fresh ?? 1), verdict: undefined },
      ];
    });
    this.#segments.push({ kind: "line", text: line("same") });
  }

  /** Before the agent's edit. */
  get original(): string {
    return this.#segments.flatMap((one) => (one.kind === "line" ? [one.text] : one.old)).join("");
  }

  /** With the verdicts so far; lines without one are the agent's. */
  get text(): string {
    return this.#segments.flatMap(linesOf).join("");
  }

  /** Hunks without a verdict. */
  get pending(): readonly HunkSegment[] {
    return this.#segments.filter((one): one is HunkSegment => one.kind === "hunk" && one.verdict === undefined);
  }

  /** Lines that both texts have. */
  get sharedLines(): readonly string[] {
    return this.#segments.flatMap((one) => (one.kind === "line" ? [one.text] : []));
  }

  /** First line of a hunk and the one after it, from 0. */
  linesOf(hunk: HunkSegment): readonly [number, number] {
    const start = this.#segments.slice(0, this.#segments.indexOf(hunk)).flatMap(linesOf).length;
    return [start, start + linesOf(hunk).length];
  }

  /** The user puts a line in behind a shared one. */
  type(behind: string, text: string): void {
    const at = this.#segments.findIndex((one) => one.kind === "line" && one.text === behind);
    this.#segments.splice(at + 1, 0, { kind: "line", text });
  }

  isBefore(one: HunkSegment, other: HunkSegment): boolean {
    return this.#segments.indexOf(one) < this.#segments.indexOf(other);
  }
}

function linesOf(segment: Segment): readonly string[] {
  if (segment.kind === "line") return [segment.text];
  return segment.verdict === "undo" ? segment.old : segment.fresh;
}

type Place = { readonly file: ModelFile; readonly hunk: HunkSegment };

export class HunkModel {
  readonly files: readonly ModelFile[];
  /** The hunk that the keys have led to, with or without a verdict; undefined before the first key. */
  caret: Place | undefined;

  constructor(files: readonly ModelFile[]) {
    this.files = files;
  }

  get places(): readonly Place[] {
    return this.files.flatMap((file) => file.pending.map((hunk) => ({ file, hunk })));
  }

  press(key: Key): void {
    if (key === "next") this.#go(1);
    else if (key === "previous") this.#go(-1);
    else this.#decide(key);
  }

  #go(direction: 1 | -1): void {
    const { places, caret } = this;
    const inFile = (place: Place): boolean => place.file === caret?.file;
    if (places.length === 0) return;
    if (caret === undefined || !places.some(inFile)) {
      this.caret = direction === 1 ? places[0] : places.at(-1);
      return;
    }
    const { file, hunk } = caret;
    const rest = places.map((place, index) => ({ place, index })).filter(({ place }) => inFile(place));
    const passed = (one: Place): boolean =>
      one.hunk === hunk || (direction === 1 ? file.isBefore(one.hunk, hunk) : file.isBefore(hunk, one.hunk));
    const ahead =
      direction === 1 ? rest.find(({ place }) => !passed(place)) : rest.findLast(({ place }) => !passed(place));
    const edge = (direction === 1 ? rest.at(-1)?.index : rest[0]?.index) ?? 0;
    this.caret = ahead?.place ?? places.at((edge + direction) % places.length);
  }

  #decide(verdict: "keep" | "undo"): void {
    const { caret } = this;
    if (caret === undefined) return;
    const meant = caret.file.pending.find((hunk) => hunk === caret.hunk || caret.file.isBefore(caret.hunk, hunk));
    if (meant !== undefined) meant.verdict = verdict;
  }
}
