import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { describe, expect, onTestFinished, test } from "vitest";
import { PythonFloat, pythonJson } from "../../../agent-core/platform/python-json.ts";
import { saveTrajectory, shareGpt } from "../../../agent-core/sessions/trajectory.ts";

const terminal = {
  name: "terminal",
  description: "Execute shell commands",
  parameters: { type: "object", properties: { command: { type: "string" } } },
};

const golden = readFileSync(join(import.meta.dirname, "golden-conversation.txt"), "utf8").trim();

describe("A conversation in ShareGPT's form", () => {
  test("equals the golden file byte for byte", () => {
    const conversation = shareGpt(
      [
        { position: 0, role: "user", text: "What Python version is installed?" },
        {
          position: 1,
          role: "assistant",
          text: "",
          reasoning: "The user wants to know the Python version. I should run python3 --version.",
          calls: [{ id: "call_abc123", name: "terminal", arguments: '{"command":"python3 --version"}' }],
        },
        { position: 2, role: "tool", text: "Python 3.11.6", callId: "call_abc123" },
        {
          position: 3,
          role: "assistant",
          text: "Python 3.11.6 is installed on this system.",
          reasoning: "Got the version. I can now answer the user.",
        },
      ],
      [terminal],
    );
    expect(pythonJson(conversation)).toBe(golden);
  });

  test("puts all results of an answer in one turn, with JSON as JSON", () => {
    const [, , gpt, tool] = shareGpt(
      [
        { position: 0, role: "user", text: "go" },
        {
          position: 1,
          role: "assistant",
          text: "Two at once.",
          calls: [
            { id: "a", name: "terminal", arguments: '{"command":"ls"}' },
            { id: "b", name: "read_file", arguments: "{broken" },
          ],
        },
        { position: 2, role: "tool", text: '{"exit":0,"list":[1,2]}', callId: "a" },
        { position: 3, role: "tool", text: "[not json", callId: "b" },
      ],
      [],
    );
    expect(gpt?.value).toBe(
      '<think>\n</think>\nTwo at once.\n<tool_call>\n{"name": "terminal", "arguments": {"command": "ls"}}\n</tool_call>\n<tool_call>\n{"name": "read_file", "arguments": {}}\n</tool_call>',
    );
    expect(tool?.value).toBe(
      '<tool_response>\n{"tool_call_id": "a", "name": "terminal", "content": {"exit": 0, "list": [1, 2]}}\n</tool_response>\n<tool_response>\n{"tool_call_id": "b", "name": "read_file", "content": "[not json"}\n</tool_response>',
    );
  });

  test("converts the tags of a scratchpad to thoughts", () => {
    const text = "<REASONING_SCRATCHPAD>\nwhy\n</REASONING_SCRATCHPAD>\nSo.";
    const [, , gpt] = shareGpt(
      [
        { position: 0, role: "user", text: "go" },
        { position: 1, role: "assistant", text },
      ],
      [],
    );
    expect(gpt?.value).toBe("<think>\nwhy\n</think>\nSo.");
  });
});

describe("JSON for Python's programs", () => {
  const values = {
    text: 'ü "x"\\\n\t\u0001\u2028',
    none: null,
    yes: true,
    empty: {},
    nothing: [],
    list: [1, -2.5, {}],
  };

  test.skipIf(!hasPython())("equals what Python writes", () => {
    const written = (indent: string): string =>
      execFileSync(
        "python3",
        ["-c", `import json,sys; print(json.dumps(json.load(sys.stdin), ensure_ascii=False${indent}), end="")`],
        { input: JSON.stringify(values), encoding: "utf8", env: { ...process.env, PYTHONIOENCODING: "utf8" } },
      );
    expect(pythonJson(values)).toBe(written(""));
    expect(pythonJson(values, 2)).toBe(written(", indent=2"));
  });

  test("writes a whole float with its point", () => {
    expect(pythonJson([new PythonFloat(12), new PythonFloat(0.5)])).toBe("[12.0, 0.5]");
  });
});

test("A saved trajectory is a member of gzip that the next one follows", async () => {
  const folder = mkdtempSync(join(tmpdir(), "trajectory-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const conversations = [{ from: "human" as const, value: "hi" }];
  for (const model of ["a", "b"]) await saveTrajectory(folder, { conversations, model }, { completed: true, now: 0 });
  await saveTrajectory(folder, { conversations, model: "c" }, { completed: false, now: 0 });
  const lines = gunzipSync(readFileSync(join(folder, "trajectory_samples.jsonl.gz")))
    .toString()
    .trim()
    .split("\n");
  expect(lines.map((line) => JSON.parse(line))).toMatchObject([{ model: "a" }, { model: "b", completed: true }]);
  expect(Object.keys(JSON.parse(lines[0] ?? ""))).toEqual(["conversations", "timestamp", "model", "completed"]);
  const failed = gunzipSync(readFileSync(join(folder, "failed_trajectories.jsonl.gz"))).toString();
  expect(JSON.parse(failed)).toMatchObject({ model: "c", completed: false });
});

function hasPython(): boolean {
  try {
    execFileSync("python3", ["--version"]);
    return true;
  } catch {
    return false;
  }
}
