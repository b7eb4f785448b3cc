import { expect, test } from "vitest";
import { parseCommandLine } from "../../../agent-core/entry/command-line.ts";
import { elsewhereText } from "../../../agent-core/entry/help.ts";
import { parseJobsLine } from "../../../agent-core/entry/jobs-command.ts";

test.each([
  ["plugins", "foo"],
  ["plugins", "list", "a", "b"],
  ["skills", "foo"],
  ["mcp", "foo"],
])("a command with unknown words is an error that lists its commands: %s %s", (...words) => {
  expect(parseCommandLine(words)).toMatchObject({
    kind: "invalid",
    message: expect.stringMatching(/has no command ".*"\. Available: list, .*\. Put a prompt into quotes\.$/),
  });
});

test.each([
  ["cron", "foo"],
  ["cron", "list", "foo"],
  ["learning", "foo"],
  ["learning", "forget", "a", "b"],
  ["learning", "undo", "a", "b"],
])("so is one of planned jobs and of learning: %s %s", (...words) => {
  expect(() => parseJobsLine(words)).toThrow(/has no command ".*"\. Available: /);
});

test.each(["undo", "forget", "pin", "unpin", "accept"])("learning %s takes the id of an item", (verb) => {
  expect(() => parseJobsLine(["learning", verb])).toThrow(
    `learning ${verb} needs an id; hermes learning state shows them`,
  );
  expect(parseJobsLine(["learning", verb, "f-1"])).toMatchObject({ kind: "jobs" });
});

test("the usual letters stand for options, and -c continues the last session", () => {
  expect(parseCommandLine(["-y", "-m", "big", "-c", "go on"])).toMatchObject({
    kind: "run",
    options: { prompt: "go on", allowAll: true, model: "big", resume: "last" },
  });
  expect(parseCommandLine(["-r", "the parser", "go on"])).toMatchObject({ options: { resume: "the parser" } });
  expect([parseCommandLine(["-h"]).kind, parseCommandLine(["-v"]).kind]).toEqual(["help", "version"]);
});

test("doctor takes no argument, and options follow cron and learning", () => {
  expect(parseCommandLine(["doctor", "x"])).toMatchObject({ kind: "invalid" });
  expect(parseCommandLine(["--json", "cron", "list"])).toMatchObject({ kind: "invalid" });
  for (const word of ["--help", "-h", "help"]) expect(parseJobsLine(["cron", word])).toBeUndefined();
});

test("quoted words are a prompt, whatever they begin with", () => {
  expect(parseCommandLine(["cron jobs fail, why?"])).toMatchObject({ kind: "run" });
  expect(parseCommandLine(["explain", "plugins"])).toMatchObject({
    kind: "run",
    options: { prompt: "explain plugins" },
  });
});

test.each([
  [["docter"], "Did you mean `hermes doctor`? A prompt: hermes -- docter"],
  [["--json", "Skill"], "Did you mean `hermes skills`?"],
  [["plugin", "list"], "Did you mean `hermes plugins list`?"],
  [["skil", "install", "a/b"], "Did you mean `hermes skills install a/b`?"],
  [["corn"], "Did you mean `hermes cron`?"],
])("a mistyped command is an error with the right one: %s", (words, hint) => {
  expect(parseCommandLine(words)).toMatchObject({ kind: "invalid", message: expect.stringContaining(hint) });
});

test.each([
  [["explain"], "explain"],
  [["plugin", "system", "of", "vite"], "plugin system of vite"],
  [["--", "docter"], "docter"],
  [["--", "mcp", "list"], "mcp list"],
  [["--yes", "--", "cron"], "cron"],
  [["/skills"], "/skills"],
  [["/learning", "run"], "/learning run"],
])("other words, and all words after --, are a prompt: %s", (words, prompt) => {
  expect(parseCommandLine(words)).toMatchObject({ kind: "run", options: { prompt } });
});

test("hermes help is --help, also beside a command, and --device belongs to a sign-in", () => {
  for (const words of [["help"], ["help", "cron"], ["mcp", "help"], ["hooks", "help"]]) {
    expect(parseCommandLine(words)).toEqual({ kind: "help" });
  }
  expect(parseCommandLine(["help", "me"])).toMatchObject({ kind: "run", options: { prompt: "help me" } });
  expect(parseCommandLine(["mcp", "login", "x", "--device"])).toMatchObject({
    kind: "run",
    options: { prompt: "/mcp login x --device --wait", isTransient: true },
  });
  for (const words of [["mcp", "list"], ["doctor"], ["hello"]]) {
    expect(parseCommandLine([...words, "--device"])).toMatchObject({ kind: "invalid" });
  }
});

test.each([
  [["hooks"], "/hooks"],
  [["hooks", "list"], "/hooks"],
  [["hooks", "allow", "1", "3"], "/hooks allow 1 3"],
  [["tools"], "/tools"],
  [["memory"], "/memory"],
  [["model", "list"], "/model"],
])("some slash commands are commands of the command line, too: %s", (words, prompt) => {
  expect(parseCommandLine(words)).toMatchObject({ kind: "run", options: { prompt, isTransient: true } });
});

test("a slash command is no mistyped command", () => {
  for (const prompt of ["/skills", " /skills"]) {
    expect(parseCommandLine([prompt])).toMatchObject({ kind: "run", options: { prompt } });
  }
});

test("a command of similar agents names what serves its purpose, and a sentence with its word is a prompt", () => {
  for (const words of [
    ["chat"],
    ["sessions", "list"],
    ["config", "show"],
    ["setup"],
    ["gateway", "start"],
    ["models"],
    ["import"],
    ["status"],
    ["sessions", "export", "out.jsonl"],
    ["config", "set", "model.default", "m"],
  ]) {
    const parsed = parseCommandLine(words);
    expect(parsed.kind === "elsewhere" && elsewhereText(parsed.command, parsed.words)).toMatch(
      /^there is no command "\w+": .*\. A prompt: hermes -- [\w. ]+$/,
    );
  }
  expect(parseCommandLine(["model", "gpt-5"])).toMatchObject({
    kind: "invalid",
    message: expect.stringContaining('hermes --model NAME "prompt" uses one. A prompt: hermes -- model gpt-5'),
  });
  expect(parseCommandLine(["tools", "enable", "web"])).toMatchObject({
    kind: "invalid",
    message: 'tools has no command "enable web". Available: list. Put a prompt into quotes.',
  });
  for (const words of [
    ["config", "is", "wrong"],
    ["tools", "of", "the", "trade"],
    ["hooks", "fail"],
    ["chat", "with", "me"],
  ]) {
    expect(parseCommandLine(words)).toMatchObject({ kind: "run", options: { prompt: words.join(" ") } });
  }
});
