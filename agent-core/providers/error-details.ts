/** Reads the facts from an error of any library. */
import * as z from "zod";

export type ErrorDetails = {
  /** HTTP status, also from an error code within a stream. */
  readonly status: number | undefined;
  /** Names and codes of the error, its causes and the provider's error object, separated by spaces. */
  readonly codes: string;
  /** All texts of the error, for matching only. */
  readonly text: string;
  /** Text of the provider or library, for people. */
  readonly detail: string;
  readonly retryAfterMs: number | undefined;
  /** Request parameter that the provider blames. */
  readonly parameter: string | undefined;
};

const scalar = z.union([z.string(), z.number()]).nullish().catch(undefined);

const bodySchema = z.object({
  message: z.string().nullish().catch(undefined),
  code: scalar,
  type: scalar,
  param: z.string().nullish().catch(undefined),
  /** OpenRouter: answer of the provider behind it, as text. */
  metadata: z
    .object({ raw: z.string().nullish().catch(undefined) })
    .nullish()
    .catch(undefined),
});

/** Anthropic's SDK gives the whole body around the error object, OpenAI's gives the object. */
const wholeBodySchema = z.object({ error: z.looseObject({}) });
const eitherBodySchema = z.preprocess((body) => wholeBodySchema.safeParse(body).data?.error ?? body, bodySchema);

/** Headers of a response. Not the standard's class, whose name makes Node load a second HTTP client. */
const headersSchema = z.custom<Pick<Headers, "get">>(
  (value) => typeof value === "object" && value !== null && "get" in value,
);

const errorSchema = z.object({
  name: z.string().catch(""),
  message: z.string().catch(""),
  status: z.number().optional().catch(undefined),
  code: scalar,
  headers: headersSchema.optional().catch(undefined),
  error: eitherBodySchema.optional().catch(undefined),
  issues: z
    .array(z.object({ path: z.array(z.union([z.string(), z.number()])), message: z.string() }))
    .optional()
    .catch(undefined),
});

type OneError = z.infer<typeof errorSchema>;

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
  const codes = chain.flatMap(({ name, code, error: inner }) => [name, code, inner?.code, inner?.type]);
  if (body !== undefined) codes.push(FROM_PROVIDER);
  const words = chain.map(({ message }) => message);
  return {
    status: statusOf(first),
    codes: codes.filter((code) => code !== undefined && code !== null && code !== "").join(" "),
    text: [...words, body?.message, body?.metadata?.raw].filter(Boolean).join("\n") || String(error),
    detail: detailOf(first, last) || String(error),
    retryAfterMs: first?.headers && retryAfter(first.headers, now),
    parameter: body?.param ?? undefined,
  };
}

function causesOf(error: unknown): readonly OneError[] {
  const chain: OneError[] = [];
  for (let next = error; next instanceof Error && chain.length < MAX_CAUSES; next = next.cause) {
    chain.push(errorSchema.parse(next));
  }
  return chain;
}

/** OpenRouter and others send the status within the stream, as an error code. */
function statusOf(error: OneError | undefined): number | undefined {
  const candidates = [error?.status, Number(error?.error?.code), Number(error?.code)];
  return candidates.find((status) => status !== undefined && status >= 400 && status < 600);
}

/** The deepest cause of a connection error is the informative one. */
function detailOf(first: OneError | undefined, last: OneError | undefined): string {
  if (first?.issues?.[0]) {
    const { path, message } = first.issues[0];
    return `${path.join(".") || "chunk"}: ${message}`;
  }
  const own = first?.error?.message || first?.message.replace(/^\d{3} /, "") || "";
  const inner = first?.error?.metadata?.raw ?? (last === first ? "" : last?.message);
  if (!inner) return own;
  return EMPTY_MESSAGES.test(own) ? inner : `${own.replace(/\.$/, "")}: ${inner}`;
}

/** Milliseconds from now, from seconds or an HTTP date. */
function retryAfter(headers: Pick<Headers, "get">, now: number): number | undefined {
  const precise = Number(headers.get("retry-after-ms") || Number.NaN);
  if (Number.isFinite(precise)) return Math.max(0, precise);
  const value = headers.get("retry-after")?.trim();
  if (!value) return undefined;
  const seconds = Number(value);
  if (Number.isFinite(seconds)) return Math.max(0, Math.round(seconds * 1000));
  const date = Date.parse(value);
  return Number.isNaN(date) ? undefined : Math.max(0, date - now);
}
