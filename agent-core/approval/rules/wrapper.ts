/** Programs that run another one: what stands before the command is read by a small option grammar. */
import { type CommandEffect, type Input, opaque, type Program } from "../command-effect.ts";
import { type Arg, shown } from "../shell/arg.ts";
import { type Grammar, type Options, readOptions } from "./options.ts";

export type Wrapper = {
  /** Its options; they end where the command starts. */
  readonly grammar: Grammar;
  /** Words of its own between the options and the command: a duration, a lock file. */
  readonly own?: number;
  /** What it does itself, beside running the command. */
  readonly effects?: (options: Options, own: readonly Arg[]) => readonly CommandEffect[];
  /** The command, when it is not simply the rest; undefined when there is none. */
  readonly command?: (rest: readonly Arg[]) => readonly Arg[] | undefined;
  /** What the command reads, when that is not what the wrapper reads. */
  readonly input?: Input;
};

/** The program that a wrapper is. An option that its grammar does not know could swallow the command word: it asks. */
export function wrapper(name: string, { grammar, own = 0, effects, command, input }: Wrapper): Program {
  return ({ args }) => {
    const options = readOptions(args, { ...grammar, posix: true });
    const words = options.operands.slice(0, own);
    const rest = options.operands.slice(own);
    const wrapped = command ? command(rest) : rest;
    return [
      ...options.strange.map((arg) => opaque(`Runs ${name} with ${shown(arg)}, an option that is not known here`)),
      ...(effects?.(options, words) ?? []),
      ...(wrapped && wrapped.length > 0 ? [{ kind: "command", words: wrapped, ...(input && { input }) } as const] : []),
    ];
  };
}
