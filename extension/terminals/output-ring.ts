/** The last bytes of an output, as `terminal/output` gives them. */

export class OutputRing {
  readonly #limit: number;
  readonly #chunks: Buffer[] = [];
  #size = 0;
  #truncated = false as boolean;

  /** `limit` in bytes. */
  constructor(limit: number) {
    this.#limit = limit;
  }

  get truncated(): boolean {
    return this.#truncated;
  }

  add(bytes: Buffer): void {
    this.#chunks.push(bytes);
    this.#size += bytes.length;
    while (this.#size - (this.#chunks[0]?.length ?? 0) >= this.#limit) this.#drop(this.#chunks.shift());
  }

  /** Text that begins at a whole character. */
  text(): string {
    const bytes = Buffer.concat(this.#chunks);
    let start = Math.max(0, bytes.length - this.#limit);
    if (start > 0) this.#truncated = true;
    while (this.#truncated && start < bytes.length && ((bytes[start] ?? 0) & 0xc0) === 0x80) start += 1;
    return bytes.subarray(start).toString("utf8");
  }

  #drop(chunk: Buffer | undefined): void {
    this.#size -= chunk?.length ?? 0;
    this.#truncated = true;
  }
}
