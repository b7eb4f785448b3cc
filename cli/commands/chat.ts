/** `hermes` and `hermes chat`. */
import type { InteractiveOptions } from "../chat/interactive.ts";
import { CWD, subcommand, YES } from "../subcommand.ts";

export const command = subcommand({
  operands: "[PROMPT…]",
  options: {
    yes: YES,
    cwd: CWD,
    continue: { kind: "flag", short: "c", summary: "continue the last session of this folder" },
    resume: {
      kind: "text",
      short: "r",
      value: "WHICH",
      summary: 'continue an earlier session: its id, words of its title, or "last"',
    },
    model: {
      kind: "text",
      short: "m",
      value: "NAME",
      summary: "use this model: its id in hermes model, or a part of it that fits only one",
    },
    mode: { kind: "text", value: "MODE", summary: "ask, code, plan or auto; default: code" },
    json: { kind: "flag", summary: "print every session/update as a line of JSON" },
    version: { kind: "flag", short: "v", summary: "print the version" },
  },
  examples: [
    ['"explain the tests that fail"', "send a prompt; without one, standard input is the prompt"],
    ['--continue "go on"', "go on with the last session of this folder"],
  ],
  async run({ operands, values: { yes: allowAll, cwd, resume, continue: goesOn, json, model, mode } }) {
    const isTyped = process.stdin.isTTY && process.stdout.isTTY;
    if (operands.length === 0 && isTyped && !json) {
      return converse({ allowAll, cwd, model, mode, resume: resume ?? (goesOn ? "last" : undefined) });
    }
    const { runPrompt } = await import("../chat/one-shot.ts");
    return runPrompt({
      prompt: operands.join(" "),
      ...{ allowAll, cwd, json, model, mode, isTransient: false },
      resume: resume ?? (goesOn ? "last" : undefined),
    });
  },
});

/** A narrower terminal gets plain lines. Columns. */
const NARROWEST = 20;

/** The interactive session: a screen, or plain lines where it cannot be drawn. Returns the exit code. */
async function converse(options: Omit<InteractiveOptions, "home" | "display">): Promise<number> {
  const isPlain = process.env["TERM"] === "dumb" || process.stdout.columns < NARROWEST;
  if (isPlain) return (await import("../chat/plain.ts")).runPlain(options);
  const [{ loadConfig }, { homeFolder }] = await Promise.all([
    import("../../agent-core/config/config.ts"),
    import("../../agent-core/config/home.ts"),
  ]);
  const home = homeFolder(process.env);
  const { config } = await loadConfig(home, process.env);
  return (await import("../chat/interactive.ts")).runInteractive({ ...options, home, display: config.display });
}
