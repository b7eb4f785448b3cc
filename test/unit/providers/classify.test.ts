import OpenAI from "openai";
import { describe, expect, test } from "vitest";
import * as z from "zod";
import { classify } from "../../../agent-core/providers/classify.ts";
import type { FaultKind } from "../../../agent-core/providers/fault.ts";
import { withKeyAdvice } from "../../../agent-core/providers/fault-message.ts";
import { streamModel } from "../../../agent-core/providers/stream-model.ts";
import { requestTo } from "../../conformance/wire.ts";
import { startModelServer } from "../../support/model-server/model-server.ts";
import { apiError, faultOf, KEY } from "./support/api-errors.ts";

describe("HTTP status and what was said", () => {
  const cases: readonly (readonly [number, string, FaultKind, string?])[] = [
    [401, "Incorrect API key provided", "authentication"],
    [403, "Your account is not active", "authentication"],
    [403, "Key limit exceeded (monthly limit)", "billing"],
    [402, "Insufficient credits", "billing"],
    [402, "Usage limit reached, try again in 5 hours", "rate-limit"],
    [404, "The model `gpt-9` does not exist or you do not have access to it", "model-not-found", "model_not_found"],
    [404, "No endpoints found for x/y", "model-not-found"],
    [404, "Not Found", "unknown"],
    [413, "Request too large", "context-overflow"],
    [429, "Rate limit reached for requests", "rate-limit"],
    [
      429,
      "You exceeded your current quota, please check your plan and billing details",
      "billing",
      "insufficient_quota",
    ],
    [429, "The engine is currently overloaded", "overloaded"],
    [429, "Limit 30000 tokens per minute. Visit the billing page to raise it", "rate-limit"],
    [429, "Your rate limit is 600 requests per minute and 180,000 tokens per minute. Try again in 2 s.", "rate-limit"],
    [429, "maximum 1000 requests per minute or 200000 tokens per minute", "rate-limit"],
    [429, "Token rate limit 40000 exceeded. Current usage: 41200", "rate-limit"],
    [429, "on tokens per min (TPM): Limit 30000, Used 29000, Requested 2000. Try again in 2s.", "rate-limit"],
    [429, "The request queue is too long, please retry later", "rate-limit"],
    [400, "Loading model failed: out of memory", "bad-request"],
    [500, "the model is not loading", "server"],
    [
      400,
      "Unsupported parameter: 'max_tokens' is not supported with this model",
      "unsupported-parameter",
      "unsupported_parameter",
    ],
    [400, "Unknown parameter: 'context_length'", "unsupported-parameter"],
    [400, "Unknown parameter: 'messages[0].reasoning'", "bad-request"],
    [400, "temperature: Extra inputs are not permitted", "unsupported-parameter"],
    [400, "`temperature` is deprecated for this model.", "unsupported-parameter"],
    [400, "messages.1.content.0: Invalid `signature` in `thinking` block", "reasoning-rejected"],
    [400, "The encrypted content gAAA could not be verified.", "reasoning-rejected"],
    [404, "No endpoints found that support image input", "no-vision"],
    [400, "This model does not support images", "no-vision"],
    [400, "model x does not exist; image_url is only supported by others", "model-not-found", "model_not_found"],
    [400, "messages.1: thinking blocks of turns whose images are not supported: signature", "reasoning-rejected"],
    [400, "This model's maximum context length is 8192 tokens", "context-overflow", "context_length_exceeded"],
    [400, "prompt is too long: 210000 tokens > 200000 maximum", "context-overflow"],
    [400, "the request exceeds the available context size. try increasing it", "context-overflow"],
    [400, "invalid model ID: no such model", "model-not-found"],
    [400, "API key not valid. Please pass a valid API key.", "authentication"],
    [400, "Your credit balance is too low", "billing"],
    [400, "messages: roles must alternate", "bad-request"],
    [400, "Prompt length 45012 is over the model limit 32768", "context-overflow"],
    [400, "max tokens of 32768 exceeded", "context-overflow"],
    [400, "输入内容超过模型上限", "context-overflow"],
    [429, "The request of 42000 tokens exceeds the limit of 30000 tokens per minute", "context-overflow"],
    [429, "余额不足或无可用资源包,请充值。", "billing"],
    [400, "No models loaded. Please load a model", "model-not-found"],
    [400, "Argument not supported on this model: presencePenalty", "unsupported-parameter"],
    [400, "`temperature` and `top_p` cannot both be specified for this model.", "unsupported-parameter"],
    [400, "The content of the request was rejected by security policy", "filtered"],
    [400, "Prompt blocked by Llama Guard", "filtered"],
    [451, "The content you provided or machine outputted is not shown", "filtered"],
    [422, "Input validation error: `inputs` must have less than 4096 tokens. Given: 6000", "context-overflow"],
    [400, "The engine prompt length 9000 exceeds the max_model_len 8192. Please reduce prompt.", "context-overflow"],
    [400, "length of prompt_tokens (5000) must be less than max_seq_len (4096).", "context-overflow"],
    [400, "At most 1 image(s) may be provided in one prompt.", "image-rejected"],
    [400, "image dimensions 9000x9000 exceed the limit of 8000 pixels", "image-rejected"],
    [400, "messages.3.content.1.image: The image dimensions exceed max allowed size: 8000 pixels", "image-rejected"],
    [400, "Your request was rejected as a result of our safety system.", "filtered"],
    [403, "Your input was flagged for violence by the moderation", "filtered"],
    [400, "case sensitive input mismatch in tool name", "bad-request"],
    [
      400,
      "Item 'fc_1' of type 'function_call' was provided without its required 'reasoning' item",
      "reasoning-rejected",
    ],
    [400, "Item with id 'rs_1' not found. Items are not persisted when `store` is set to false.", "reasoning-rejected"],
    [400, "Reasoning input items can only be provided to a reasoning model.", "reasoning-rejected"],
    [400, "messages.2.assistant.reasoning_content: Extra inputs are not permitted", "reasoning-rejected"],
    [400, "Please remove the reasoning_content from your message to reduce network traffic.", "reasoning-rejected"],
    [400, "Missing `reasoning_content` field in the assistant message at message index 2.", "reasoning-missing"],
    [400, "The `reasoning_content` in the thinking mode must be passed back to the API.", "reasoning-missing"],
    [400, "thinking is enabled but reasoning_content is missing in assistant tool call message", "reasoning-missing"],
    [400, "'messages.2' : for 'role:assistant': property 'reasoning' is unsupported", "reasoning-rejected"],
    [400, "Unknown parameter: 'reasoning'.", "unsupported-parameter"],
    [422, "field required", "bad-request"],
    [500, "The server had an error", "server"],
    [500, "context size exceeded: the prompt is too long", "context-overflow"],
    [502, "validation error for messages.0", "bad-request"],
    [503, "Service unavailable", "overloaded"],
    [529, "Overloaded", "overloaded"],
    [521, "origin down", "server"],
    [504, "Gateway timeout", "timeout"],
    [418, "I'm a teapot", "bad-request"],
  ];
  for (const [status, message, kind, code] of cases) {
    test(`${status} ${message} is ${kind}`, () => {
      expect(faultOf(apiError(status, { message, code }))).toMatchObject({ kind, status });
    });
  }

  test("the inner provider's words count too", () => {
    const metadata = { raw: '{"error":{"message":"maximum context length is 4096"}}', provider_name: "x" };
    const fault = faultOf(apiError(400, { message: "Provider returned error", code: 400, metadata }));
    expect(fault.kind).toBe("context-overflow");
    expect(fault.message).toContain("The conversation is too long");
  });

  test.each([
    '{"docs":"https://docs.x.com/err","error":"prompt is too long: 210000 tokens > 200000 maximum"}',
    "See (https://docs.x.com),prompt is too long",
    "https://docs.x.com/errors。输入长度超过限制",
  ])("the words right behind a link count: %s", (raw) => {
    expect(faultOf(apiError(400, { message: "Provider returned error", metadata: { raw } })).kind).toBe(
      "context-overflow",
    );
  });
});

describe("errors without a status", () => {
  const cause = (code: string, message = code): Error =>
    new OpenAI.APIConnectionError({
      cause: new TypeError("fetch failed", { cause: Object.assign(new Error(message), { code }) }),
    });
  const cases: readonly (readonly [string, unknown, FaultKind])[] = [
    ["a refused connection", cause("ECONNREFUSED"), "network"],
    ["a name that is not found", cause("ENOTFOUND"), "network"],
    ["a certificate that is not trusted", cause("SELF_SIGNED_CERT_IN_CHAIN"), "network"],
    ["headers that do not come", cause("UND_ERR_HEADERS_TIMEOUT"), "timeout"],
    ["the library's timeout", new OpenAI.APIConnectionTimeoutError(), "timeout"],
    ["a timeout signal", new DOMException("The operation timed out", "TimeoutError"), "timeout"],
    [
      "a body that stops",
      new TypeError("terminated", { cause: Object.assign(new Error("other side closed"), { code: "UND_ERR_SOCKET" }) }),
      "cut-off",
    ],
    ["an abort that was not ours", new DOMException("This operation was aborted", "AbortError"), "cut-off"],
    ["broken JSON", new SyntaxError("Unexpected token '<'"), "malformed"],
    ["a chunk of another shape", z.object({ a: z.string() }).safeParse({ a: 1 }).error, "malformed"],
    [
      "overload in the stream",
      new OpenAI.APIError(undefined, { type: "overloaded_error", message: "Overloaded" }, undefined, undefined),
      "overloaded",
    ],
    [
      "a status as a code in the stream",
      new OpenAI.APIError(undefined, { code: 502, message: "Provider disconnected" }, undefined, undefined),
      "server",
    ],
    ["an error in the stream", new OpenAI.APIError(undefined, { message: "hm" }, undefined, undefined), "unexplained"],
    [
      "a response that failed for what it was asked",
      Object.assign(new Error("no"), { error: { code: "invalid_prompt", message: "no" } }),
      "bad-request",
    ],
    [
      "a response that failed for its image",
      Object.assign(new Error("no"), { error: { code: "image_too_large", message: "no" } }),
      "image-rejected",
    ],
    ["a string", "what?", "unknown"],
    ["nothing", undefined, "unknown"],
  ];
  test.each(cases)("%s", (_, error, kind) => {
    expect(faultOf(error).kind).toBe(kind);
  });
});

describe("messages", () => {
  test("a refused key: one line that says which, and where to set it", () => {
    const error = apiError(401, {
      message: `Incorrect API key provided: ${KEY}. Find yours at https://platform.openai.com`,
    });
    expect(faultOf(error)).toMatchObject({ message: "The key for openai was refused (401).", keyFor: "openai" });
    expect(withKeyAdvice(faultOf(error))).toBe(
      "The key for openai was refused (401). Set OPENAI_API_KEY in the environment or in ~/.hermes/.env.",
    );
  });

  test("a refusal for another reason than the key names it", () => {
    expect(withKeyAdvice(faultOf(apiError(403, { message: "Country, region, or territory not supported" })))).toBe(
      "The key for openai was refused (403): Country, region, or territory not supported. Set OPENAI_API_KEY in the environment or in ~/.hermes/.env.",
    );
  });

  test("a missing key is distinguished from a wrong one", () => {
    const endpoint = { provider: "custom", baseUrl: "http://127.0.0.1:1/v1", apiKey: undefined };
    expect(withKeyAdvice(classify(apiError(401, { message: "no" }), { endpoint, model: "m" }))).toBe(
      "127.0.0.1:1 needs a key, and none is set (401). Set HERMES_API_KEY in the environment or in ~/.hermes/.env.",
    );
  });

  test("a connection that fails: where to, and the cause underneath", () => {
    const cause = new TypeError("fetch failed", { cause: new Error("connect ECONNREFUSED 127.0.0.1:9") });
    expect(faultOf(new OpenAI.APIConnectionError({ cause })).message).toBe(
      "openai cannot be reached at https://api.openai.com: connect ECONNREFUSED 127.0.0.1:9. Check the address, the network and the proxy: network.proxy, VS Code's http.proxy and HTTPS_PROXY are read, scripts that choose a proxy (PAC) are not.",
    );
  });

  test("an endpoint without a name that cannot be reached is named once", () => {
    const endpoint = { provider: "custom", baseUrl: "http://127.0.0.1:1/v1", apiKey: undefined };
    const cause = new TypeError("fetch failed", { cause: new Error("connect ECONNREFUSED 127.0.0.1:1") });
    const fault = classify(new OpenAI.APIConnectionError({ cause }), { endpoint, model: "m" });
    expect(fault.message).toMatch(/^127\.0\.0\.1:1 cannot be reached: /);
  });

  test("a web page is named by its title", () => {
    const page = "<!DOCTYPE html>\n<html><head><title>502 Bad Gateway</title></head><body><h1>nginx</h1></body></html>";
    expect(faultOf(apiError(502, undefined, {}, page)).message).toBe(
      "openai failed with gpt-4.1 (502): 502 Bad Gateway. Try again, or choose another model.",
    );
  });

  test("never hold a key, in whatever part of the error it stands", () => {
    const said = `key ${KEY}, url https://u:pass-word-123@h/?api_key=abcdef123456&x=1, Authorization: Bearer eyJhbGciOi.eyJzdWIiOjF9.c2ln`;
    const errors = [
      apiError(400, { message: said }),
      apiError(500, undefined, {}, said),
      new OpenAI.APIConnectionError({ message: said, cause: new Error(said) }),
      new Error(said),
      said,
    ];
    for (const error of errors) {
      const { message } = faultOf(error);
      for (const secret of [KEY, "pass-word-123", "abcdef123456", "eyJhbGciOi"]) expect(message).not.toContain(secret);
    }
  });

  test("stay one line of bearable length", () => {
    const { message } = faultOf(apiError(400, { message: `first\nsecond ${"x".repeat(5_000)}` }));
    expect(message).not.toContain("\n");
    expect(message.length).toBeLessThan(400);
  });
});

describe("the provider's own words reach the user from any body", () => {
  const cases: readonly (readonly [string, unknown, string])[] = [
    ["a list (Gemini)", [{ error: { code: 400, message: "Missing thought_signature" } }], "Missing thought_signature"],
    ["detail (FastAPI)", { detail: "Model is loading" }, "Model is loading"],
    [
      "a list of details (Mistral)",
      { object: "error", message: { detail: [{ loc: ["body", "messages", 2], msg: "Not the same number of calls" }] } },
      "messages.2: Not the same number of calls",
    ],
    ["error as a text", { error: "model not loaded yet" }, "model not loaded yet"],
    ["a list of errors", { errors: [{ message: "quota" }] }, "quota"],
    ["a text as JSON", "out of order", "out of order"],
    ["an unknown object", { reason: "none given" }, '{"reason":"none given"}'],
  ];
  test.each(cases)("%s", async (_, body, said) => {
    const model = await startModelServer();
    model.script({ status: 400, body: JSON.stringify(body) });
    const events = streamModel(requestTo({ baseUrl: model.baseUrl }), "chat_completions", AbortSignal.timeout(9_000));
    const fault = (await events.next()).value;
    await model.stop();
    expect(JSON.stringify(fault?.type === "fault" && fault.fault.message)).toContain(JSON.stringify(said).slice(1, -1));
  });

  test("a body without a text is not quoted", () => {
    expect(faultOf(apiError(400, undefined)).message).toBe(
      "openai refused the request to gpt-4.1 (400). If it refuses each message, take the last one back with /undo, or choose another model.",
    );
  });
});

describe("a refusal of a parameter", () => {
  test.each([
    ["Kimi", "invalid temperature: only 1 is allowed for this model", "temperature"],
    ["a gateway to Anthropic", "`temperature` may only be set to 1 when thinking is enabled.", "temperature"],
    ["Bedrock", "The model returned the following errors: top_p: Extra inputs are not permitted", "top_p"],
    ["Groq", "`reasoning_effort` must be one of `none` or `default`", "reasoning_effort"],
    ["pydantic", "reasoning_effort: Input should be 'low', 'medium' or 'high'", "reasoning_effort"],
    ["xAI", "Reasoning effort 'max' is not supported by this model", "reasoning_effort"],
    ["Ollama", '"qwen2.5-coder:7b" does not support thinking', "reasoning_effort"],
    ["xAI, behind a colon", "Argument not supported on this model: stop", "stop"],
    ["older OpenAI", "Unrecognized request argument supplied: stream_options", "stream_options"],
    ["Azure", "Additional properties are not allowed ('stream_options' was unexpected)", "stream_options"],
    [
      "Gemini",
      'Invalid JSON payload received. Unknown name "frequency_penalty": Cannot find field.',
      "frequency_penalty",
    ],
    ["Go", 'json: unknown field "parallel_tool_calls"', "parallel_tool_calls"],
    ["DashScope", "The value of the enable_thinking parameter is restricted to True.", "enable_thinking"],
    ["a gateway", "store: this parameter is not allowed", "store"],
    ["vLLM", "parallel_tool_calls is not supported with grammar", "parallel_tool_calls"],
    ["llama.cpp", "temperature is not supported when grammar is used", "temperature"],
    ["a small server", "response_format of type json schema is not supported", "response_format"],
  ])("by %s names it in words of its own: %s", (_, words, parameter) => {
    expect(faultOf(apiError(400, { message: words }))).toMatchObject({ kind: "unsupported-parameter", parameter });
  });

  test.each([
    "Unknown parameter: 'input[3].reasoning'",
    "messages.4.thinking: Field required",
    "The requests must include a user message",
    "tools[3].function.parameters.temperature: unknown format",
    "Stop sequences were reached before the first word",
    "Invalid schema for function 'mcp__chroma__get': In context=('properties', 'include'), array schema missing items.",
    "Invalid 'messages[4].content': the text \"please raise max_tokens\" has an invalid surrogate",
    "messages.3: The final block in an assistant message cannot be `reasoning`.",
    "Invalid 'input[5].id': 'x'. Expected an ID that begins with 'rs' for 'reasoning' items.",
    "Remove duplicate 'reasoning' items from your input and try again.",
    "Value error, 'stop' and 'assistant' roles should alternate",
    "[{'loc': ('body', 'n'), 'msg': 'Input should be valid', 'input': {'text': 'set max_tokens'}}]",
    "BadRequestError: it must alternate. Received Model Group=x; optional_params: {'reasoning_effort': 'high'}",
    "model thinking: requires more system memory",
    "Upstream error from Mistral: Expected last role User or Tool",
    "Upstream error from Nebius: Invalid tool_choice",
    "No upstream configured for model x",
  ])("is no refusal of a part of a message or a tool, or in other words: %s", (words) => {
    expect(faultOf(apiError(400, { message: words })).kind).toBe("bad-request");
  });

  test.each(["tools[12].parameters", "input[3].summary", "messages.5"])(
    "is none of %s, which every request needs",
    (param) =>
      expect(faultOf(apiError(400, { message: "Unsupported value: 'reasoning' or 'store'", param })).kind).toBe(
        "bad-request",
      ),
  );
});

test.each([
  [400, "upstream connect error or disconnect/reset before headers. reset reason: connection timeout"],
  [400, "Model unloaded."],
  [400, "Upstream request failed"],
  [424, "Failed Dependency"],
])("a failure behind a server that passes it on as a refusal is tried again: %i %s", (status, words) => {
  expect(faultOf(apiError(status, { message: words })).kind).toBe("server");
});

describe("a refusal that names a limit", () => {
  /** Windows of 8,192 tokens, in the words of their servers. */
  test.each([
    [
      "OpenAI",
      400,
      "This model's maximum context length is 8192 tokens. However, your messages resulted in 9000 tokens (5000 in the messages, 4000 in the functions).",
    ],
    ["llama.cpp", 400, "the request exceeds the available context size (8192 tokens), try increasing it"],
    [
      "LM Studio",
      400,
      "Trying to keep the first 9000 tokens when context the overflows. However, the model is loaded with context length of only 8192 tokens, which is not enough.",
    ],
    ["Anthropic", 400, "prompt is too long: 9000 tokens > 8192 maximum"],
    ["Gemini", 400, "The input token count (9000) exceeds the maximum number of tokens allowed (8192)."],
    ["xAI", 400, "This model's maximum prompt length is 8192 but the request contains 9000 tokens."],
    ["Kimi", 400, "Invalid request: Your request exceeded model token limit: 8192"],
    ["DashScope", 400, "Range of input length should be [1, 8192]"],
    ["DashScope", 400, "<400> InternalError.Algo.InvalidParameter: Range of input length should be [1, 8192]"],
    ["a gateway", 400, "Invalid parameter error: the prompt is too long (9000 tokens, limit 8192)"],
    ["vLLM", 400, "Invalid value: the input tokens (9000) exceed the limit of 8192."],
    ["Bedrock", 400, "Unexpected field value: input length and the answer exceed the context limit: 9000 > 8192"],
    ["SGLang", 400, "Unknown argument error. The input (9000 tokens) is over the model limit, context length: 8192"],
    [
      "Mistral",
      400,
      "Prompt contains 9000 tokens and 0 draft tokens, too large for model with 8192 maximum context length",
    ],
    ["Cohere", 400, "too many tokens: total number of tokens in the prompt cannot exceed 8192 - received 9000."],
    ["Copilot", 400, "prompt token count of 9000 exceeds the limit of 8192"],
    ["TGI", 422, "Input validation error: `inputs` must have less than 8192 tokens. Given: 9000"],
    ["GitHub Models", 413, "Request body too large for gpt-4o model. Max size: 8192 tokens."],
    [
      "OpenRouter",
      400,
      "This endpoint's maximum context length is 8192 tokens. However, you requested about 9000 tokens (7000 of text input, 2000 of tool input).",
    ],
    ["Fireworks", 400, "The prompt is too long: 9000, model maximum context length: 8192"],
    [
      "Vertex",
      400,
      "Unable to submit request because the input token count is 9000 but model only supports up to 8192. Reduce the input token count and try again.",
    ],
    [
      "TensorRT-LLM",
      400,
      "The sum of prompt length (9000.0), query length (0) should not exceed max_num_tokens (8192)",
    ],
    ["a Chinese service", 400, "输入长度超过最大限制 8,192 tokens"],
  ])("of the window gives that of %s", (_, status, words) => {
    expect(faultOf(apiError(status, { message: words }))).toMatchObject({ kind: "context-overflow", limits: [8_192] });
  });

  test.each([
    [400, "maximum context length exceeded by model-2024-08-06"],
    [400, "the request is too long"],
    [400, "context length exceeded: limit 12"],
    [429, "The request of 42000 tokens exceeds the limit of 30000 tokens per minute"],
  ])("gives none where the text has none: %i %s", (status, words) => {
    const { kind, limits } = faultOf(apiError(status, { message: words }));
    expect([kind, limits]).toEqual(["context-overflow", undefined]);
  });
});

test.each([
  [400, "registry.ollama.ai/library/gemma3:4b does not support tools"],
  [400, '"auto" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set'],
  [404, "No endpoints found that support tool use."],
  [400, "`tools` is not supported by this model"],
  [400, "This model does not support function calling"],
  [500, "tools param requires --jinja flag"],
  [400, "Function calling is not enabled for models/gemma-3-27b-it"],
  [422, "tool calling is not supported by the selected model"],
])("a server without tool calls is refused once, with what helps: %i %s", (status, words) => {
  const fault = faultOf(apiError(status, { message: words }));
  expect(fault.kind).toBe("no-tools");
  expect(fault.message).toContain("Choose a model with tools, or start the server with its parser");
});
