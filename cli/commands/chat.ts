/** `hermes` and `hermes chat`. */
import { type Environment, homeFolder } from "../../agent-core/config/home.ts";
import type { InteractiveOptions } from "../chat/interactive.ts";
import { CWD, type Option, subcommand, type Values, YES } from "../subcommand.ts";

const options = {
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
  mode: {
    kind: "text",
    value: "MODE",
    summary: "what Hermes may do without asking; default: code",
    choices: ["ask", "code", "plan", "auto"],
  },
  json: { kind: "flag", summary: "print every message and other session/update as a line of JSON" },
  deltas: { kind: "flag", summary: "with --json: print every piece of a message, too" },
  oneshot: { kind: "flag", short: "z", summary: "print the last message alone" },
  image: { kind: "list", value: "FILE", summary: "attach a picture" },
  toolsets: { kind: "list", short: "t", value: "NAMES", summary: "offer these toolsets alone, with commas between" },
  skills: { kind: "list", short: "s", value: "NAME", summary: "begin with this skill" },
  "max-turns": { kind: "number", value: "N", min: 1, summary: "limit of steps of a turn" },
  "usage-file": { kind: "text", value: "FILE", summary: "write the tokens and the cost into a file, as JSON" },
  worktree: { kind: "flag", short: "w", summary: "work in a git worktree of its own, kept if it holds changes" },
  version: { kind: "flag", short: "v", summary: "print the version" },
} as const satisfies Record<string, Option>;

export const command = subcommand({
  operands: "[PROMPT…]",
  options,
  examples: [
    ['"explain the tests that fail"', "send a prompt; without one, standard input is the prompt"],
    ['--continue "go on"', "go on with the last session of this folder"],
  ],
  async run({ operands, values }) {
    const isNew = values.resume === undefined && !values.continue;
    if (!values.worktree && !isNew) return start(operands, values, values.cwd);
    const { inWorktree } = await import("../chat/worktree.ts");
    return inWorktree(values, (cwd) => start(operands, values, cwd));
  },
});

type ChatValues = Values<typeof options>;

/** Returns the exit code. */
async function start(words: readonly string[], values: ChatValues, cwd: string): Promise<number> {
  const { yes: allowAll, json, model, mode, image: images, skills } = values;
  const resume = values.resume ?? (values.continue ? "last" : undefined);
  const common = { allowAll, cwd, resume, model, mode, images, skills, settings: settingsOf(values) };
  const prefix = skillWords(skills);
  const isTyped = process.stdin.isTTY && process.stdout.isTTY;
  if (words.length === 0 && isTyped && !json && !values.oneshot) return converse({ ...common, prefix });
  const { runPrompt } = await import("../chat/one-shot.ts");
  const answerForm = values.oneshot ? "answer" : "text";
  const jsonForm = values.deltas ? "deltas" : "json";
  const form = json ? jsonForm : answerForm;
  const usageFile = values["usage-file"];
  const typed = words.join(" ");
  const prompt = `${prefix}${typed === "-" ? "" : typed}`; // programs name standard input so
  return runPrompt({ ...common, prompt, form, usageFile, isTransient: false });
}

/** Variables that stand for options, for this start alone. */
function settingsOf({ toolsets, "max-turns": maxTurns }: ChatValues): Environment {
  return {
    ...(toolsets.length > 0 && { HERMES_TOOLSETS: toolsets.join(",") }),
    ...(maxTurns !== undefined && { HERMES_MAX_TURNS: String(maxTurns) }),
  };
}

/** The command of the first skill, and a sentence about the others. */
function skillWords([first, ...others]: readonly string[]): string {
  if (first === undefined) return "";
  return `/${first} ${others.length === 0 ? "" : `Use the skills ${others.join(", ")}, too. `}`;
}

/** A narrower terminal gets plain lines. Columns. */
const NARROWEST = 20;

/** The interactive session: a screen, or plain lines where it cannot be drawn. Returns the exit code. */
async function converse(options: Omit<InteractiveOptions, "home" | "display">): Promise<number> {
  const isPlain = process.env["TERM"] === "dumb" || process.stdout.columns < NARROWEST;
  if (isPlain) return (await import("../chat/plain.ts")).runPlain(options);
  const { loadConfig } = await import("../../agent-core/config/config.ts");
  const home = homeFolder(process.env);
  const { config } = await loadConfig(home, process.env);
  return (await import("../chat/interactive.ts")).runInteractive({ ...options, home, display: config.display });
}
