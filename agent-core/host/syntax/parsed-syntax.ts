/** Syntax checks by parsers that the agent has for other work too: JSON, YAML and shell scripts. */
import { basename } from "node:path";
import { type ParseError, parse as parseJson, printParseErrorCode } from "jsonc-parser";
import { parse as parseShell } from "unbash";
import { parseAllDocuments } from "yaml";
import type { Problem } from "../host.ts";

/** Problems of one text at most: after the first, parsers often only guess. */
const MAX_PROBLEMS = 5;
/** Files whose readers allow comments and trailing commas. */
const WITH_COMMENTS =
  /\.jsonc$|^(?:ts|js)config.*\.json$|^\.(?:eslintrc|swcrc|babelrc|jshintrc)(?:\.json)?$|^(?:settings|launch|tasks|extensions|keybindings|devcontainer|language-configuration|api-extractor)\.json$|\.code-workspace$/i;

export function checkJson(text: string, path: string): readonly Problem[] {
  const allowsComments = WITH_COMMENTS.test(basename(path));
  const errors: ParseError[] = [];
  parseJson(text.replace(/^\ufeff/, " "), errors, {
    disallowComments: !allowsComments,
    allowTrailingComma: allowsComments,
    allowEmptyContent: true,
  });
  return firstOf(errors).map(({ error, offset }) => problemAt(text, offset, sentenceOf(printParseErrorCode(error))));
}

/** Checks one document or several. */
export function checkYaml(text: string): readonly Problem[] {
  const documents = parseAllDocuments(text, { logLevel: "silent", prettyErrors: false });
  const errors = "empty" in documents ? documents.errors : documents.flatMap((document) => document.errors);
  return firstOf(errors).map(({ pos, message }) => problemAt(text, pos[0], message));
}

/** The parser of approvals accepts more real scripts than tree-sitter's grammar of bash does. */
export function checkShell(text: string): readonly Problem[] {
  return firstOf(parseShell(text).errors ?? []).map(({ pos, message }) => problemAt(text, pos, message));
}

function firstOf<Item>(errors: readonly Item[]): readonly Item[] {
  return errors.slice(0, MAX_PROBLEMS);
}

/** `CommaExpected` becomes `comma expected`. */
function sentenceOf(code: string): string {
  return code.replaceAll(/(?<=[a-z])(?=[A-Z])/g, " ").toLowerCase();
}

function problemAt(text: string, offset: number, message: string): Problem {
  const lineStart = text.lastIndexOf("\n", offset - 1) + 1;
  let line = 1;
  for (let at = text.indexOf("\n"); at >= 0 && at < lineStart; at = text.indexOf("\n", at + 1)) line += 1;
  return { line, column: offset - lineStart + 1, severity: "error", source: "syntax", message };
}
