/** Front matter of Markdown files that people write for agents: YAML, or what they take for it. */
import * as z from "zod";
import { messageOf } from "../platform/errors.ts";

/** At the beginning: a rule between two parts of a text is no front matter. A comment may stand in the line above. */
export const FRONT_MATTER =
  /^\ufeff?(?:\s*\n)?(?:<!--(?:(?!-->)[\s\S])*-->[ \t]*\r?\n)?---[ \t]*\r?\n((?:[\s\S]*?\r?\n)?)(?:---|\.\.\.)[ \t]*(?:\r?\n|$)/;

export type FrontMatter = {
  readonly fields: Readonly<Record<string, unknown>>;
  /** Text between its lines; undefined for a file without front matter, whose YAML is a mapping. */
  readonly yaml: string | undefined;
  /** Text after it. */
  readonly body: string;
  /** Reason why it is not YAML; undefined for YAML. */
  readonly problem?: string;
};

const record = z.record(z.string(), z.unknown());

/** Undefined for a list and a mapping, which may have a `toString` of their own. */
export function plainText(value: unknown): string | undefined {
  return ["string", "number", "boolean"].includes(typeof value) ? String(value) : undefined;
}

/** One name, several with commas between them, or a list. */
export const nameList = z
  .union([
    z.string().transform((text) => text.split(",")),
    z.array(z.union([z.string(), z.number()]).transform(String)),
  ])
  .transform((list) => list.map((name) => name.trim()).filter((name) => name !== ""));

/** A key with its value, and the lines that go on with it. */
const ENTRY = /^([\w-]+):[ \t]*(.*(?:\n(?:[ \t]+|-[ \t]|(?=\n)).*)*)/gm;

/** Prose with a colon or a bracket is no YAML, but other agents read it: such a value counts as text. Loads the YAML parser. */
export async function readFrontMatter(source: string): Promise<FrontMatter> {
  const [head = "", yaml] = FRONT_MATTER.exec(source) ?? [];
  const whole = { fields: {}, yaml: undefined, body: source.replace(/^\ufeff/, "").trim() };
  if (yaml === undefined) return whole;
  const body = source.slice(head.length).trim();
  const { parseYaml } = await import("./yaml.ts");
  try {
    const { data } = record.safeParse(yaml.trim() === "" ? {} : parseYaml(yaml));
    return data === undefined ? whole : { fields: data, yaml, body };
  } catch (error) {
    const text = yaml.replaceAll("\r\n", "\n").replaceAll("\t", "  ");
    const entries = [...text.matchAll(ENTRY)].map(([entry, key = "", value = ""]) => {
      try {
        return [key, record.parse(parseYaml(entry))[key]];
      } catch {
        const words = key === "name" ? value.split("\n", 1).join() : value.replaceAll(/\s+/g, " ");
        return [key, words.trim().replace(/^(["'])(.*)\1$/, "$2")];
      }
    });
    if (entries.length === 0) return whole;
    return { fields: Object.fromEntries(entries), yaml, body, problem: messageOf(error).split("\n", 1)[0] ?? "" };
  }
}
