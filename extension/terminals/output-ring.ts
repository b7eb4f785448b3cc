/** Last bytes of an output, for `terminal/output`. */

/** A UTF-8 sequence has at most three bytes after its first. */
const CONTINUATION_BYTES = 3;

export class OutputRing {
  readonly #limit: number;
  readonly #chunks: Buffer[] = [];
  #size = 0;
  #truncated: boolean = false;

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
    for (let first = this.#chunks[0]; first && this.#size - first.length >= this.#limit; first = this.#chunks[0]) {
      this.#chunks.shift();
      this.#size -= first.length;
      this.#truncated = true;
    }
  }

  /** Last line of the last piece without a line break, often a prompt. */
  openLine(): string {
    return this.#chunks.at(-1)?.toString("utf8").split("\n").at(-1) ?? "";
  }

  /** Text that starts with a whole character. */
  text(): string {
    const bytes = Buffer.concat(this.#chunks);
    let start = Math.max(0, bytes.length - this.#limit);
    if (start > 0) this.#truncated = true;
    const latest = start + CONTINUATION_BYTES; // more continuation bytes are not text, and stay
    while (this.#truncated && start < latest && ((bytes[start] ?? 0) & 0xc0) === 0x80) start += 1;
    return bytes.subarray(start).toString("utf8");
  }
}
