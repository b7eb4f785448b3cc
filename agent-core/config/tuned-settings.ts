/**
 * Settings that Hermes tuned by itself: `learning/tuned.yaml` of the home. They apply where config.yaml has no value of its
 * own, and only while learning is on. config.yaml is never written.
 */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import * as z from "zod";
import { TASK_TYPES, type TaskType } from "../messages/task-type.ts";
import { learningFolder } from "./home.ts";
import { replaceFile } from "./home-file.ts";
import { sections } from "./sections.ts";

/** Settings that a health report may tune, and their bounds. `isPerTask`: with a value for each type of task. */
export const TUNABLE = {
  "compression.hard_limit": { min: 0.6, max: 0.9, isPerTask: true },
  "compression.threshold": { min: 0.6, max: 0.9, isPerTask: true },
  /** The value is the name of a skill. */
  "skills.disabled": { min: 0, max: 0, isPerTask: false },
  /** Seconds. */
  "terminal.timeout": { min: 60, max: 600, isPerTask: false },
  "memory.nudge_interval": { min: 5, max: 40, isPerTask: false },
} as const;
export type TunableKey = keyof typeof TUNABLE;
const KEYS = Object.keys(TUNABLE) as [TunableKey, ...TunableKey[]]; // a literal has no other keys

const tunedSchema = z
  .object({
    id: z.string(),
    key: z.enum(KEYS),
    /** Type of task; absent: all. */
    scope: z.enum(TASK_TYPES).exactOptional(),
    from: z.union([z.number(), z.string(), z.null()]),
    to: z.union([z.number(), z.string()]),
    reason: z.string(),
    confidence: z.number(),
    risk: z.enum(["low", "medium", "high"]),
    /** Sessions that showed the need. */
    evidence: z.array(z.string()).readonly(),
    /** Rate that the change has to improve, and its value before. */
    rate: z.object({ name: z.string(), of: z.string().exactOptional(), before: z.number() }),
    /** Local date. */
    applied: z.string(),
    /** `trial`: the rate decides after some days. */
    state: z.enum(["trial", "kept"]),
  })
  .refine(({ key, to }) => isInBounds(key, to));
export type TunedSetting = z.infer<typeof tunedSchema>;

/** Undefined for an unknown setting, and for a value out of bounds. */
export function parseTuned(entry: unknown): TunedSetting | undefined {
  return tunedSchema.safeParse(entry).data;
}

/** True for a value that the setting may have. */
export function isInBounds(key: TunableKey, value: number | string): boolean {
  const { min, max } = TUNABLE[key];
  if (typeof value === "string") return key === "skills.disabled" && value !== "";
  return key !== "skills.disabled" && value >= min && value <= max;
}

export function tunedFile(home: string): string {
  return join(learningFolder(home), "tuned.yaml");
}

/** A damaged file or entry counts as none: the defaults apply. */
export async function readTuned(home: string): Promise<readonly TunedSetting[]> {
  const path = tunedFile(home);
  if (!existsSync(path)) return [];
  const { parseYaml } = await import("./yaml.ts");
  try {
    const file = z.object({ settings: z.array(z.unknown()) }).safeParse(parseYaml(readFileSync(path, "utf8")));
    return (file.data?.settings ?? []).flatMap((entry) => parseTuned(entry) ?? []);
  } catch {
    return [];
  }
}

const HEADER = `# Settings that Hermes tuned by itself, from its health reports. A value in config.yaml wins over them.
# Remove an entry, or this file, to take it back.
`;

/** Replaces the file; its folder must exist. Rejects when writing fails. */
export async function writeTuned(home: string, settings: readonly TunedSetting[]): Promise<void> {
  const { yamlText } = await import("./yaml.ts");
  await replaceFile(tunedFile(home), HEADER + yamlText({ settings }));
}

type Raw = Readonly<Record<string, unknown>>;

/** True when config.yaml has a value of its own for the setting. A list takes further names. */
export function isExplicit(raw: Raw, key: TunableKey, scope: TaskType | undefined): boolean {
  if (key === "skills.disabled") return false;
  const [section = "", name = ""] = key.split(".");
  const given = mapping(raw[section]);
  return isGiven(given[name]) || (scope !== undefined && isGiven(mapping(mapping(given["by_task"])[scope])[name]));
}

/** The user's settings with the tuned ones where config.yaml has none. */
export function withTuned(raw: Raw, settings: readonly TunedSetting[]): Record<string, unknown> {
  let result: Record<string, unknown> = { ...raw };
  if (settings.length === 0) return result; // the schemas below cost a start 5 ms
  const learning = sections.learning.safeParse(raw["learning"]).data;
  if (learning?.enabled !== true || !learning.report || !learning.use) return result;
  for (const setting of settings)
    if (!isExplicit(raw, setting.key, setting.scope)) result = withSetting(result, setting);
  return result;
}

function withSetting(raw: Record<string, unknown>, { key, scope, to }: TunedSetting): Record<string, unknown> {
  const [section = "", name = ""] = key.split(".");
  const given = mapping(raw[section]);
  if (key === "skills.disabled") return { ...raw, [section]: { ...given, [name]: [given[name] ?? [], to].flat() } };
  if (scope === undefined) return { ...raw, [section]: { ...given, [name]: to } };
  const types = mapping(given["by_task"]);
  return { ...raw, [section]: { ...given, by_task: { ...types, [scope]: { ...mapping(types[scope]), [name]: to } } } };
}

/** Empty settings mean the default, as in config.ts. */
function isGiven(value: unknown): boolean {
  return value !== undefined && value !== null && value !== "";
}

function mapping(value: unknown): Raw {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? { ...value } : {};
}
