/** What can be read off an error without knowing which library threw it. */
import * as z from "zod";

export type ErrorSigns = {
  /** HTTP status, also when it came as a code in the middle of a stream. */
  readonly status: number | undefined;
  /** Names and codes of the error, its causes and the provider's own error object, one space between. */
  readonly codes: string;
  /** Everything that was said, for matching only. */
  readonly text: string;
  /** The provider's or library's own words, for people. */
  readonly detail: string;
  readonly retryAfterMs: number | undefined;
  /** Parameter of the request that the provider names as the culprit. */
  readonly parameter: string | undefined;
};

const scalar = z.union([z.string(), z.number()]).nullish().catch(undefined);

const bodySchema = z.object({
  message: z.string().nullish().catch(undefined),
  code: scalar,
  type: scalar,
  param: z.string().nullish().catch(undefined),
  /** OpenRouter: the inner provider's answer as text. */
  metadata: z
    .object({ raw: z.string().nullish().catch(undefined) })
    .nullish()
    .catch(undefined),
});

/** Anthropic's library gives the whole body, with the error object inside; OpenAI's gives the error object. */
const wholeBodySchema = z.object({ error: z.looseObject({}) });
const eitherBodySchema = z.preprocess((body) => wholeBodySchema.safeParse(body).data?.error ?? body, bodySchema);

/** Named when it is first needed: with this name Node loads all of its HTTP client, a fifth of what a start takes. */
const headersSchema = z.custom<Headers>((value) => value instanceof Headers);

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

/** Among the codes when the provider itself said that there is an error; the library's errors have no names. */
export const FROM_PROVIDER = "from-provider";

/** What says nothing beside its cause. */
const NO_NEWS = /^(connection error|fetch failed)?\.?$/i;

/** Deeper causes than this are not looked at; a chain may be a circle. */
const MAX_CAUSES = 5;

/** Reads an error and its causes. `now` is in milliseconds since 1970, for a retry time given as a date. */
export function readErrorSigns(error: unknown, now: number): ErrorSigns {
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

/** OpenRouter and others put the status into an error in the middle of the stream, as its code. */
function statusOf(error: OneError | undefined): number | undefined {
  const candidates = [error?.status, Number(error?.error?.code), Number(error?.code)];
  return candidates.find((status) => status !== undefined && status >= 400 && status < 600);
}

/** A connection error says only that there was one; its deepest cause says which. */
function detailOf(first: OneError | undefined, last: OneError | undefined): string {
  if (first?.issues?.[0]) {
    const { path, message } = first.issues[0];
    return `${path.join(".") || "chunk"}: ${message}`;
  }
  const own = first?.error?.message || first?.message.replace(/^\d{3} /, "") || "";
  const inner = first?.error?.metadata?.raw ?? (last === first ? "" : last?.message);
  if (!inner) return own;
  return NO_NEWS.test(own) ? inner : `${own.replace(/\.$/, "")}: ${inner}`;
}

/** Seconds or an HTTP date, as milliseconds from now. */
function retryAfter(headers: Headers, now: number): number | undefined {
  const precise = Number(headers.get("retry-after-ms") || Number.NaN);
  if (Number.isFinite(precise)) return Math.max(0, precise);
  const value = headers.get("retry-after")?.trim();
  if (!value) return undefined;
  const seconds = Number(value);
  if (Number.isFinite(seconds)) return Math.max(0, Math.round(seconds * 1000));
  const date = Date.parse(value);
  return Number.isNaN(date) ? undefined : Math.max(0, date - now);
}
