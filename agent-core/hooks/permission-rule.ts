/** Rules in the syntax of Claude Code's permissions, such as `Bash(git *)`: the calls that the `if` of a hook selects. */
import { homedir } from "node:os";
import { commandsIn } from "../approval/parse-command.ts";
import { wrappers } from "../approval/rules/wrappers.ts";
import { globMatcher } from "../host/search-rules.ts";
import { matchesWildcards } from "../platform/wildcards.ts";
import { coversName, type ForeignCall } from "./foreign-calls.ts";

/** Test of a call in `folder`; undefined for text that is not a rule. A call that the rule cannot read is selected. */
export function permissionRule(rule: string, folder: string): ((call: ForeignCall) => boolean) | undefined {
  const [, name, content = "*"] = /^([\w*-]+)(?:\((.*)\))?$/s.exec(rule.trim()) ?? [];
  if (name === undefined) return undefined;
  // Claude Code's rules for Edit hold for all tools that change files.
  const covers = (tool: string): boolean => matchesWildcards(name, tool) || (name === "Edit" && tool === "Write");
  const selects = content === "*" || content === "" ? () => true : contentTest(content, folder);
  return (call) => coversName(covers, call.name) && selects(call.input);
}

function contentTest(content: string, folder: string): (input: ForeignCall["input"]) => boolean {
  const isPath = pathTest(content, folder);
  const [, field = "", value = content] = /^(\w+):(.*)$/s.exec(content) ?? [];
  return (input) => {
    const { command, file_path: path = input["path"] } = input;
    if (typeof command === "string") return commandLines(command)?.some((line) => isCommand(content, line)) ?? true;
    if (typeof path === "string") return isPath(path);
    const values = field in input ? [input[field]] : Object.values(input);
    const texts = values.flat().filter((each) => typeof each === "string");
    const hosts = texts.map((text) => URL.parse(text)?.hostname ?? text);
    return (field === "domain" ? hosts : texts).some((text) => matchesWildcards(value, text));
  };
}

/** Its commands, and those that a wrapper such as `timeout` starts; undefined for a line that cannot be read in full. */
function commandLines(line: string): readonly string[] | undefined {
  const started = commandsIn(line)?.flatMap((words) =>
    wrappers.has(words[0] ?? "") ? words.map((_, at) => words.slice(at)) : [words],
  );
  return started?.map((words) => words.join(" "));
}

/** `git *` and `git:*` also select `git` alone, and no other program whose name begins so. */
function isCommand(content: string, line: string): boolean {
  const pattern = content.replace(/:\*$/, " *");
  return matchesWildcards(pattern, line) || (pattern.endsWith(" *") && matchesWildcards(pattern.slice(0, -2), line));
}

/** `//` begins at the root, `~/` at the home, `/` at the workspace; others hold at any depth of it. */
function pathTest(content: string, folder: string): (path: string) => boolean {
  if (content.startsWith("//")) return globMatcher(content.slice(2), "/");
  if (content.startsWith("~/")) return globMatcher(content.slice(2), homedir());
  return globMatcher(content.replace(/^\.?\//, ""), folder);
}
