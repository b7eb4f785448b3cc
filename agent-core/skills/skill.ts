/** A skill: a folder with a SKILL.md in the Agent Skills format. Reads its front matter, and checks the text. */
import * as z from "zod";
import { FRONT_MATTER, type FrontMatter, nameList, plainText, readFrontMatter } from "../config/front-matter.ts";
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
  /** Only the user calls it, by name. */
  readonly isForUser?: boolean;
  /** Folder of the project for which it holds, absolute; undefined: everywhere. */
  readonly project?: string;
};

export type ParsedSkill =
  /** `deviation`: reason why other agents may refuse it. A text of ours has none. */
  | { readonly ok: true; readonly facts: SkillFacts; readonly body: string; readonly deviation?: string | undefined }
  /** `reason` is a sentence for people; `line` is 1-based. */
  | { readonly ok: false; readonly reason: string; readonly line?: number };

const names = nameList.nullish().transform((list) => list ?? []);

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

/** Unknown keys are ignored. */
const frontMatterSchema = z.looseObject({
  name: text.optional().catch(undefined),
  skill_id: text.optional(),
  description: prose,
  applicable_when: names,
  /** Claude Code: more of the description. */
  when_to_use: prose,
  version: text.optional().catch(undefined),
  /** Claude Code and VS Code: only the user calls the skill. */
  "disable-model-invocation": z.unknown().optional(),
  platforms: names,
  required_environment_variables: z
    .union([
      nameList,
      z.array(z.union([z.string(), z.looseObject({ name: z.string() }).transform(({ name }) => name)])),
    ])
    .nullish(),
  metadata: z
    .looseObject({ hermes: z.unknown().optional(), version: text.optional().catch(undefined) })
    .nullish()
    .catch(undefined),
});

/** Parses a SKILL.md. `folder` is the name of its folder, which is the skill's name by default. Loads the YAML parser. */
export async function parseSkill(source: string, folder: string): Promise<ParsedSkill> {
  const wrong = textProblem(source, MAX_SKILL_CHARS);
  if (wrong !== undefined) return { ok: false, reason: wrong };
  const { fields, yaml, body, problem } = await readFrontMatter(source);
  if (body === "") return { ok: false, reason: "it has no text after its front matter" };
  const version = WRITTEN_VERSION.exec(yaml ?? "")?.[1];
  const facts = factsOf(version === undefined ? fields : { ...fields, version }, folder, body);
  if (typeof facts === "string") return { ok: false, line: 1, reason: facts };
  if (yaml === undefined)
    return { ok: true, facts, body, deviation: "it does not begin with front matter between two lines of ---" };
  const invalid = problem && `its front matter is not valid YAML: ${problem}`;
  return { ok: true, facts, body, deviation: invalid ?? deviationOf(fields, folder) };
}

/** Reason why front matter is not in the Agent Skills format, which demands more than agents do. */
function deviationOf({ name, description }: FrontMatter["fields"], folder: string): string | undefined {
  if (name === undefined) return "its front matter has no name";
  const wrongName = nameProblem(plainText(name) ?? "");
  if (wrongName !== undefined) return wrongName;
  if (name !== folder)
    return `the name ${JSON.stringify(name)} differs from the name of its folder, ${JSON.stringify(folder)}`;
  const described = prose.parse(description)?.trim() ?? "";
  if (described === "") return "its front matter has no description";
  if (described.length > MAX_DESCRIPTION)
    return `the description is longer than ${MAX_DESCRIPTION.toLocaleString("en")} characters`;
  return undefined;
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

/** Returns a string with the reason when the front matter is wrong. `body`: its first line describes a skill without a description. */
function factsOf(raw: FrontMatter["fields"], folder: string, body: string): SkillFacts | string {
  const parsed = frontMatterSchema.safeParse(raw);
  if (!parsed.success) return `its front matter is wrong: ${problemsOf(parsed.error, "")}`;
  const { data } = parsed;
  const hermes = hermesSchema.safeParse(data.metadata?.hermes ?? {});
  if (!hermes.success) return `its front matter is wrong: ${problemsOf(hermes.error, "metadata.hermes.")}`;
  const written = data.name ?? folder;
  const name = /[/\\]/.test(written) ? undefined : (categoryName(written) ?? categoryName(folder));
  if (name === undefined) return nameProblem(written) ?? "";
  const [firstLine = ""] = body.replace(/^#+\s*/, "").split("\n", 1);
  const described = [data.description ?? data.applicable_when.join("; "), data.when_to_use ?? ""].join(" ");
  const description = (described.trim() || firstLine)
    .replaceAll(/\s+/g, " ")
    .trim()
    .slice(0, MAX_DESCRIPTION)
    .toWellFormed();
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
    isForUser: plainText(data["disable-model-invocation"]) === "true",
    ...(hermes.data.project !== undefined && { project: hermes.data.project }),
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
