import { expect, test } from "vitest";
import { withoutSecrets } from "../../../agent-core/agent/session-record.ts";

const tool = (content: string) => ({ role: "tool", tool_call_id: "c", content }) as const;
const environment = {
  GITHUB_TOKEN: "hush-hush-hush",
  DB_PASSWORD: "correct horse",
  HOME: "/home/someone",
  API_KEY: "short",
};

test("tool output is stored without values of secret variables and without text that looks like a key", () => {
  const printed = tool("token hush-hush-hush, correct horse, key sk-abcdef123456, at /home/someone");
  expect(withoutSecrets(printed, environment)).toEqual(tool("token [key], [key], key [key], at /home/someone"));
});

test("messages of the user and the model are stored unchanged", () => {
  const said = { role: "user", content: "use hush-hush-hush" } as const;
  expect(withoutSecrets(said, environment)).toBe(said);
});

test("a result without secrets is the same message, so that a resumed session sends the same bytes", () => {
  const plain = tool("1|one");
  expect(withoutSecrets(plain, environment)).toBe(plain);
});
