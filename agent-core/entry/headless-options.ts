/** The command line of the headless chat. */
import { resolve } from "node:path";
import { parseArgs } from "node:util";
import { messageOf } from "../platform/errors.ts";

export const HELP = `hermes: one prompt to the Hermes agent, from the command line.

  hermes [options] "prompt"     (without a prompt it is read from standard input)

  --yes          allow everything that would ask (blocked commands stay blocked)
  --cwd DIR      work in DIR; default: the current folder
  --resume WHICH go on with an earlier session: its id, words of its title, or "last" (of this folder)
  --json         print every session/update as a line of JSON
  --version, --help

The answer goes to standard output, tool calls to standard error.
Exit code: 0 done, 1 error, 130 interrupted.
`;

export type HeadlessOptions = {
  /** Empty: to be read from standard input. */
  readonly prompt: string;
  readonly allowAll: boolean;
  /** Absolute. */
  readonly cwd: string;
  readonly resume: string | undefined;
  readonly json: boolean;
};

export type ParsedCommandLine =
  | { readonly kind: "run"; readonly options: HeadlessOptions }
  | { readonly kind: "help" }
  | { readonly kind: "version" }
  | { readonly kind: "wrong"; readonly message: string };

export function parseCommandLine(args: readonly string[]): ParsedCommandLine {
  try {
    const { values, positionals } = parseArgs({
      args: [...args],
      allowPositionals: true,
      options: {
        yes: { type: "boolean", default: false },
        cwd: { type: "string", default: "." },
        resume: { type: "string" },
        json: { type: "boolean", default: false },
        version: { type: "boolean", default: false },
        help: { type: "boolean", default: false },
      },
    });
    if (values.help) return { kind: "help" };
    if (values.version) return { kind: "version" };
    const { yes: allowAll, resume, json } = values;
    return {
      kind: "run",
      options: { prompt: positionals.join(" "), allowAll, cwd: resolve(values.cwd), resume, json },
    };
  } catch (error) {
    return { kind: "wrong", message: messageOf(error) };
  }
}
