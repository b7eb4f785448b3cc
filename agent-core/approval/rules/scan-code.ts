/** Effects that may hide in code that asks anyway: its texts are judged as shell commands and as paths. */
import type { CommandEffect } from "../command-effect.ts";
import { knownArg, TOKEN, UNKNOWN } from "../shell/arg.ts";

const DELETES =
  /rmtree|rmSync|rmdirSync|unlink|rm_rf?|remove_(?:tree|entry)|FileUtils|deltree|\bremove\(|File\.delete|Deno\.remove|RemoveAll|\brimraf\b|rmdir/;
const BOMBS =
  /\bfork\b[\s(){};&|:]*(?:while|until|for|\|\||&&|if)?[\s\S]{0,20}\b(?:fork|1|true|while)\b|(?:while|for|until|loop)[\s\S]{0,40}\bfork\b/i;
/** Texts at which a command in several pieces may start. */
const MAX_STARTS = 8;
const NEAR_HOME = /expanduser|homedir\(|Path\.home|\$HOME|ENV\[.HOME|os\.environ|process\.env\.HOME/;

/** Effects of the commands and paths that the texts of `code` name. They only escalate a verdict. */
export function scanCode(code: string): readonly CommandEffect[] {
  const effects: CommandEffect[] = [];
  if (BOMBS.test(code))
    effects.push({ kind: "block", reason: "Starts copies of itself without end, which halts the machine" });
  // An editor's way out to a shell: `:!rm x`.
  const wayOut = /^[\s:]*(?:silent!?\s+)?!(.*)/.exec(code)?.[1];
  if (wayOut !== undefined) effects.push(raised(wayOut));
  const texts = textsOf(code);
  const recursive = DELETES.test(code);
  for (const text of texts) {
    effects.push(raised(text));
    if (/^(?=.*[/.~])\S{1,200}$/.test(text)) effects.push(...pathEffects(text, recursive));
  }
  // Lists of words (`["rm", "-rf", "/"]`) and joined pieces, from each possible start.
  for (const at of texts.slice(0, MAX_STARTS).keys()) {
    const rest = texts.slice(at);
    if (rest.length > 1) effects.push(raised(rest.join(" ")), raised(rest.join("")));
  }
  const homeless = NEAR_HOME.test(code);
  if (homeless && recursive) effects.push({ kind: "opaque", reason: "Deletes files below your home folder from code" });
  return effects;
}

function raised(code: string): CommandEffect {
  return { kind: "shell", code, escalateOnly: true };
}

/** A path in code is judged as if the code wrote or deleted it. */
function pathEffects(text: string, deletes: boolean): readonly CommandEffect[] {
  const path = text.startsWith("~") ? undefined : knownArg(text);
  if (!path) return [{ kind: "opaque", reason: `Names the file ${text} of your home folder` }];
  if (!deletes) return [{ kind: "write", path }];
  return [{ kind: "delete", path: { ...path, glob: /[*?[]/.test(text) }, recursive: true }];
}

function textsOf(code: string): readonly string[] {
  const texts: string[] = [];
  for (const match of code.matchAll(
    /"((?:[^"\\]|\\[\s\S])*)"|'((?:[^'\\]|\\[\s\S])*)'|`((?:[^`\\]|\\[\s\S])*)`|%x[({[]([^)}\]]*)/g,
  )) {
    const text = match.slice(1).find((group) => group !== undefined) ?? "";
    const plain = text
      .replace(/\\(["'`\\])/g, "$1")
      .replaceAll(UNKNOWN, " ")
      .replaceAll(TOKEN, "0");
    if (plain !== "" && texts.length < 40) texts.push(plain);
  }
  return texts;
}
