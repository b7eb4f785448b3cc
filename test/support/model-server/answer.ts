/** The vocabulary in which a test says how the model server answers; the same for every wire format. */

export type Part =
  | { readonly type: "text"; readonly text: string }
  | { readonly type: "reasoning"; readonly text: string }
  | { readonly type: "refusal"; readonly text: string }
  /** A tool call, its arguments streamed in pieces; `raw` stands for arguments that are no JSON. */
  | {
      readonly type: "call";
      readonly name: string;
      readonly input: unknown;
      readonly raw?: string;
      readonly pieceChars?: number;
    }
  /** Sends nothing until the promise settles. */
  | { readonly type: "wait"; readonly until: Promise<unknown>; readonly reached?: () => void }
  /** Sends nothing any more and keeps the connection open. */
  | { readonly type: "stall" }
  /** An event with this data, whatever it is. */
  | { readonly type: "raw"; readonly data: string }
  /** Bytes as they are, in one write of their own. */
  | { readonly type: "bytes"; readonly bytes: Uint8Array }
  /** Destroys the connection after everything before it was sent. */
  | { readonly type: "cut" };

export type AnswerUsage = {
  readonly input: number;
  readonly output: number;
  readonly cached?: number;
  readonly reasoning?: number;
};

/** A streamed answer. `finish` as the wire format calls it; null leaves the end out: no reason, no last event. */
export type StreamedAnswer = {
  readonly parts: readonly Part[];
  readonly finish?: string | null;
  /** Null: none is reported. Default: some. */
  readonly usage?: AnswerUsage | null;
};

/** A plain response, usually an error. */
export type StatusAnswer = {
  readonly status: number;
  readonly body: string;
  readonly headers?: Readonly<Record<string, string>>;
};

export type Answer =
  | StreamedAnswer
  | StatusAnswer
  /** Takes the request and never says a word. */
  | { readonly silent: true }
  /** Closes the connection before any header. */
  | { readonly hangUp: true };
