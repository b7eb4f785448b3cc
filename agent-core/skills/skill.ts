/** A skill: a folder with a SKILL.md in the Agent Skills format. Reads its front matter, and checks the text. */
import * as z from "zod";
import { messageOf } from "../platform/errors.ts";
import { findThreat } from "../prompt/injection-scan.ts";

/** Limits of the Agent Skills format. Characters. */
const MAX_NAME = 64;
const MAX_DESCRIPTION = 1_024;
/** Limit of a SKILL.md: about 25,000 tokens, more than any procedure needs. Characters. */
export const MAX_SKILL_CHARS = 100_000;
/** Limit of any other file of a skill. */
export const MAX_FILE_BYTES = 1_048_576;

/** File that makes a folder a skill. */
export const SKILL_FILE = "SKILL.md";
/** Author in the front matter of the skills that the agent writes. */
export const AUTHOR = "hermes-agent";
const NAME = /^[a-z0-9]+(?:-[a-z0-9]+)*$/;
export const FRONT_MATTER = /^\s*(?:<!--[\s\S]*?-->\s*)?---[ \t]*\r?\n([\s\S]*?)\r?\n(?:---|\.\.\.)[ \t]*(?:\r?\n|$)/;

/** A version as it is written: YAML reads 1.0 as the number 1. */
const WRITTEN_VERSION = /^[ \t]*version:[ \t]*["']?([\w.+-]+)/m;

export type ToolNames = {
  readonly toolsets: readonly string[];
  readonly tools: readonly string[];
  /** Tools whose schemas are in the request. Default: all. */
  readonly requested?: readonly string[];
};

/** Front matter of a SKILL.md. */
export type SkillFacts = {
  readonly name: string;
  readonly description: string;
  /** Empty when the skill has none. */
  readonly version: string;
  readonly category: string | undefined;
  /** `linux`, `macos` or `windows`; empty: all. */
  readonly platforms: readonly string[];
  /** The skill is offered only where all of these are enabled. */
  readonly requires: ToolNames;
  /** The skill is offered only where none of these is enabled. */
  readonly fallbackFor: ToolNames;
  /** Environment variables that its commands need. */
  readonly variables: readonly string[];
  /** Name of the agent that wrote it; undefined for a skill of a person. */
  readonly author: string | undefined;
  /** Folder of the project for which it holds, absolute; undefined: everywhere. */
  readonly project?: string;
  /** Tools of the sessions that it comes from, and their mean feedback score from 0 to 1. */
  readonly toolsUsed?: readonly string[];
  readonly score?: number;
};

export type ParsedSkill =
  | { readonly ok: true; readonly facts: SkillFacts; readonly body: string }
  /** `reason` is a sentence for people; `line` is 1-based. */
  | { readonly ok: false; readonly reason: string; readonly line?: number };

/** One name, several with commas between them, or a list. */
const names = z
  .union([
    z.string().transform((text) => text.split(",")),
    z.array(z.union([z.string(), z.number()]).transform(String)),
  ])
  .transform((list) => list.map((name) => name.trim()).filter((name) => name !== ""))
  .nullish()
  .transform((list) => list ?? []);

const text = z.union([z.string(), z.number()]).transform(String);
const prose = z
  .union([text, z.array(text).transform((list) => list.join(" "))])
  .optional()
  .catch(undefined);

const hermesSchema = z.looseObject({
  category: prose,
  author: prose,
  project: prose,
  requires_toolsets: names,
  requires_tools: names,
  fallback_for_toolsets: names,
  fallback_for_tools: names,
});

/** A score from 0 to 1; undefined for any other value. */
const score = z.coerce.number().min(0).max(1).optional().catch(undefined);

/** Keys of skills that an early Hermes wrote: flat there, and in `metadata` as the Agent Skills format allows. */
const early = { tools_used: names.catch([]), avg_feedback_score: score };

/** Unknown keys are ignored. */
const frontMatterSchema = z.looseObject({
  name: text.optional(),
  skill_id: text.optional(),
  description: prose,
  applicable_when: names,
  version: text.optional(),
  ...early,
  platforms: names,
  required_environment_variables: z
    .array(z.union([z.string(), z.looseObject({ name: z.string() }).transform(({ name }) => name)]))
    .nullish(),
  metadata: z
    .looseObject({ hermes: z.unknown().optional(), version: text.optional().catch(undefined), ...early })
    .nullish()
    .catch(undefined),
});

/** Parses a SKILL.md. `folder` is the name of its folder, which is the skill's name. Loads the YAML parser. */
export async function parseSkill(source: string, folder: string): Promise<ParsedSkill> {
  const problem = textProblem(source, MAX_SKILL_CHARS);
  if (problem !== undefined) return { ok: false, reason: problem };
  const head = FRONT_MATTER.exec(source.replace(/^\ufeff/, ""));
  if (head === null)
    return { ok: false, line: 1, reason: "it does not begin with front matter between two lines of ---" };
  const { parseYaml } = await import("../config/yaml.ts");
  let raw: unknown;
  try {
    raw = parsedFrontMatter(head[1] ?? "", parseYaml);
  } catch (error) {
    return {
      ok: false,
      line: 1,
      reason: `its front matter is not valid YAML: ${messageOf(error).split("\n", 1)[0]?.replace(/:$/, "")}`,
    };
  }
  const version = WRITTEN_VERSION.exec(head[1] ?? "")?.[1];
  const facts = factsOf(version === undefined ? (raw ?? {}) : Object.assign({}, raw, { version }), folder);
  if (typeof facts === "string") return { ok: false, line: 1, reason: facts };
  const body = source.slice(head[0].length).trim();
  return body === "" ? { ok: false, reason: "it has no text after its front matter" } : { ok: true, facts, body };
}

/** A key with its value, and the lines that go on with it. */
const ENTRY = /^(?!name:)(\w[\w-]*):[ \t]+(\S.*(?:\n[ \t]+\S.*)*)$/gm;

/** Prose with a colon or a bracket is no YAML, but other agents read it: such a value counts as text. Throws for what stays invalid. */
function parsedFrontMatter(text: string, parseYaml: (yaml: string) => unknown): unknown {
  try {
    return parseYaml(text);
  } catch {
    const spaced = text.replaceAll("\r\n", "\n").replaceAll("\t", "  ");
    return parseYaml(
      spaced.replaceAll(ENTRY, (entry: string, key: string, value: string) => {
        try {
          parseYaml(entry);
          return entry;
        } catch {
          return `${key}: ${JSON.stringify(value.replaceAll(/\s+/g, " ").replace(/^(["'])(.*)\1$/, "$2"))}`;
        }
      }),
    );
  }
}

/** Reason why a text of a skill is not used; undefined for a good text. `limit` in characters. */
export function textProblem(source: string, limit: number): string | undefined {
  if (source.length > limit) {
    return `it has ${source.length.toLocaleString("en")} characters; the limit is ${limit.toLocaleString("en")}`;
  }
  if (source.includes("\0")) return "it is not text";
  const threat = findThreatAnywhere(source);
  return threat === undefined ? undefined : `it contains ${threat}`;
}

/** Text that the scan reads as a whole, and the overlap of two such parts. Characters. */
const SCANNED_CHARS = 120_000;
const OVERLAP_CHARS = 1_000;

function findThreatAnywhere(source: string): string | undefined {
  for (let from = 0; from === 0 || from < source.length; from += SCANNED_CHARS - OVERLAP_CHARS) {
    const threat = findThreat(source.slice(from, from + SCANNED_CHARS));
    if (threat !== undefined) return threat;
  }
  return undefined;
}

/** Reason why `name` is not a valid name of a skill; undefined for a valid one. */
export function nameProblem(name: string): string | undefined {
  if (name.length > MAX_NAME) return `the name has ${name.length} characters; the limit is ${MAX_NAME}`;
  if (NAME.test(name)) return undefined;
  return `the name ${JSON.stringify(name)} must consist of lower-case letters, digits and single hyphens`;
}

/** A category as the prompt shows it; undefined for a text without letters and digits. */
export function categoryName(text: string | undefined): string | undefined {
  const name = text
    ?.toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, "-")
    .replaceAll(/^-|-$/g, "")
    .slice(0, MAX_NAME);
  return name || undefined;
}

/** Returns a string with the reason when the front matter is wrong. */
function factsOf(raw: unknown, folder: string): SkillFacts | string {
  const parsed = frontMatterSchema.safeParse(raw);
  if (!parsed.success) return `its front matter is wrong: ${problemsOf(parsed.error, "")}`;
  const { data } = parsed;
  const hermes = hermesSchema.safeParse(data.metadata?.hermes ?? {});
  if (!hermes.success) return `its front matter is wrong: ${problemsOf(hermes.error, "metadata.hermes.")}`;
  const name = data.name ?? (data.skill_id === undefined ? undefined : folder);
  if (name === undefined) return "its front matter has no name";
  const wrongName = nameProblem(name);
  if (wrongName !== undefined) return wrongName;
  if (name !== folder)
    return `the name ${JSON.stringify(name)} differs from the name of its folder, ${JSON.stringify(folder)}`;
  const description = (data.description ?? data.applicable_when.join("; ")).replaceAll(/\s+/g, " ").trim();
  if (description === "") return "its front matter has no description";
  if (description.length > MAX_DESCRIPTION) {
    return `the description has ${description.length.toLocaleString("en")} characters; the limit is ${MAX_DESCRIPTION.toLocaleString("en")}`;
  }
  return {
    name,
    description,
    version: data.version ?? data.metadata?.version ?? "",
    category: categoryName(hermes.data.category),
    platforms: data.platforms.map((platform) => platform.toLowerCase()),
    requires: { toolsets: hermes.data.requires_toolsets, tools: hermes.data.requires_tools },
    fallbackFor: { toolsets: hermes.data.fallback_for_toolsets, tools: hermes.data.fallback_for_tools },
    variables: data.required_environment_variables ?? [],
    author: hermes.data.author,
    ...provenanceOf(data, hermes.data.project),
  };
}

function provenanceOf(
  { tools_used, avg_feedback_score, metadata }: z.infer<typeof frontMatterSchema>,
  project: string | undefined,
): Pick<SkillFacts, "project" | "toolsUsed" | "score"> {
  const toolsUsed = [...tools_used, ...(metadata?.tools_used ?? [])];
  const rating = avg_feedback_score ?? metadata?.avg_feedback_score;
  return {
    ...(project !== undefined && { project }),
    ...(toolsUsed.length > 0 && { toolsUsed }),
    ...(rating !== undefined && { score: rating }),
  };
}

function problemsOf(error: z.ZodError, prefix: string): string {
  return error.issues.map((issue) => `${prefix}${issue.path.join(".")}: ${issue.message}`).join("; ");
}

/** The text with these values in `metadata.hermes` of its front matter; comments and order stay. Throws for invalid YAML. */
export async function withFrontMatter(source: string, values: Readonly<Record<string, string>>): Promise<string> {
  const head = FRONT_MATTER.exec(source);
  if (head === null) return source;
  const { withValues } = await import("../config/yaml.ts");
  const yaml = withValues(head[1] ?? "", ["metadata", "hermes"], values).trimEnd();
  return `---\n${yaml}\n---\n${source.slice(head[0].length)}`;
}

/** Text after the front matter. */
export function bodyOf(source: string): string {
  return source.replace(FRONT_MATTER, "").trim();
}
