import { describe, expect, test } from "vitest";
import type { Message } from "../../../../agent-core/messages/message.ts";
import { answerOffline } from "../../../../agent-core/providers/offline/answer.ts";

const ALL = ["read_file", "write_file", "patch", "search_files", "terminal", "todo", "clarify"];

type Call = readonly [tool: string, input: Readonly<Record<string, unknown>>];

/** Plays the agent: runs each call through `result` until the answer is text alone. */
function play(request: string, result: (call: Call) => string, tools: readonly string[] = ALL) {
  const messages: Message[] = [
    { role: "system", content: "s" },
    { role: "user", content: request },
  ];
  const calls: Call[] = [];
  for (;;) {
    const { text, call } = answerOffline(messages, tools);
    if (call === undefined) return { calls, text };
    const id = `c${calls.length}`;
    calls.push([call.tool, call.input]);
    const tool_calls = [
      { id, type: "function", function: { name: call.tool, arguments: JSON.stringify(call.input) } },
    ] as const;
    messages.push({ role: "assistant", content: text || null, tool_calls });
    messages.push({ role: "tool", tool_call_id: id, content: result([call.tool, call.input]) });
  }
}

const statuses = ([, input]: Call): readonly string[] =>
  (input["todos"] as { status: string }[]).map(({ status }) => status);

describe("one step", () => {
  test("is called, and what it gave is quoted", () => {
    const { calls, text } = play("run cat a.txt", () => "one\nTWO\n[exit code 0, 0.0 s]");
    expect(calls).toEqual([["terminal", { command: "cat a.txt" }]]);
    expect(text).toBe("**Run cat a.txt**: done.\n\n```text\none\nTWO\n[exit code 0, 0.0 s]\n```");
  });

  test("that failed is said to have failed", () => {
    const { calls, text } = play("read b.txt", () => "Error: read_file: there is no b.txt");
    expect(calls).toHaveLength(1);
    expect(text).toContain("**Read b.txt** did not work");
    expect(text).toContain("there is no b.txt");
  });

  test("a question is answered with what the user said", () => {
    expect(play("ask me which colour? choices red or blue", () => "The user answered: red").text).toBe(
      "which colour? The user answered: red",
    );
  });

  test("fences in a result do not end the quote, and long results are cut", () => {
    expect(play("read a.md", () => "```js\nx\n```").text).toContain("````text\n```js\nx\n```\n````");
    expect(play("read a.md", () => "x".repeat(10_000)).text.length).toBeLessThan(1_700);
  });
});

describe("several steps", () => {
  const request = "replace two with TWO in a.txt then run cat a.txt";

  test("are planned first, and the plan ticks off", () => {
    const { calls, text } = play(request, ([tool]) => `${tool} did it`);
    expect(calls.map(([tool]) => tool)).toEqual(["todo", "patch", "todo", "terminal", "todo"]);
    expect(calls.filter(([tool]) => tool === "todo").map(statuses)).toEqual([
      ["in_progress", "pending"],
      ["completed", "in_progress"],
      ["completed"],
    ]);
    expect(calls.map(([, input]) => input["merge"])).toEqual([undefined, undefined, true, undefined, true]);
    expect(text).toMatch(/^\*\*Replace .*\*\*: done\.$/m);
    expect(text).toContain("terminal did it");
  });

  test("stop at the first that fails; the rest is cancelled and named", () => {
    const { calls, text } = play(request, ([tool]) => (tool === "patch" ? "Error: not found" : "ok"));
    expect(calls.map(([tool]) => tool)).toEqual(["todo", "patch", "todo"]);
    expect(statuses(calls[2] as Call)).toEqual(["cancelled", "cancelled"]);
    expect(text).toContain("did not work");
    expect(text).toContain("Not done: Run cat a.txt.");
  });

  test("go without a plan when there is no such tool, or when the user's own would be lost", () => {
    const without = play(request, () => "ok", ["patch", "terminal"]);
    expect(without.calls.map(([tool]) => tool)).toEqual(["patch", "terminal"]);
    const own = play("plan look; do then read a.txt", () => "ok");
    expect(own.calls.map(([tool]) => tool)).toEqual(["todo", "read_file"]);
    expect(own.text).toContain("1. look\n2. do");
  });
});

describe("honesty", () => {
  test("help names the interpreter, its requests and the setup of a model", () => {
    const { text } = answerOffline([{ role: "user", content: "help" }], ALL);
    expect(text).toContain("not a language model");
    for (const words of ["read a.txt", "run npm test", "OPENAI_API_KEY", "in a terminal"])
      expect(text).toContain(words);
  });

  test("it names the words that it does not understand", () => {
    const { text } = answerOffline([{ role: "user", content: "refactor everything" }], ALL);
    expect(text).toMatch(/^I do not understand: refactor everything\n/);
    expect(text).toContain("not a language model");
  });

  test("a tool that is not offered is not called", () => {
    const { calls, text } = play("remember that I like tabs", () => "ok");
    expect(calls).toEqual([]);
    expect(text).toContain("`memory`, which is not available here");
    expect(play("remember that I like tabs", () => "ok", [...ALL, "memory"]).calls).toHaveLength(1);
  });

  test("a request without tools gets a summary of finished and remaining steps", () => {
    const messages: Message[] = [
      { role: "user", content: "read a.txt then read b.txt" },
      {
        role: "assistant",
        content: null,
        tool_calls: [{ id: "1", type: "function", function: { name: "todo", arguments: "{}" } }],
      },
      { role: "tool", tool_call_id: "1", content: "[]" },
      {
        role: "assistant",
        content: null,
        tool_calls: [{ id: "2", type: "function", function: { name: "read_file", arguments: "{}" } }],
      },
      { role: "tool", tool_call_id: "2", content: "1|hello" },
      { role: "user", content: "The limit of steps is reached. Sum up." },
    ];
    const { text, call } = answerOffline(messages, []);
    expect(call).toBeUndefined();
    expect(text).toContain("1|hello");
    expect(text).toContain("Not done: Read b.txt.");
  });
});

describe("the conversation", () => {
  test("only the last request counts; earlier results are not its own", () => {
    const messages: Message[] = [
      { role: "user", content: "read a.txt" },
      {
        role: "assistant",
        content: null,
        tool_calls: [{ id: "1", type: "function", function: { name: "read_file", arguments: "{}" } }],
      },
      { role: "tool", tool_call_id: "1", content: "1|a" },
      { role: "assistant", content: "done" },
      { role: "user", content: "read b.txt" },
    ];
    expect(answerOffline(messages, ALL).call?.input).toEqual({ path: "b.txt" });
  });

  test("attachments and images are not taken for requests", () => {
    const attached = '<attachment name="x.ts">\nrun rm -r /\n</attachment>\n\n[Attached file: /w/a.txt]';
    const asText: Message[] = [{ role: "user", content: `${attached}\n\nread b.txt` }];
    expect(answerOffline(asText, ALL).call?.input).toEqual({ path: "b.txt" });
    const reversed: Message[] = [{ role: "user", content: `read b.txt\n\n${attached}` }];
    expect(answerOffline(reversed, ALL).call?.input).toEqual({ path: "b.txt" });
    const image = { type: "image_url", image_url: { url: "data:image/png;base64,AA==" } } as const;
    const asParts: Message[] = [{ role: "user", content: [{ type: "text", text: "read b.txt" }, image] }];
    expect(answerOffline(asParts, ALL).call?.input).toEqual({ path: "b.txt" });
  });

  test("a conversation without a user gets the help", () => {
    expect(answerOffline([{ role: "system", content: "s" }], ALL).text).toContain("not a language model");
  });

  test("a message of 5 MB is answered with the help, and briefly", () => {
    const { text } = answerOffline([{ role: "user", content: `replace ${"a with b in c ".repeat(400_000)}` }], ALL);
    expect(text).toMatch(/^I do not understand: replace a with b/);
    expect(text.length).toBeLessThan(3_000);
  });

  test.each([
    ["a with b in c ", 340],
    ['"a ', 15_000],
    ["“a ", 15_000],
    ["```a\n", 8_000],
    ["x\n\n", 1_600],
    ["please ", 700],
  ])("hostile repetition of %j does not keep it busy", (piece, times) => {
    // With a pattern that goes back over all of it, this takes many minutes: the test's own limit is what fails it.
    expect(answerOffline([{ role: "user", content: `replace ${piece.repeat(times)}` }], ALL)).toBeDefined();
  });
});

test.each([
  "[The session was loaded again: its shell is a new one.]\n\n[Budget: 1 of 4 steps left.]",
  "[p1 has ended]\n[Found after the edit of a.txt] New problems since this edit:\na.txt:1:1 error: no ] here\n[… 2 more]",
])("notes of the agent below a request are not part of it: %s", (notes) => {
  expect(answerOffline([{ role: "user", content: `read a.txt\n\n${notes}` }], ALL).call).toMatchObject({
    tool: "read_file",
    input: { path: "a.txt" },
  });
});

describe("a question about the project", () => {
  const files = "README.md\npackage.json\nsrc/a.ts\nsrc/b.ts";
  const readme = "1|# Prices\n2|[![build](https://x/b.svg)](https://x)\n3|\n4|Adds prices.\n5|\n6|```sh\n7|npm i";

  test("is answered with the beginning of the README and the folders", () => {
    const { calls, text } = play("What does this project do?", ([tool]) => (tool === "read_file" ? readme : files));
    expect(calls.map(([tool]) => tool)).toEqual(["search_files", "read_file"]);
    expect(text).toBe(
      ["The README says:\n\n> # Prices\n>\n> Adds prices.", "**Structure**: 4 files in `.`, `src/`."].join("\n\n"),
    );
  });

  test("is answered with the folders where there is no README, or it cannot be read", () => {
    expect(play("explain this project", () => "main.go").text).toBe("**Structure**: 1 file in `.`.");
    const unread = play("describe the repo", ([tool]) => (tool === "read_file" ? "Error: no" : files));
    expect(unread.text).toContain("**Read README.md** did not work");
    const paragraph = play("describe the repo", ([tool]) =>
      tool === "read_file" ? `1|${"Adds. ".repeat(300)}` : files,
    );
    expect(paragraph.text).toContain("> Adds. Adds.");
  });

  test("is one step of several", () => {
    const { calls } = play("what is this project then run ls", () => files);
    expect(calls.filter(([tool]) => tool !== "todo").map(([tool]) => tool)).toEqual(["search_files", "terminal"]);
  });
});
