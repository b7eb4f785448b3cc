import { expect, test } from "vitest";
import { ask, opaque } from "../../../agent-core/approval/command-effect.ts";
import { type Grammar, readOptions } from "../../../agent-core/approval/rules/options.ts";
import { programOf, type Rule } from "../../../agent-core/approval/rules/rule.ts";
import { knownArg, UNKNOWN_ARGS } from "../../../agent-core/approval/shell/arg.ts";

const GRAMMAR: Grammar = { short: "ab:c::", long: ["all", "output=", "color=?"] };

function read(line: string, grammar: Grammar = GRAMMAR) {
  const { given, operands, strange } = readOptions(line.split(" ").filter(Boolean).map(knownArg), grammar);
  return {
    given: Object.fromEntries([...given].map(([name, values]) => [name, values.map(({ text }) => text).join("|")])),
    operands: operands.map(({ text }) => text),
    strange: strange.map(({ text }) => text),
  };
}

test.each([
  ["bundled letters and an attached value", "-abvalue x", { a: "", b: "value" }, ["x"]],
  ["a value in the next word", "-b value --output file", { b: "value", output: "file" }, []],
  ["an abbreviated name with its value", "--out=file", { output: "file" }, []],
  ["an optional value only where it is attached", "-c x --color y", { c: "", color: "" }, ["x", "y"]],
  ["operands after --", "x -- --all", { "--": "" }, ["x", "--all"]],
])("the reader of options reads %s", (_, line, given, operands) => {
  expect(read(line)).toEqual({ given, operands, strange: [] });
});

test("an option outside of the grammar is strange, and a flag where the grammar is open", () => {
  expect(read("-az --new").strange).toEqual(["-az", "--new"]);
  expect(read("-az --new", { ...GRAMMAR, open: true }).given).toEqual({ a: "", z: "", new: "" });
});

test("in an open grammar words after -- count as options, too", () => {
  expect(read("-- --all x", { ...GRAMMAR, open: true })).toMatchObject({
    given: { all: "" },
    operands: ["--all", "x"],
  });
});

test("a rule turns options and operands into effects, and names the call's words in its reasons", () => {
  const rule: Rule = {
    options: { "o: output=": "write", "exec=": opaque("Makes {name} run {value}") },
    operands: "read",
    does: ask("Runs {line} with {operands}"),
  };
  const effects = (line: string) =>
    programOf(rule)({ name: "tool", args: line.split(" ").map(knownArg), input: { kind: "none" } });
  const read = { kind: "read", path: knownArg("x") };
  expect(effects("--outp=a x")).toEqual([
    { kind: "write", path: knownArg("a") },
    read,
    ask("Runs tool --outp=a x with x"),
  ]);
  expect(effects("--exec=evil x")[0]).toEqual(opaque("Makes tool run evil"));
});

test("an unlisted option of a wrapper asks in every mode, and so does an unknown word before its command", () => {
  const wrapper = programOf({ short: "n:", wraps: 1 });
  const call = { name: "tool", input: { kind: "none" } } as const;
  const asks = { kind: "finding", level: "ask", always: true, contained: true };
  expect(wrapper({ ...call, args: [knownArg("-x"), knownArg("5"), knownArg("ls")] })[0]).toMatchObject(asks);
  expect(wrapper({ ...call, args: [UNKNOWN_ARGS, knownArg("ls")] })[0]).toMatchObject(asks);
  expect(wrapper({ ...call, args: [knownArg("-n1"), knownArg("5"), knownArg("ls")] })).toEqual([
    { kind: "command", words: [knownArg("ls")] },
  ]);
});
