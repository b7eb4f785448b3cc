/** The last bytes of an output, as `terminal/output` gives them. */

/** A UTF-8 sequence has at most three bytes after its first. */
const CONTINUATION_BYTES = 3;

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
    for (let first = this.#chunks[0]; first && this.#size - first.length >= this.#limit; first = this.#chunks[0]) {
      this.#chunks.shift();
      this.#size -= first.length;
      this.#truncated = true;
    }
  }

  /** What was printed last and no line break has ended yet: a prompt, often. Only of the last piece. */
  openLine(): string {
    return this.#chunks.at(-1)?.toString("utf8").split("\n").at(-1) ?? "";
  }

  /** Text that begins at a whole character. */
  text(): string {
    const bytes = Buffer.concat(this.#chunks);
    let start = Math.max(0, bytes.length - this.#limit);
    if (start > 0) this.#truncated = true;
    const latest = start + CONTINUATION_BYTES; // more of them in a row are no text: they are not lost for it
    while (this.#truncated && start < latest && ((bytes[start] ?? 0) & 0xc0) === 0x80) start += 1;
    return bytes.subarray(start).toString("utf8");
  }
}
