/** Takes out of a request's body what the model was found not to take. */
import type { ModelRequest } from "./wire.ts";

/** The body itself when there is nothing to take out. */
export function omitParameters<Body extends object>(body: Body, { omittedParameters = [] }: ModelRequest): Body {
  if (omittedParameters.length === 0) return body;
  const entries = Object.entries(body).filter(([name]) => !omittedParameters.includes(name));
  return Object.fromEntries(entries) as Body; // required ones are never among them (refused-parameter.ts)
}
