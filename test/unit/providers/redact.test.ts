import { expect, test } from "vitest";
import { holdsValue, redact } from "../../../agent-core/providers/redact.ts";

test.each([
  ["sk-proj-abc123DEF456ghi789", "an OpenAI key"],
  ["sk-ant-api03-abc_DEF-123456", "an Anthropic key"],
  ["sk-or-v1-0123456789abcdef", "an OpenRouter key"],
  ["sk-abcd********wxyz", "a key as it is echoed"],
  ["ghp_0123456789abcdefghij", "a GitHub token"],
  ["AIzaSyA-0123456789_abcdef", "a Google key"],
  ["gsk_0123456789abcdefghij", "a Groq key"],
  ["eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2lnbmF0dXJl", "a web token"],
])("redaction hides %s", (secret) => {
  expect(redact(`before ${secret} after`)).toBe("before [key] after");
});

test.each([
  ["Authorization: Bearer abcdef123456", "Authorization: Bearer [key]"],
  ['{"api_key": "abcdef123456"}', '{"api_key": "[key]"}'],
  ["https://h/x?X-Amz-Signature=abcdef123&y=1", "https://h/x?X-Amz-Signature=[key]&y=1"],
  ["Cookie: session=abcdef123456; a=b", "Cookie: [key]; a=b"],
  ["http://user:passw0rd@host/v1", "http://host/v1"],
])("redaction hides the value in %s", (text, clean) => {
  expect(redact(text)).toBe(clean);
});

test("redaction hides a given secret of any shape, but not a local server's placeholder", () => {
  expect(redact("my own secret value", ["own secret"])).toBe("my [key] value");
  expect(redact("none is set", ["none", undefined])).toBe("none is set");
});

test.each([
  "The model gpt-4.1 does not exist",
  "Limit 30000 tokens per minute, max_tokens: 4096",
  "task-based risk-averse tokens=12",
  "see https://platform.openai.com/docs/api-keys",
  "wrong password",
])("redaction leaves ordinary words alone: %s", (text) => {
  expect(redact(text)).toBe(text);
});

test.each([
  ["in capital hexadecimal digits", Buffer.from("correct-horse-battery").toString("hex").toUpperCase()],
  ["in base64 with bytes before it", Buffer.from("xcorrect-horse-battery").toString("base64")],
  ["in base64 of a URL", Buffer.from("xycorrect-horse-battery").toString("base64url")],
  ["backwards", [..."correct-horse-battery"].toReversed().join("")],
  ["in percent signs of percent signs", "correct%252Dhorse%252Dbattery"],
  ["cut by labels", "636f7272.6563742d686f727365.2d62617474657279"],
  ["by half", "q=correct-hor&x"],
])("a secret is seen %s", (_, text) => {
  expect(holdsValue(`https://example.com/?${text}`, ["correct-horse-battery"])).toBe(true);
  expect(holdsValue(`https://example.com/?${text}`, ["another-horse-entirely"])).toBe(false);
});
