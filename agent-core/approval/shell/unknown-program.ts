/** Programs that no table knows. */
import { askForCode, type Call, type CommandEffect } from "../command-effect.ts";
import { isKnown } from "./arg.ts";

/** Asks, unless the program is only asked for its version or help. */
export function unknownProgram({ name, args }: Call): readonly CommandEffect[] {
  const [first] = args;
  const file = name.includes("/");
  if (!file && args.length === 1 && (first?.text === "--version" || first?.text === "--help")) return [];
  const what = file ? `Runs the program ${name}` : `Runs ${name}, which is not among the programs that are known here`;
  const named = first === undefined || (isKnown(first) && /^[a-z][\w:-]*$/.test(first.text));
  return [askForCode(what, named && !file ? "prefix" : "exact")];
}
