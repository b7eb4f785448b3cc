/** Reads shell code with unbash. Anything it cannot read in full has errors, which ask. */
import { type ParsedScript, parse } from "unbash";

export type ParsedCommand =
  | { readonly ok: true; readonly script: ParsedScript }
  | { readonly ok: false; readonly reason: string };

export function parseCommand(code: string): ParsedCommand {
  try {
    return { ok: true, script: parse(code) };
  } catch (error) {
    return {
      ok: false,
      reason: `The command cannot be read: ${error instanceof Error ? error.message : String(error)}`,
    };
  }
}
