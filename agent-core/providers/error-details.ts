/** Reads the facts from an error of any library. */
import * as z from "zod";
import { type ResponseHeaders, type RetryHint, readRetryHint } from "./retry-hint.ts";

export type ErrorDetails = RetryHint & {
  /** HTTP status, also from an error code within a stream. */
  readonly status: number | undefined;
  /** Names and codes of the error, its causes and the provider's error object, separated by spaces. */
  readonly codes: string;
  /** All texts of the error, for matching only. */
  readonly text: string;
  /** Text of the provider or library, for people. */
  readonly detail: string;
  /** Request parameter that the provider blames. */
  readonly parameter: string | undefined;
};

const scalar = z.union([z.string(), z.number()]).nullish().catch(undefined);

const bodySchema = z.object({
  message: z.string().nullish().catch(undefined),
  code: scalar,
  type: scalar,
  /** Google's name of the error. */
  status: scalar,
  param: z.string().nullish().catch(undefined),
  /** OpenRouter: answer of the provider behind it, as text. */
  metadata: z
    .object({ raw: z.string().nullish().catch(undefined) })
    .nullish()
    .catch(undefined),
});

/** Longest JSON that is quoted for a body without a text. Characters. */
const QUOTED_CHARS = 500;

const fields = (value: unknown): Readonly<Record<string, unknown>> | undefined =>
  typeof value === "object" && value !== null ? { ...value } : undefined;

/**
 * The error object in the body of a response. Servers wrap it in `error`, `errors` or an array, or send only a text:
 * as the body, `error`, `detail`, `message` or `msg`. FastAPI and Mistral send a list of `loc` and `msg`.
 */
function errorObjectIn(body: unknown): unknown {
  if (typeof body === "string") return { message: body };
  if (Array.isArray(body)) return errorObjectIn(body[0]);
  const object = fields(body);
  if (object === undefined) return undefined;
  const { error, errors } = object;
  if (fields(error) !== undefined) return errorObjectIn(error);
  if (fields(errors) !== undefined) return errorObjectIn(errors);
  const message = textIn(object) ?? JSON.stringify(object).slice(0, QUOTED_CHARS);
  return { ...object, message };
}

function textIn(object: Readonly<Record<string, unknown>>): string | undefined {
  const found = [object["message"], object["detail"], object["error"], object["msg"], object["Message"]];
  return found.map(textOf).find((text) => text !== undefined && text !== "");
}

function textOf(value: unknown): string | undefined {
  if (typeof value === "string") return value;
  if (Array.isArray(value)) {
    const lines = value.map(textOf).filter((line) => line !== undefined);
    return lines.length === 0 ? undefined : lines.join("\n");
  }
  const object = fields(value);
  if (object === undefined) return undefined;
  const { loc } = object;
  const place = Array.isArray(loc) ? loc.filter((part) => part !== "body").join(".") : "";
  const text = textIn(object);
  return text === undefined || place === "" ? text : `${place}: ${text}`;
}

/** Headers of a response. Not the standard's class, whose name makes Node load a second HTTP client. */
const headersSchema = z.custom<ResponseHeaders>(
  (value) => typeof value === "object" && value !== null && "get" in value && "entries" in value,
);

const errorSchema = z.object({
  name: z.string().catch(""),
  message: z.string().catch(""),
  status: z.number().optional().catch(undefined),
  code: scalar,
  headers: headersSchema.optional().catch(undefined),
  error: z.unknown().optional(),
  issues: z
    .array(z.object({ path: z.array(z.union([z.string(), z.number()])), message: z.string() }))
    .optional()
    .catch(undefined),
});

type OneError = Omit<z.infer<typeof errorSchema>, "error"> & {
  readonly error: z.infer<typeof bodySchema> | undefined;
  /** As the library gives it. */
  readonly body: unknown;
};

function readError(error: unknown): OneError {
  const read = errorSchema.parse(error);
  return { ...read, error: bodySchema.safeParse(errorObjectIn(read.error)).data, body: read.error };
}

/** Marks an error object of the provider, since the SDKs' errors have no names. */
export const FROM_PROVIDER = "from-provider";

/** Messages that add nothing to their cause. */
const EMPTY_MESSAGES = /^(connection error|fetch failed)?\.?$/i;

/** Depth limit, since a chain of causes may be circular. */
const MAX_CAUSES = 5;

/** Reads an error and its causes. `now`: milliseconds since 1970, for retry dates. */
export function readErrorDetails(error: unknown, now: number): ErrorDetails {
  const chain = causesOf(error);
  const [first] = chain;
  const last = chain.at(-1);
  const body = first?.error;
  const codes = chain.flatMap(({ name, code, error: inner }) => [name, code, inner?.code, inner?.type, inner?.status]);
  if (body !== undefined) codes.push(FROM_PROVIDER);
  const words = chain.map(({ message }) => message);
  const status = statusOf(first);
  const text = [...words, body?.message, body?.metadata?.raw].filter(Boolean).join("\n") || String(error);
  return {
    status,
    codes: codes.filter((code) => code !== undefined && code !== null && code !== "").join(" "),
    text,
    detail: detailOf(first, last) ?? String(error),
    ...readRetryHint({ status, headers: first?.headers, body: first?.body, text }, now),
    parameter: body?.param ?? undefined,
  };
}

function causesOf(error: unknown): readonly OneError[] {
  const chain: OneError[] = [];
  for (let next = error; next instanceof Error && chain.length < MAX_CAUSES; next = next.cause) {
    chain.push(readError(next));
  }
  return chain;
}

/** OpenRouter and others send the status within the stream, as an error code. */
function statusOf(error: OneError | undefined): number | undefined {
  const candidates = [error?.status, Number(error?.error?.code), Number(error?.code)];
  return candidates.find((status) => status !== undefined && status >= 400 && status < 600);
}

/** The deepest cause of a connection error is the informative one. */
function detailOf(first: OneError | undefined, last: OneError | undefined): string | undefined {
  if (first?.issues?.[0]) {
    const { path, message } = first.issues[0];
    return `${path.join(".") || "chunk"}: ${message}`;
  }
  const own = first?.error?.message || first?.message.replace(/^\d{3} /, "") || "";
  if (own === "" && first?.status !== undefined) return ""; // a response without a body
  const inner = first?.error?.metadata?.raw ?? (last === first ? "" : last?.message);
  if (!inner) return own || undefined;
  return EMPTY_MESSAGES.test(own) ? inner : `${own.replace(/\.$/, "")}: ${inner}`;
}
