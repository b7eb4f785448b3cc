/** Front matter of Markdown files that people write for agents: YAML, or what they take for it. */
import * as z from "zod";
import { messageOf } from "../platform/errors.ts";

export const FRONT_MATTER =
  /^\ufeff?\s*(?:<!--[\s\S]*?-->\s*)?---[ \t]*\r?\n((?:[\s\S]*?\r?\n)?)(?:---|\.\.\.)[ \t]*(?:\r?\n|$)/;

export type FrontMatter = {
  readonly fields: Readonly<Record<string, unknown>>;
  /** Text between its lines; undefined for a file without front matter. */
  readonly yaml: string | undefined;
  /** Text after it. */
  readonly body: string;
  /** Reason why it is not YAML; undefined for YAML. */
  readonly problem?: string;
};

const record = z.record(z.string(), z.unknown()).catch({});

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
  const body = source
    .slice(head.length)
    .replace(/^\ufeff/, "")
    .trim();
  if (yaml === undefined) return { fields: {}, yaml, body };
  const { parseYaml } = await import("./yaml.ts");
  try {
    return { fields: record.parse(parseYaml(yaml)), yaml, body };
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
    return { fields: Object.fromEntries(entries), yaml, body, problem: messageOf(error).split("\n", 1)[0] ?? "" };
  }
}
