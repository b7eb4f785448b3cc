/** Walk through a parsed script: every statement that may run, with the state of the shell at that point. */
import type { AndOr, Case, CommandNode, For, If, ParsedScript, Pipeline, PipelineNode, Statement, While } from "unbash";
import { type Input, unread } from "../command-effect.ts";
import { isKnown, knownArg, shown, TOKEN, UNKNOWN, UNKNOWN_ARG } from "./arg.ts";
import { setVariable } from "./assignments.ts";
import { walkTest } from "./builtins.ts";
import { expandValue, expandWords, walkArithmetic } from "./expand-word.ts";
import {
  enterFolders,
  forkState,
  mergeState,
  type Output,
  type Setting,
  type ShellState,
  sameState,
  settleFolders,
  type Walk,
} from "./shell-state.ts";
import { redirect, walkCommand } from "./walk-command.ts";

const MAX_ROUNDS = 4;

export function walkScript(script: ParsedScript, setting: Setting, walk: Walk): Output {
  const [error] = script.errors ?? [];
  if (error) walk.record.add(unread(`The command cannot be read: ${error.message}`));
  return walkStatements(script.commands, setting, walk);
}

function walkStatements(statements: readonly Statement[], setting: Setting, walk: Walk): Output {
  return statements.map((statement) => walkStatement(statement, setting, walk)).join("");
}

function walkStatement(statement: Statement, setting: Setting, walk: Walk): Output {
  const { command } = statement;
  const own = statement.background ? { ...setting, state: forkState(setting.state), parallel: true } : setting;
  const output = command.type === "AndOr" ? walkAndOr(command, own, walk) : walkPipelineNode(command, own, walk);
  settleFolders(own.state);
  return output;
}

/** `a && b || c`: a later command may not run, so its changes may not hold afterwards. */
function walkAndOr({ commands, operators }: AndOr, setting: Setting, walk: Walk): Output {
  const { state } = setting;
  const earlier: ShellState[] = [];
  let output = "";
  for (const [index, command] of commands.entries()) {
    if (index > 0) {
      remember(earlier, state);
      if (operators[index - 1] === "||") {
        for (const before of earlier) mergeState(state, before);
        settleFolders(state);
      }
    }
    output += walkPipelineNode(command, setting, walk);
  }
  for (const before of earlier) if (!sameState(state, before)) mergeAfter(state, before);
  return output === "" ? "" : UNKNOWN;
}

function remember(states: ShellState[], state: ShellState): void {
  const last = states.at(-1);
  if (last === undefined || !sameState(last, state)) states.push(forkState(state));
}

/** Merges all but the folders: the end of the statement settles its `cd`. */
function mergeAfter(state: Setting["state"], before: Setting["state"]): void {
  const { cwds } = state;
  mergeState(state, before);
  enterFolders(state, cwds);
}

function walkPipelineNode(node: PipelineNode, setting: Setting, walk: Walk): Output {
  return node.type === "Pipeline" ? walkPipeline(node, setting, walk) : walkNode(node, setting, walk);
}

function walkPipeline({ commands }: Pipeline, setting: Setting, walk: Walk): Output {
  if (commands.length === 1 && commands[0]) return walkNode(commands[0], setting, walk);
  let { input } = setting;
  let output = "";
  for (const [index, command] of commands.entries()) {
    const state = forkState(setting.state);
    output = walkNode(command, { ...setting, state, input, parallel: true }, walk);
    input = inputFrom(output, command);
    // Some shells run the last command of a pipeline themselves, and its variables stay.
    if (index === commands.length - 1) mergeState(setting.state, state);
  }
  return output;
}

function inputFrom(output: Output, command: CommandNode): Input {
  if (output !== UNKNOWN && output !== TOKEN) return { kind: "text", text: output };
  const name = command.type === "Command" ? command.name?.text : undefined;
  return { kind: "data", from: shown(name ?? "a command") };
}

function walkNode(node: CommandNode, setting: Setting, walk: Walk): Output {
  const { state } = setting;
  switch (node.type) {
    case "Command":
      return walkCommand(node, setting, walk);
    case "Redirected": {
      const { input, captured } = redirect(node.redirects, setting, walk);
      const output = walkNode(node.command, { ...setting, input: input ?? setting.input }, walk);
      return captured ? "" : output;
    }
    case "Subshell":
      return walkStatements(node.body.commands, { ...setting, state: forkState(state) }, walk);
    case "BraceGroup":
      return walkStatements(node.body.commands, setting, walk);
    case "Function":
      state.functions.set(node.name.value, node.body);
      return "";
    case "Coproc":
      walkBody(node.body, { ...setting, state: forkState(state), parallel: true }, walk);
      return "";
    case "If":
      return walkIf(node, setting, walk);
    case "While":
      return walkWhile(node, setting, walk);
    case "For":
    case "Select":
      return walkFor(node, setting, walk);
    case "Case":
      return walkCase(node, setting, walk);
    case "TestCommand":
      walkTest(node.expression, setting, walk);
      return "";
    case "ArithmeticCommand":
      if (node.expression) walkArithmetic(node.expression, setting, walk);
      return "";
    case "ArithmeticFor":
      for (const each of [node.initialize, node.test, node.update]) if (each) walkArithmetic(each, setting, walk);
      return repeat(() => walkStatements(node.body.commands, setting, walk), setting);
  }
}

export function walkBody(body: CommandNode | If["then"], setting: Setting, walk: Walk): Output {
  return body.type === "CompoundList" ? walkStatements(body.commands, setting, walk) : walkNode(body, setting, walk);
}

function walkIf(node: If, setting: Setting, walk: Walk): Output {
  walkStatements(node.clause.commands, setting, walk);
  const clauses = [node.then, ...node.elif.flatMap((branch) => [branch.clause, branch.then])];
  return walkBranches(node.else ? [...clauses, node.else] : clauses, setting, walk);
}

function walkCase(node: Case, setting: Setting, walk: Walk): Output {
  expandValue(node.word, setting, walk);
  for (const item of node.items) for (const pattern of item.pattern) expandValue(pattern, setting, walk);
  return walkBranches(
    node.items.map((item) => item.body),
    setting,
    walk,
  );
}

function walkBranches(branches: readonly If["then"][], setting: Setting, walk: Walk): Output {
  let output = "";
  for (const branch of branches) {
    const state = forkState(setting.state);
    output += walkStatements(branch.commands, { ...setting, state }, walk);
    mergeState(setting.state, state);
  }
  return output === "" ? "" : UNKNOWN;
}

function walkWhile(node: While, setting: Setting, walk: Walk): Output {
  return repeat(
    () => walkStatements(node.clause.commands, setting, walk) + walkStatements(node.body.commands, setting, walk),
    setting,
  );
}

/** Walks a loop's body until another round would find the same variables. */
function repeat(round: () => Output, { state }: Setting): Output {
  let output = "";
  for (let count = 0; count < MAX_ROUNDS; count += 1) {
    const before = forkState(state);
    output += round();
    mergeState(state, before);
    if (sameState(state, before)) return output === "" ? "" : UNKNOWN;
  }
  for (const name of state.variables.keys()) state.variables.set(name, [UNKNOWN_ARG]);
  state.cwds = undefined;
  state.positional = undefined;
  round();
  return UNKNOWN;
}

function walkFor(node: For | ({ type: "Select" } & Omit<For, "type">), setting: Setting, walk: Walk): Output {
  const { state } = setting;
  const name = node.name.value;
  const values = node.wordlist ? expandWords(node.wordlist, setting, walk) : (state.positional ?? [UNKNOWN_ARG]);
  let output = "";
  for (const value of values) {
    const before = forkState(state);
    // `select` reads the value from the user; a word that splits gives several values.
    const one = node.type === "Select" ? UNKNOWN_ARG : { ...value, splits: false };
    const round = () => {
      setVariable(name, [one], setting, walk);
      return walkStatements(node.body.commands, setting, walk);
    };
    output += values.length === 1 && (value.splits || value.glob) ? repeat(round, setting) : round();
    mergeState(state, before);
  }
  if (values.every(isKnown) && values.length > 0) return output;
  if (values.length === 0) state.variables.set(name, [knownArg("")]);
  return output === "" ? "" : UNKNOWN;
}
