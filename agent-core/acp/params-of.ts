/** Parameters of our own methods: what is wrong with them is said in the error itself. */
import { RequestError } from "@zed-industries/agent-client-protocol";
import type * as z from "zod";

/** Parses parameters; throws the protocol's error, which names the first field that is wrong. */
export function paramsOf<Schema extends z.ZodType>(schema: Schema): (raw: unknown) => z.infer<Schema> {
  return (raw) => {
    const parsed = schema.safeParse(raw);
    if (parsed.success) return parsed.data;
    const [issue] = parsed.error.issues;
    const field = issue === undefined || issue.path.length === 0 ? "params" : issue.path.join(".");
    throw RequestError.invalidParams({ field }, `${field}: ${issue?.message ?? "wrong"}`);
  };
}
