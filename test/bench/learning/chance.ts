/** Seeded chance and the words of a world. Equal seeds give equal worlds. */
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";

export class Chance {
  #state: number;

  /** `parts` together are the seed. */
  constructor(...parts: readonly (string | number)[]) {
    this.#state = createHash("sha256").update(parts.join("\0")).digest().readUInt32LE(0);
  }

  /** In [0, 1); the generator is mulberry32. */
  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), 1 | this.#state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  }

  /** True with probability `share`. */
  hits(share: number): boolean {
    return this.next() < share;
  }

  /** From 0 to `count` - 1. */
  below(count: number): number {
    return Math.floor(this.next() * count);
  }

  pick<Item>(items: readonly Item[]): Item {
    const item = items[this.below(items.length)];
    if (item === undefined) throw new Error("There is nothing to pick from.");
    return item;
  }

  /** `count` different items in random order. */
  sample<Item>(items: readonly Item[], count: number): readonly Item[] {
    const left = [...items];
    return Array.from({ length: Math.min(count, left.length) }, () => left.splice(this.below(left.length), 1)).flat();
  }
}

/** Chance of the errors of an auxiliary answer, and their share. */
export type Noise = { readonly chance: Chance; readonly share: number };

const ONSETS = [
  "b",
  "d",
  "dr",
  "f",
  "g",
  "gl",
  "k",
  "kr",
  "l",
  "m",
  "n",
  "p",
  "pl",
  "r",
  "s",
  "st",
  "t",
  "tr",
  "v",
  "z",
];
const VOWELS = ["a", "e", "i", "o", "u", "au", "ei"];

/** Draws words and tokens that differ from all before. */
export class Words {
  readonly #chance: Chance;
  readonly #drawn = new Set<string>();

  constructor(chance: Chance) {
    this.#chance = chance;
  }

  /** Every token so far. */
  get tokens(): readonly string[] {
    return [...this.#drawn].filter((word) => word.includes("-"));
  }

  /** Invented noun of three syllables. */
  noun(): string {
    return this.#new(() => `${this.#syllable()}${this.#syllable()}${this.#syllable()}n`);
  }

  /** Random name with a hyphen and digits, which only the world knows. */
  token(): string {
    return this.#new(
      () => `${this.#syllable()}${this.#syllable()}-${this.#syllable()}${1_000 + this.#chance.below(9_000)}`,
    );
  }

  #new(draw: () => string): string {
    for (;;) {
      const word = draw();
      if (this.#drawn.has(word)) continue;
      this.#drawn.add(word);
      return word;
    }
  }

  #syllable(): string {
    return this.#chance.pick(ONSETS) + this.#chance.pick(VOWELS);
  }
}

/** Files of this repository that contain one of the tokens. A token that stood somewhere before proves nothing. */
export function filesWith(tokens: readonly string[]): readonly string[] {
  const patterns = tokens.flatMap((token) => ["-e", token]);
  const { status, stdout, stderr } = spawnSync("git", ["grep", "--untracked", "-lF", ...patterns], {
    encoding: "utf8",
  });
  if (status !== 0 && status !== 1) throw new Error(`git grep failed: ${stderr}`);
  return stdout.split("\n").filter((path) => path !== "");
}
