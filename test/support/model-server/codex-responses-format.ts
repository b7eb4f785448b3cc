/** OpenAI's Responses as server-sent events: named, numbered, each item added, streamed and done. */
import type { AnswerUsage, StreamedAnswer } from "./answer.ts";
import type { Format, Speaker, SpokenPart } from "./format.ts";
import { pieces } from "./pieces.ts";

const DEFAULT_USAGE: AnswerUsage = { input: 100, output: 20, cached: 60 };

export const codexResponsesFormat: Format = { path: "/responses", speaker };

/** Item in progress. It ends when another begins or the response ends. */
type OpenItem = { readonly kind: "message" | "reasoning" | "call"; done(): readonly string[] };

type Content =
  | { readonly type: "output_text"; readonly text: string; readonly annotations: []; readonly logprobs: [] }
  | { readonly type: "refusal"; readonly refusal: string };

type Fields = Readonly<Record<string, unknown>>;

class Response {
  readonly #number: number;
  readonly #output: Fields[] = [];
  #sequence = 0;
  #open: OpenItem | undefined;

  constructor(number: number) {
    this.#number = number;
  }

  event(type: string, fields: Fields): string {
    const data = JSON.stringify({ type, sequence_number: this.#sequence, ...fields });
    this.#sequence += 1;
    return `event: ${type}\ndata: ${data}\n\n`;
  }

  /** Response object of the first and the last events. */
  object(status: string, more: Fields = {}): Fields {
    const output = status === "in_progress" ? [] : this.#output;
    return { id: `resp_${this.#number}`, object: "response", status, output, error: null, usage: null, ...more };
  }

  /** Ends the open item and returns the index of the next. */
  get index(): number {
    return this.#output.length;
  }

  id(prefix: string): string {
    return `${prefix}_${this.#number}_${this.index}`;
  }

  isOpen(kind: OpenItem["kind"]): boolean {
    return this.#open?.kind === kind;
  }

  open(item: OpenItem): void {
    this.#open = item;
  }

  close(): readonly string[] {
    const events = this.#open?.done() ?? [];
    this.#open = undefined;
    return events;
  }

  added(item: Fields): string {
    return this.event("response.output_item.added", { output_index: this.index, item });
  }

  done(item: Fields): string {
    const event = this.event("response.output_item.done", { output_index: this.index, item });
    this.#output.push(item);
    return event;
  }
}

function speaker(number: number): Speaker {
  const response = new Response(number);
  const at = (id: string): Fields => ({ item_id: id, output_index: response.index });
  const parts: { text: string; readonly content: Content[] } = { text: "", content: [] };

  const speakWords = (kind: "output_text" | "refusal", words: string): readonly string[] => {
    const begun = response.isOpen("message") ? [] : beginMessage();
    const id = response.id("msg");
    const opened = parts.content.at(-1)?.type === kind ? [] : [...endContent(id), ...beginContent(id, kind)];
    parts.text += words;
    const more = kind === "output_text" ? { logprobs: [] } : {};
    const position = { ...at(id), content_index: parts.content.length - 1 };
    return [...begun, ...opened, response.event(`response.${kind}.delta`, { ...position, delta: words, ...more })];
  };

  const beginMessage = (): readonly string[] => {
    const closed = response.close();
    const item = { id: response.id("msg"), type: "message", role: "assistant", content: [] };
    const added = response.added({ ...item, status: "in_progress" });
    parts.content.length = 0;
    response.open({
      kind: "message",
      done: () => {
        const ended = endContent(item.id);
        return [...ended, response.done({ ...item, status: "completed", content: [...parts.content] })];
      },
    });
    return [...closed, added];
  };

  const beginContent = (id: string, type: "output_text" | "refusal"): readonly string[] => {
    parts.text = "";
    parts.content.push(contentOf(type, ""));
    const position = { ...at(id), content_index: parts.content.length - 1 };
    return [response.event("response.content_part.added", { ...position, part: contentOf(type, "") })];
  };

  const endContent = (id: string): readonly string[] => {
    const last = parts.content.pop();
    if (last === undefined) return [];
    const part = contentOf(last.type, parts.text);
    const position = { ...at(id), content_index: parts.content.length };
    parts.content.push(part);
    const { type, ...whole } = part;
    return [
      response.event(`response.${type}.done`, { ...position, ...whole }),
      response.event("response.content_part.done", { ...position, part }),
    ];
  };

  return {
    begin: () => [
      response.event("response.created", { response: response.object("in_progress") }),
      response.event("response.in_progress", { response: response.object("in_progress") }),
    ],
    speak(part) {
      switch (part.type) {
        case "text":
          return speakWords("output_text", part.text);
        case "refusal":
          return speakWords("refusal", part.text);
        case "reasoning":
          return speakReasoning(response, part.text);
        case "call":
          return speakCall(response, part);
      }
    },
    raw: (data) => `data: ${data}\n\n`,
    end: (answer) => [...response.close(), endOf(response, answer)],
  };
}

function contentOf(type: "output_text" | "refusal", text: string): Content {
  return type === "refusal" ? { type, refusal: text } : { type, text, annotations: [], logprobs: [] };
}

/** A reasoning part is an item with a summary of one part, and encrypted content. */
function speakReasoning(response: Response, text: string): readonly string[] {
  const closed = response.close();
  const id = response.id("rs");
  const position = { item_id: id, output_index: response.index, summary_index: 0 };
  const part = { type: "summary_text", text };
  const item = { id, type: "reasoning", summary: [], encrypted_content: `gAAAA-begun-${id}` };
  const events = [
    response.added(item),
    response.event("response.reasoning_summary_part.added", { ...position, part: { ...part, text: "" } }),
    ...pieces(text).map((delta) => response.event("response.reasoning_summary_text.delta", { ...position, delta })),
  ];
  response.open({
    kind: "reasoning",
    done: () => [
      response.event("response.reasoning_summary_text.done", { ...position, text }),
      response.event("response.reasoning_summary_part.done", { ...position, part }),
      response.done({ ...item, summary: [part], encrypted_content: `gAAAA-${id}` }),
    ],
  });
  return [...closed, ...events];
}

function speakCall(
  response: Response,
  { name, input, raw, pieceChars }: Extract<SpokenPart, { type: "call" }>,
): readonly string[] {
  const closed = response.close();
  const id = response.id("fc");
  const position = { item_id: id, output_index: response.index };
  const item = { id, type: "function_call", name, call_id: response.id("call"), arguments: "" };
  const json = raw ?? JSON.stringify(input);
  const events = [
    response.added({ ...item, status: "in_progress" }),
    ...pieces(json, pieceChars).map((delta) =>
      response.event("response.function_call_arguments.delta", { ...position, delta }),
    ),
  ];
  response.open({
    kind: "call",
    done: () => [
      response.event("response.function_call_arguments.done", { ...position, arguments: json }),
      response.done({ ...item, status: "completed", arguments: json }),
    ],
  });
  // Arguments that are no JSON may be a call that is cut: what follows decides.
  return [...closed, ...events, ...(raw === undefined ? response.close() : [])];
}

/** `finish` is a status of the response, or the reason for an incomplete one. */
function endOf(response: Response, { finish, usage = DEFAULT_USAGE }: StreamedAnswer): string {
  const counts = { usage: usage && usageOf(usage) };
  if (finish === "failed") {
    const error = { code: "server_error", message: "The model failed." };
    return response.event("response.failed", { response: response.object("failed", { ...counts, error }) });
  }
  if (finish === undefined || finish === null || finish === "completed") {
    return response.event("response.completed", { response: response.object("completed", counts) });
  }
  const incomplete_details = { reason: finish === "length" ? "max_output_tokens" : finish };
  return response.event("response.incomplete", {
    response: response.object("incomplete", { ...counts, incomplete_details }),
  });
}

function usageOf({ input, output, cached = 0, reasoning = 0 }: AnswerUsage): Fields {
  return {
    input_tokens: input,
    input_tokens_details: { cached_tokens: cached },
    output_tokens: output,
    output_tokens_details: { reasoning_tokens: reasoning },
    total_tokens: input + output,
  };
}
