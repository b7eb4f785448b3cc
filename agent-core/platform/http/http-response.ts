/**
 * Response of a request, with the members of the standard's `Response` that our code and the model libraries use. The
 * standard's own classes would load Node's second HTTP client: 30 ms and 17 MB at each start.
 */
import type { IncomingHttpHeaders, IncomingMessage } from "node:http";
import type { Readable } from "node:stream";

/** Text of a failed request that is kept: error messages are short, a web page need not be complete. */
const MAX_ERROR_BYTES = 65_536;
/** Text of a successful request; a list of models has a few megabytes. */
const MAX_TEXT_BYTES = 67_108_864;
/** Bytes that wait for a slow reader before the server has to wait. */
const BUFFERED_BYTES = 65_536;

export class HttpResponse {
  readonly status: number;
  readonly statusText: string;
  readonly url: string;
  readonly headers: HttpHeaders;
  readonly redirected = false;
  readonly #source: Readable;
  #body: ReadableStream<Uint8Array> | undefined;

  /** `source`: the decoded body. */
  constructor({ statusCode = 0, statusMessage = "", headers }: IncomingMessage, url: URL, source: Readable) {
    this.status = statusCode;
    this.statusText = statusMessage;
    this.url = url.href;
    this.headers = new HttpHeaders(headers);
    this.#source = source;
  }

  get ok(): boolean {
    return this.status >= 200 && this.status < 300;
  }

  /** The body as it arrives. The server waits while nobody reads. Cancelling closes the connection. */
  get body(): ReadableStream<Uint8Array> {
    this.#body ??= webStream(this.#source);
    return this.#body;
  }

  /** The whole body. A long error is cut off; rejects for a longer success. */
  async text(): Promise<string> {
    const chunks: Buffer[] = [];
    let bytes = 0;
    for await (const chunk of this.#body ?? this.#source) {
      chunks.push(chunk);
      bytes += chunk.byteLength;
      if (!this.ok && bytes >= MAX_ERROR_BYTES) break;
      if (bytes > MAX_TEXT_BYTES) throw new SyntaxError(`a response of more than ${MAX_TEXT_BYTES} bytes`);
    }
    const kept = this.ok ? bytes : Math.min(bytes, MAX_ERROR_BYTES);
    return new TextDecoder().decode(Buffer.concat(chunks, bytes).subarray(0, kept));
  }

  async json(): Promise<unknown> {
    return JSON.parse(await this.text());
  }
}

/** Headers of a response. Names are matched in any case. */
export class HttpHeaders {
  readonly #values: ReadonlyMap<string, string>;

  constructor(headers: IncomingHttpHeaders) {
    this.#values = new Map(
      Object.entries(headers).map(([name, value]) => [name, Array.isArray(value) ? value.join(", ") : (value ?? "")]),
    );
  }

  get(name: string): string | null {
    return this.#values.get(name.toLowerCase()) ?? null;
  }

  has(name: string): boolean {
    return this.#values.has(name.toLowerCase());
  }

  entries(): MapIterator<[string, string]> {
    return this.#values.entries();
  }

  [Symbol.iterator](): MapIterator<[string, string]> {
    return this.#values.entries();
  }
}

/** One packet of the network can hold hundreds of small parts. They are passed on as one, because each costs a read. */
function webStream(source: Readable): ReadableStream<Uint8Array> {
  let parts: Uint8Array[] = [];
  let isCancelled = false;
  return new ReadableStream<Uint8Array>(
    {
      start(controller) {
        // A connection may end before anybody reads.
        if (source.destroyed && !source.readableEnded) return controller.error(source.errored ?? new Error("aborted"));
        const flush = (): void => {
          const [first, second] = parts;
          if (first === undefined || source.destroyed) return;
          controller.enqueue(second === undefined ? first : Buffer.concat(parts));
          parts = [];
          if ((controller.desiredSize ?? 0) <= 0) source.pause();
        };
        source.on("data", (part: Uint8Array) => {
          if (parts.push(part) === 1) queueMicrotask(flush);
        });
        source.once("end", () => {
          if (isCancelled) return;
          flush();
          controller.close();
        });
        source.once("error", (error) => controller.error(error));
        source.pause();
      },
      pull: () => void source.resume(),
      cancel: () => {
        isCancelled = true;
        source.destroy();
      },
    },
    { highWaterMark: BUFFERED_BYTES, size: (chunk) => chunk.byteLength },
  );
}
