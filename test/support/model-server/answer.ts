/** Answers of the model server, independent of the wire format. */

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
  /** Falls silent and keeps the connection open. */
  | { readonly type: "stall" }
  /** Event with this data. */
  | { readonly type: "raw"; readonly data: string }
  /** Bytes in one write. */
  | { readonly type: "bytes"; readonly bytes: Uint8Array }
  /** Destroys the connection after everything before it was sent. */
  | { readonly type: "cut" };

export type AnswerUsage = {
  readonly input: number;
  readonly output: number;
  readonly cached?: number;
  readonly reasoning?: number;
};

/** Streamed answer. `finish` is the wire format's own word; null omits the reason and the last event. */
export type StreamedAnswer = {
  readonly parts: readonly Part[];
  readonly finish?: string | null;
  /** Null: not reported. Default: some. */
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
  /** Accepts the request and stays silent. */
  | { readonly silent: true }
  /** Closes the connection before any header. */
  | { readonly hangUp: true };
