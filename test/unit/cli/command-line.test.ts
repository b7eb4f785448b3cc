import { execFileSync } from "node:child_process";
import { expect, test } from "vitest";
import { type CommandLine, definitionOf, parseCommandLine } from "../../../cli/command-line.ts";
import { helpText } from "../../../cli/help.ts";
import { subcommands } from "../../../cli/subcommands.ts";

/** The parsed line without its code. */
async function parsed(...words: readonly string[]) {
  const line: CommandLine = await parseCommandLine(words);
  if (line.kind !== "run") return line;
  const { verb, operands, values } = line.invocation;
  return { kind: line.kind, name: line.name, verb, operands, values };
}

/** The prompt of a line that is one. */
async function prompt(...words: readonly string[]): Promise<string> {
  const line = await parsed(...words);
  return line.kind === "run" && line.name === "" ? line.operands.join(" ") : `no prompt: ${JSON.stringify(line)}`;
}

test.each([
  ["plugins", "foo"],
  ["plugins", "list", "a", "b"],
  ["skills", "foo"],
  ["mcp", "foo"],
  ["cron", "foo"],
  ["cron", "list", "foo"],
  ["learning", "foo"],
  ["learning", "forget", "a", "b"],
  ["learning", "undo", "a", "b"],
  ["tools", "enable", "web"],
  ["hooks", "fail"],
])("a command with unknown words is an error that lists its commands: %s %s", async (...words) => {
  await expect(parsed(...words)).rejects.toThrow(
    /has no command ".*"\. Available: (?:list|state).*\. Put a prompt into quotes\.$/,
  );
});

test.each(["undo", "forget", "pin", "unpin", "accept"])("learning %s takes the id of an item", async (verb) => {
  await expect(parsed("learning", verb)).rejects.toThrow(
    `learning ${verb} needs an id; hermes learning state shows them`,
  );
  expect(await parsed("learning", verb, "f-1")).toMatchObject({ name: "learning", verb, operands: ["f-1"] });
});

test("the usual letters stand for options, and -c continues the last session", async () => {
  expect(await parsed("-y", "-m", "big", "-c", "go on")).toMatchObject({
    operands: ["go on"],
    values: { yes: true, model: "big", continue: true },
  });
  expect(await parsed("-r", "the parser", "go on")).toMatchObject({ values: { resume: "the parser" } });
  const version = { kind: "version" };
  expect([await parsed("-h"), await parsed("-v"), await parsed("version")]).toEqual([
    { kind: "help" },
    version,
    version,
  ]);
});

test("options stand before or after a command that has them, and underscores stand for hyphens", async () => {
  for (const words of [
    ["--cwd", "/", "doctor"],
    ["doctor", "--cwd", "/"],
  ]) {
    expect(await parsed(...words)).toMatchObject({ name: "doctor", values: { cwd: "/" } });
  }
  await expect(parsed("doctor", "x")).rejects.toThrow("doctor takes no argument. Put a prompt into quotes.");
  await expect(parsed("--json", "cron", "list")).rejects.toThrow(
    "Unknown option '--json'. hermes cron --help lists the options.",
  );
  await expect(parsed("cron", "list", "--name", "x")).rejects.toThrow("--name belongs to hermes cron create, update");
  await expect(parsed("--no_such", "hi")).rejects.toThrow("Unknown option '--no-such'.");
});

test.each(["--help", "-h", "help"])("%s after a command prints its own help", async (word) => {
  expect(await parsed("cron", word)).toEqual({ kind: "help", name: "cron" });
});

test.each([
  [["docter"], "Did you mean `hermes doctor`? A prompt: hermes -- docter"],
  [["--json", "Skill"], "Did you mean `hermes skills`?"],
  [["plugin", "list"], "Did you mean `hermes plugins list`?"],
  [["skil", "install", "a/b"], "Did you mean `hermes skills install …`?"],
  [["corn"], "Did you mean `hermes cron`?"],
])("a mistyped command is an error with the right one: %s", async (words, hint) => {
  await expect(parsed(...words)).rejects.toThrow(hint);
});

test.each([
  [["explain"], "explain"],
  [["explain", "plugins"], "explain plugins"],
  [["cron jobs fail, why?"], "cron jobs fail, why?"],
  [["plugin", "system", "of", "vite"], "plugin system of vite"],
  [["--", "docter"], "docter"],
  [["--", "mcp", "list"], "mcp list"],
  [["--yes", "--", "cron"], "cron"],
  [["help", "me"], "help me"],
  [["import", "is", "wrong"], "import is wrong"],
  [["/skills"], "/skills"],
  [[" /skills"], " /skills"],
  [["/learning", "run"], "/learning run"],
])("other words, and all words after --, are a prompt: %s", async (words, text) => {
  expect(await prompt(...words)).toBe(text);
});

test("hermes help is --help, also beside a command", async () => {
  expect(await parsed("help")).toEqual({ kind: "help" });
  for (const words of [
    ["help", "mcp"],
    ["mcp", "help"],
  ]) {
    expect(await parsed(...words)).toEqual({ kind: "help", name: "mcp" });
  }
});

test("a command of similar agents names what serves its purpose", async () => {
  for (const words of [["models"], ["import"], ["status"], ["update"], ["login", "openai"]]) {
    await expect(parsed(...words)).rejects.toThrow(/^there is no command "\w+": .*\. A prompt: hermes -- [\w. ]+$/);
  }
  const { command } = await import("../../../cli/commands/model.ts");
  await expect(command.run({ verb: "", operands: ["gpt-5"], values: { cwd: "/" } }, subcommands)).rejects.toThrow(
    'hermes --model NAME "prompt" uses one. A prompt: hermes -- model gpt-5',
  );
});

test.each(Object.keys(subcommands))("hermes %s --help shows usage, options and examples", async (name) => {
  const text = await helpText(name);
  expect(text).toMatch(new RegExp(`^hermes ${name}: .*\\.\\n\\nUsage:\\n {2}hermes ${name}`));
  expect(text).toContain("-h, --help");
  const { examples } = await definitionOf(name);
  expect(examples.length).toBeGreaterThan(0);
  for (const [line] of examples) expect(text).toContain(`\n  hermes ${line}\n`);
  expect(await helpText()).toMatch(new RegExp(`^ {2}${name} +\\w`, "m"));
});

/** Output of `hermes completion SHELL`. */
async function completionOf(verb: "bash" | "fish" | "zsh"): Promise<string> {
  let script = "";
  const { command } = await import("../../../cli/commands/completion.ts");
  const { write } = process.stdout;
  process.stdout.write = (text) => {
    script += String(text);
    return true;
  };
  await command.run({ verb, operands: [], values: {} }, subcommands).finally(() => {
    process.stdout.write = write;
  });
  return script;
}

test("bash completes commands, their verbs and their options", async () => {
  const script = await completionOf("bash");
  const offered = (...words: readonly string[]): string => {
    const line = `COMP_WORDS=(${["hermes", ...words].map((word) => `'${word}'`).join(" ")}); COMP_CWORD=${words.length}`;
    const shell = `${script}\n${line}\n_hermes; echo "\${COMPREPLY[*]}"`;
    return execFileSync("bash", ["-c", shell], { encoding: "utf8" }).trim();
  };
  expect(offered("doc")).toBe("doctor");
  expect(offered("skills", "un")).toBe("uninstall");
  expect(offered("mcp", "signin", "--js")).toBe("--json");
  expect(offered("--cwd", "")).toBe("");
});

test("fish completes commands, verbs, options and their values", async () => {
  const script = await completionOf("fish");
  const offered = (line: string): string[] =>
    execFileSync("fish", ["--no-config", "-c", `${script}\ncomplete -C '${line}'`], { encoding: "utf8" })
      .split("\n")
      .flatMap((each) => each.split("\t", 1));
  expect(offered("hermes doc")).toContain("doctor");
  expect(offered("hermes config mi")).toContain("migrate");
  expect(offered("hermes serve --li")).toContain("--listen");
  expect(offered("hermes --mode p")).toContain("plan");
});

test("zsh offers the words of a command line, and values for an option", async () => {
  const script = await completionOf("zsh");
  // The shell's own parts of completion, which only an interactive one has.
  const parts = "compdef() { : }; _files() { print files }; compadd() { print -l $@ }; _describe() { print -l $found }";
  const offered = (...words: readonly string[]): string => {
    const line = `words=(hermes ${words.map((word) => `'${word}'`).join(" ")}); CURRENT=${words.length + 1}`;
    return execFileSync("zsh", ["-f", "-c", `${parts}\n${script}\n${line}\n_hermes`], { encoding: "utf8" });
  };
  expect(offered("")).toMatch(/^doctor:check/m);
  expect(offered("config", "")).toMatch(/^migrate:/m);
  expect(offered("--mode", "")).toBe("ask\ncode\nplan\nauto\n");
});
