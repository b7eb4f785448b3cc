/** Seeded chance: equal seeds give equal worlds. */
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
