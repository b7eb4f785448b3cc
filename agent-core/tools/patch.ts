import * as z from "zod";
import { isRecord, parseRepairedJson } from "../platform/json.ts";
import type { FileSection } from "./patch/v4a/parse-patch.ts";
import { asV4a, candidatePaths, parsePatch } from "./patch/v4a/parse-patch.ts";
import { absolutePath, shortTitle } from "./shown-path.ts";
import { defineTool } from "./tool.ts";

const input = z
  .object({
    mode: z.enum(["replace", "patch"]).default("replace"),
    path: z.string().min(1).exactOptional(),
    old_string: z.string().min(1).exactOptional().describe("Exact text, without line numbers"),
    new_string: z.string().exactOptional(),
    replace_all: z.boolean().default(false),
    patch: z
      .string()
      .min(1)
      .exactOptional()
      .describe(
        "V4A: *** Begin Patch, for each file *** Add File: p (lines with +), *** Delete File: p or *** Update File: p (*** Move to: q), hunks of @@ context line, then lines with ' ', - or +; *** End Patch",
      ),
  })
  .superRefine((call, refinement) => {
    const needed = call.mode === "patch" ? (["patch"] as const) : (["path", "old_string", "new_string"] as const);
    for (const name of needed) {
      if (call[name] !== undefined) continue;
      refinement.addIssue({ code: "custom", path: [name], message: `is needed in mode ${call.mode}` });
    }
  });

type Call = z.infer<typeof input>;
type Fields = Readonly<Record<string, unknown>>;

export const tool = defineTool({
  name: "patch",
  toolset: "file",
  kind: "edit",
  readOnly: false,
  need: "core",
  description:
    "Change files. Mode replace: new_string replaces old_string, which is in the file once unless replace_all is set. Mode patch: changes of several files, all or nothing.",
  input,
  ownForm,
  title: (call) => shortTitle(titleOf(call)),
  locations: (call, cwd) => pathsOf(call, cwd).map((path) => ({ path })),
  effect: (call, cwd) => ({ kind: "edit", paths: pathsOf(call, cwd) }),
  // Loaded with the first edit: no start needs its code.
  async stage(call, context) {
    if (call.mode === "replace") return (await import("./patch/stage-replace.ts")).stageReplace(call, context);
    const { stagePatch } = await import("./patch/v4a/stage-patch.ts");
    return stagePatch(call.patch ?? "", context);
  },
});

/** A patch under another name, in another mode or in the form of another agent, such as a list of edits. */
function ownForm(raw: unknown): unknown {
  const listed = Object.entries(Object(raw)).find(([key]) => /^(?:edits?|changes|replacements)$/i.test(key))?.[1];
  const edits = [typeof listed === "string" ? parseRepairedJson(listed) : (listed ?? [])].flat();
  if (edits.length > 0 && edits.every(isRecord)) return ofEdits(Object(raw), edits);
  const { old_string: old, ...given } = z.record(z.string(), z.unknown()).safeParse(raw).data ?? {};
  const texts = Object.entries(given).flatMap(([key, value]) => (typeof value === "string" ? [{ key, value }] : []));
  const path = texts.find(({ key }) => /path|file/i.test(key))?.value;
  const patch = texts.map(({ value }) => asV4a(value, path)).find((each) => each !== undefined);
  return patch === undefined || old !== undefined ? raw : { mode: "patch", patch };
}

/** Claude Code's MultiEdit and others: one edit is a replacement, several are a patch of whole lines. */
function ofEdits({ edits: _, ...raw }: Readonly<Record<string, unknown>>, edits: readonly Fields[]): unknown {
  const [only] = edits;
  if (edits.length === 1) return { ...raw, ...only };
  const pick = (fields: Fields, name: RegExp): string =>
    String(Object.entries(fields).find(([key, value]) => name.test(key) && typeof value === "string")?.[1] ?? "");
  const path = pick(raw, /path|file/i);
  const marked = (text: string, mark: string): string =>
    text === "" ? "" : text.replace(/\n$/, "").replaceAll(/^/gm, mark).concat("\n");
  const hunks = edits.map(
    (edit) =>
      `@@\n${marked(pick(edit, /^(?:old|search|find|orig|before)/i), "-")}${marked(pick(edit, /^(?:new|repl|updated|after)/i), "+")}`,
  );
  return { mode: "patch", patch: `*** Update File: ${path}\n${hunks.join("")}` };
}

function titleOf(call: Call): string {
  if (call.mode === "replace") return `Edit ${call.path}`;
  const sections = sectionsOf(call);
  const [first] = sections;
  if (first === undefined) return "Edit files";
  const verb = { add: "Create", update: "Edit", delete: "Delete" }[first.kind];
  return sections.length === 1 ? `${verb} ${first.path}` : `${verb} ${first.path} and ${sections.length - 1} more`;
}

function pathsOf(call: Call, cwd: string): readonly string[] {
  if (call.mode === "replace") return [absolutePath(call.path ?? "", cwd)];
  const paths = sectionsOf(call).flatMap((section) => {
    const moveTo = section.kind === "update" ? section.moveTo : undefined;
    return [...candidatePaths(section, cwd), ...(moveTo === undefined ? [] : [absolutePath(moveTo, cwd)])];
  });
  return [...new Set(paths)];
}

/** Empty for a patch that cannot be read, which is refused before anything is done. */
function sectionsOf({ patch = "" }: Call): readonly FileSection[] {
  const parsed = parsePatch(patch);
  return parsed.ok ? parsed.sections : [];
}
