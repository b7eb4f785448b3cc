// Refusals of a part of a request in the words of others: of a long conversation, a key, a bill or a model.
import { expect, test } from "vitest";
import { apiError, faultOf } from "./support/api-errors.ts";

test.each([
  ["OpenAI", "Invalid value for 'tools[0].function.description': length exceeds the limit of 1024"],
  ["a gateway", "Invalid parameter: number of tools exceeds the limit of 128"],
  ["DashScope", "InternalError.Algo.InvalidParameter: Exceeded limit on max bytes per data-uri item : 10485760"],
  ["LiteLLM", "Unknown parameter: 'messages[1].x'. Model Group=m Context Window Fallbacks=None"],
  ["Mistral", "Unsupported value: tool_calls[0].id exceeds the maximum length of 9"],
  ["pydantic", "Unexpected value: {'input': 'Please raise the context size of the window'}"],
  ["a parser", "Invalid parameter: an invalid token in the JSON of the arguments"],
  ["a proxy", "Invalid field: billing_metadata is not supported"],
])("%s refuses a part of the request, and nothing is learnt from a number in its words", (_, message) => {
  expect(faultOf(apiError(400, { message }))).toMatchObject({ kind: "bad-request" });
  expect(faultOf(apiError(400, { message }))).not.toHaveProperty("limits");
});
