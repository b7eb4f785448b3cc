/** JSON, and JSON with comments where tools allow them. */
import { basename } from "node:path";
import { type ParseError, parse, printParseErrorCode } from "jsonc-parser";
import type { Problem } from "../problems.ts";
import { problemAt } from "./problem-at.ts";

/** Named at most, of one text: after the first the parser often only guesses. */
const NAMED = 5;
/** Files whose readers allow comments and trailing commas. */
const WITH_COMMENTS =
  /\.jsonc$|^(?:ts|js)config.*\.json$|^\.(?:eslintrc|swcrc|babelrc|jshintrc)(?:\.json)?$|^(?:settings|launch|tasks|extensions|keybindings|devcontainer|language-configuration|api-extractor)\.json$|\.code-workspace$/i;

export function checkJson(text: string, path: string): readonly Problem[] {
  const isLoose = WITH_COMMENTS.test(basename(path));
  const errors: ParseError[] = [];
  parse(text.replace(/^\ufeff/, " "), errors, {
    disallowComments: !isLoose,
    allowTrailingComma: isLoose,
    allowEmptyContent: true,
  });
  return errors.slice(0, NAMED).map(({ error, offset }) => problemAt(text, offset, words(printParseErrorCode(error))));
}

/** `CommaExpected` → `comma expected`. */
function words(code: string): string {
  return code.replaceAll(/(?<=[a-z])(?=[A-Z])/g, " ").toLowerCase();
}
