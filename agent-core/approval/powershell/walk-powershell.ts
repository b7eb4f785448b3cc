/**
 * Walk through a PowerShell line: its commands, pipelines and blocks become the effects that bash's have. Whatever is not on
 * the list of forms here is not read, and asks.
 */

import type { Node } from "@vscode/tree-sitter-wasm";
import { grammarParser } from "../../host/syntax/syntax-problems.ts";
import { askForCode, opaque, unread } from "../command-effect.ts";
import type { PowerShellParser } from "../command-scope.ts";
import { judgeVariable } from "../rules/sensitive-variables.ts";
import { type Arg, knownArg, UNKNOWN, UNKNOWN_ARG } from "../shell/arg.ts";
import { foldersOf, judgeTarget, runEffects } from "../shell/run-effects.ts";
import { enterFolders, NO_INPUT, type Setting, settleFolders, type Walk } from "../shell/shell-state.ts";
import { walkProgram } from "../shell/walk-command.ts";
import { cmdletEffects, type Word } from "./cmdlets.ts";

/** Loads the grammar of PowerShell. Rejects when the package lacks it. */
export async function loadPowerShell(): Promise<PowerShellParser> {
  const parse = await grammarParser("powershell");
  return (line) => parse(line)?.rootNode;
}

/** Escapes, quotes and dashes beyond ASCII that PowerShell takes for plain ones, comments inside a line, `--%`. */
const UNREAD = /[`\u2010-\u201f\u00a0]|--%|<#|[^\s;]#/;
/** Text of a word without quotes that stands for itself. */
const PLAIN = /^[\w.:/\\@%+=*?~#,^-]+$/;
const BLOCKS =
  /^(?:program|statement_list|pipeline|pipeline_chain|statement_block|else_clause|elseif_clause|elseif_clauses|if_statement|while_statement|while_condition|try_statement|catch_clauses|catch_clause|finally_clause|script_block|script_block_body|script_block_expression|parenthesized_expression|sub_expression|array_expression|named_block_list|foreach_command|flow_control_statement)$/;
const EXPRESSIONS = /_expression$|^(?:expandable_string_literal|string_literal|integer_literal|real_literal)$/;
const SILENT =
  /^(?:empty_statement|pipeline_chain_tail|comment|variable|verbatim_string_characters|expandable_here_string_literal|verbatim_here_string_characters|decimal_integer_literal|hexadecimal_integer_literal|comparison_operator|command_argument_sep|merging_redirection_operator|simple_name|member_name|type_literal|format_operator)$/;

/** Walks a line, and records a part that cannot be read. Returns false when a part of it is not read. */
export function walkPowerShell(line: string, parse: PowerShellParser, setting: Setting, walk: Walk): boolean {
  const root = UNREAD.test(line) ? undefined : parse(line);
  if (root === undefined || root.hasError) return false;
  walkNode(root, setting, walk);
  return walk.record.isFullyParsed;
}

function walkNode(node: Node, setting: Setting, walk: Walk): void {
  const { type, text } = node;
  walk.record.countStep();
  if (type === "command") walkCommand(node, setting, walk);
  else if (type === "assignment_expression") walkAssignment(node, setting, walk);
  else if (type === "foreach_statement") walkForEach(node, setting, walk);
  else if (isOfKnownForm(node)) {
    walkAll(node, setting, walk);
    if (type === "statement_list") settleFolders(setting.state);
  } else if (type === "member_access" ? /[(:]/.test(text) : !SILENT.test(type)) markUnread(node, walk);
}

/** A call of .NET is an expression, too, and is not read. */
function isOfKnownForm({ type }: Node): boolean {
  return type !== "invokation_expression" && (BLOCKS.test(type) || EXPRESSIONS.test(type));
}

function walkForEach(node: Node, setting: Setting, walk: Walk): void {
  const [variable, ...rest] = node.namedChildren;
  setting.state.variables.set(nameOf(variable?.text ?? ""), [UNKNOWN_ARG]);
  for (const child of rest) if (child) walkNode(child, setting, walk);
}

function walkAll(node: Node, setting: Setting, walk: Walk): void {
  for (const child of node.namedChildren) if (child) walkNode(child, setting, walk);
}

function markUnread({ text }: Node, { record }: Walk): void {
  record.add(unread(`PowerShell that is not read: ${text.slice(0, 60)}`));
}

const nameOf = (variable: string): string => variable.replace(/^\$/, "").replace(/[{}]/g, "").toLowerCase();

function walkAssignment(node: Node, setting: Setting, walk: Walk): void {
  const [left, , right] = node.namedChildren;
  if (!left || !right || !/^\$[\w:]+$/.test(left.text)) {
    markUnread(node, walk);
    return;
  }
  const name = nameOf(left.text);
  const value = wordValue(right, setting, walk);
  if (name.startsWith("env:")) judgeVariable(name.slice(4).toUpperCase(), value, walk.record);
  else if (!/^\w+$/.test(name) || /preference$|^ofs$|^pshome$/.test(name)) markUnread(left, walk);
  setting.state.variables.set(name, [value]);
}

/** Value of an expression or a word; the commands in it are walked, and their output is not known. */
function wordValue(node: Node, setting: Setting, walk: Walk): Arg {
  const { text } = node;
  if (node.type === "generic_token") return PLAIN.test(text) ? path(text, walk) : UNKNOWN_ARG;
  if (node.type === "variable") return variableValue(nameOf(text), setting, walk);
  if (/^'[^']*'$/.test(text)) return path(text.slice(1, -1), walk);
  if (/^"[^"$]*"$/.test(text)) return path(text.slice(1, -1), walk);
  if (/^-?\d+$/.test(text)) return knownArg(text);
  if (/^"[^"]*"$/.test(text)) return expanded(node, setting, walk);
  const [only, ...others] = node.namedChildren;
  if (only && others.length === 0 && only.text === text) return wordValue(only, setting, walk);
  walkNode(node, setting, walk);
  return UNKNOWN_ARG;
}

/** A text in double quotes with variables in it. */
function expanded(node: Node, setting: Setting, walk: Walk): Arg {
  if (/\$\(|\$\{/.test(node.text)) {
    walkNode(node, setting, walk);
    return UNKNOWN_ARG;
  }
  const text = node.text
    .slice(1, -1)
    .replace(/\$(?:env:)?\w+/gi, (name) => variableValue(nameOf(name), setting, walk).text)
    .replace(/\$/g, UNKNOWN);
  return path(text, walk);
}

function variableValue(name: string, { state }: Setting, { scope }: Walk): Arg {
  if (name === "null") return knownArg("/dev/null");
  if (name === "true" || name === "false") return knownArg(name);
  if (/^(?:home|env:home|env:userprofile)$/.test(name)) return knownArg(scope.home.replaceAll("\\", "/"));
  return state.variables.get(name)?.[0] ?? UNKNOWN_ARG;
}

/** Paths are judged with slashes, and below the home without `~`. */
function path(text: string, { scope }: Walk): Arg {
  const plain = text.replaceAll("\\", "/").replace(/^~(?=\/|$)/, scope.home.replaceAll("\\", "/"));
  return { text: plain, glob: /[*?[]/.test(plain), splits: false };
}

function childOf(node: Node, ...types: readonly string[]): Node | undefined {
  return node.namedChildren.find((child) => child !== null && types.includes(child.type)) ?? undefined;
}

function walkCommand(node: Node, setting: Setting, walk: Walk): void {
  const { record } = walk;
  const named = childOf(node, "command_name", "command_name_expr");
  const inner = childOf(node, "foreach_command") ?? (named && childOf(named, "script_block_expression"));
  if (inner) {
    walkNode(inner, setting, walk);
    return;
  }
  const written = named === undefined ? UNKNOWN_ARG : commandName(named, setting, walk);
  const words = wordsOf(node, setting, walk);
  const isDot = node.namedChildren[0]?.type === "command_invokation_operator" && node.namedChildren[0].text === ".";
  const isUnknown = isDot || written.text.includes(UNKNOWN);
  const name = isUnknown ? written.text : written.text.toLowerCase().replace(/\.(?:exe|cmd|bat|com)$/, "");
  const args = [{ ...written, text: name }, ...words.map(({ arg }) => arg)];
  record.part(name, args, setting.state.cwds, () => {
    if (isUnknown) record.add(opaque(`Runs ${node.text.slice(0, 60)}, which is not known before it runs`));
    else runNamed(name, { words, ...pipedInto(node) }, setting, walk);
  });
}

function commandName(named: Node, setting: Setting, walk: Walk): Arg {
  const { text } = named;
  if (named.type === "command_name")
    return PLAIN.test(text) && text !== "%"
      ? knownArg(text.replaceAll("\\", "/"))
      : knownArg(text === "%" || text === "?" ? text : UNKNOWN);
  const [value] = named.namedChildren;
  return value ? wordValue(value, setting, walk) : UNKNOWN_ARG;
}

/** Words of a command. Its redirections are judged, and the blocks and brackets among its words are walked. */
function wordsOf(node: Node, setting: Setting, walk: Walk): readonly Word[] {
  const words: Word[] = [];
  const elements = childOf(node, "command_elements")?.namedChildren ?? [];
  let isAttached = false;
  for (const element of elements) {
    if (!element) continue;
    if (element.type === "command_argument_sep") isAttached = element.text.startsWith(":");
    else if (element.type === "redirection") redirect(element, setting, walk);
    else if (element.type === "command_parameter") words.push({ arg: knownArg(element.text), isParameter: true });
    else words.push({ arg: wordValue(element, setting, walk), isParameter: false, isAttached });
  }
  return words;
}

function redirect(node: Node, setting: Setting, walk: Walk): void {
  const file = childOf(node, "redirected_file_name");
  const target = file?.namedChildren.find((child) => child?.type !== "command_argument_sep");
  if (target) judgeTarget({ kind: "write", path: wordValue(target, setting, walk) }, setting, walk);
  else if (!childOf(node, "merging_redirection_operator")) markUnread(node, walk);
}

/** Names that lead elsewhere than to a cmdlet or a program. */
const LEADS = /^(?:set-location|sl|cd|chdir|push-location|pushd|pop-location|popd)$/;
const SHELLS = /^(?:cmd|powershell|pwsh|wsl|bash|sh)$/;
const EVALUATES = /^(?:invoke-expression|iex)$/;

type Piped = { readonly isPiped: boolean; readonly hasFiles: boolean };

/** Tells what comes out of the pipeline before a command: nothing, texts, or files by their names. */
function pipedInto(node: Node): Piped {
  const before = node.parent?.namedChildren.filter((each) => each !== null && each.startIndex < node.startIndex) ?? [];
  const lists = /^\s*(?:gci|get-childitem|ls|dir|gi|get-item|rvpa|resolve-path)\b/i;
  return { isPiped: before.length > 0, hasFiles: before.some((each) => lists.test(each?.text ?? "")) };
}

type Called = Piped & { readonly words: readonly Word[] };

function runNamed(name: string, { words, isPiped, hasFiles }: Called, setting: Setting, walk: Walk): void {
  const { record } = walk;
  if (LEADS.test(name)) {
    const folder = words.find(({ isParameter }) => !isParameter)?.arg;
    const isPlain = folder && !folder.text.includes(UNKNOWN) && !folder.glob && folder.text !== "-";
    enterFolders(setting.state, isPlain ? foldersOf(folder.text, setting.state) : undefined);
    return;
  }
  // Text that is piped into a search is searched itself.
  const takesPaths = isPiped && (hasFiles || !/^(?:select-string|sls)$/.test(name));
  const cmdlet = cmdletEffects(name, words, takesPaths);
  if (cmdlet) runEffects(cmdlet, setting, walk);
  else if (EVALUATES.test(name)) record.add(opaque("Runs a text as PowerShell"));
  else if (SHELLS.test(name)) record.add(opaque(`Runs ${name}, another shell, whose code is not read here`));
  else if (/^[a-z]+-[a-z]+$/.test(name) || /^(?:sal|nal|icm|ipmo|sajb|ii|si|sv)$/.test(name))
    record.add(askForCode(`Runs ${name}, a command that is not known or has other parameters`));
  else {
    const input = isPiped ? ({ kind: "data", from: "another command" } as const) : NO_INPUT;
    walkProgram({ name, args: words.map(({ arg }) => arg), input }, setting, walk);
  }
}
