/** Arms of the simulation: switches of config.yaml, and what is different about the world or the model. */
import type { WorldOptions } from "./world.ts";

export type Arm = {
  readonly name: string;
  /** Sections of config.yaml, as JSON. */
  readonly config: Readonly<Record<string, unknown>>;
  readonly world: WorldOptions["kind"];
  /** The prompt of each task has its needs. */
  readonly oracle?: boolean;
  /** The model ignores everything but the last message. */
  readonly amnesiac?: boolean;
  /** Paths in the home that are removed after each night: what a broken loop would not have written. */
  readonly drops?: readonly string[];
  readonly says: string;
};

type Switches = {
  readonly consolidation: boolean;
  readonly distillation: boolean;
  readonly report: boolean;
  readonly evaluation: boolean;
  readonly compression: boolean;
  readonly memory: boolean;
  readonly search: boolean;
  readonly skills: boolean;
  /** False: the loops write, and nothing of it is used. */
  readonly use: boolean;
};

const ON: Switches = {
  consolidation: true,
  distillation: true,
  report: true,
  evaluation: true,
  compression: true,
  memory: true,
  search: true,
  skills: true,
  use: true,
};
/** Without compression the long tasks would only measure the window. */
const OFF: Switches = {
  consolidation: false,
  distillation: false,
  report: false,
  evaluation: false,
  compression: true,
  memory: false,
  search: false,
  skills: false,
  use: false,
};

function configOf(switches: Switches): Arm["config"] {
  const { consolidation, distillation, report, use } = switches;
  const disabled = [
    ...(switches.memory ? [] : ["memory"]),
    ...(switches.search ? [] : ["session_search"]),
    ...(switches.skills ? [] : ["skills"]),
  ];
  const enabled = consolidation || distillation || report;
  return {
    terminal: { sandbox: "off" },
    agent: { coding_context: "off", disabled_toolsets: disabled },
    web: { allow_private_urls: true },
    memory: { memory_enabled: switches.memory },
    evaluation: { enabled: switches.evaluation },
    compression: { enabled: switches.compression },
    learning: { enabled, consolidation, distillation, report, use },
  };
}

type ArmOptions = Omit<Arm, "name" | "config" | "world" | "says"> & { readonly world?: Arm["world"] };

function arm(name: string, says: string, switches: Switches, options: ArmOptions = {}): Arm {
  return { name, says, config: configOf(switches), world: "recurring", ...options };
}

export const ARMS: readonly Arm[] = [
  arm("on", "everything", ON),
  arm("off", "no loop, no memory, no skills, no search", OFF),
  arm("no-consolidation", "without loop 6", { ...ON, consolidation: false }),
  arm("no-distillation", "without loop 7", { ...ON, distillation: false }),
  arm("no-report", "without loop 8", { ...ON, report: false }),
  arm("no-evaluation", "without loop 5", { ...ON, evaluation: false }),
  arm("no-compression", "without loop 3", { ...ON, compression: false }),
  arm("no-memory", "without the model's own notes", { ...ON, memory: false }),
  arm("no-search", "without the search of sessions", { ...ON, search: false }),
  arm("only-consolidation", "loop 6 alone", { ...OFF, consolidation: true, use: true }),
  arm("only-distillation", "loop 7 alone", { ...OFF, distillation: true, skills: true, use: true }),
  arm("only-report", "loop 8 alone", { ...OFF, report: true, use: true }),
  arm("only-evaluation", "loop 5 alone", { ...OFF, evaluation: true }),
  arm("hold-out", "the loops write, nothing is used", { ...ON, use: false }),
  arm("shuffled", "everything; no topic recurs", ON, { world: "shuffled" }),
  arm("shuffled-off", "nothing; no topic recurs", OFF, { world: "shuffled" }),
  arm("flip", "everything; needs change every day", ON, { world: "flip" }),
  arm("flip-off", "nothing; needs change every day", OFF, { world: "flip" }),
  arm("broken-consolidation", "everything; what loop 6 writes is lost", ON, {
    drops: ["learning/entities", "learning/episodes", "learning/user-model.md"],
  }),
  arm("broken-distillation", "everything; what loop 7 writes is lost", ON, { drops: ["skills/learnt"] }),
  arm("broken-report", "everything; what loop 8 writes is lost", ON, { drops: ["learning/reports"] }),
  arm("oracle", "the prompt has the needs", OFF, { oracle: true }),
  arm("amnesiac", "the model ignores all but the last message", ON, { amnesiac: true }),
];

/** Throws an Error that names the known arms. */
export function armNamed(name: string): Arm {
  const found = ARMS.find((known) => known.name === name);
  if (found === undefined)
    throw new Error(`No arm is named ${name}. There are ${ARMS.map((known) => known.name).join(", ")}.`);
  return found;
}
