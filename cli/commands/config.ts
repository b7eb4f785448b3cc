/** `hermes config`: settings of config.yaml. */
import { writeFileSync } from "node:fs";
import { loadConfig } from "../../agent-core/config/config.ts";
import { configFile, homeFolder } from "../../agent-core/config/home.ts";
import { changeConfig } from "../../agent-core/config/home-file.ts";
import { takeEnvironment } from "../../agent-core/host/terminals/command-environment.ts";
import { UsageError } from "../../agent-core/platform/errors.ts";
import { openInEditor } from "../chat/outside.ts";
import { say } from "../output.ts";
import { EXIT, subcommand } from "../subcommand.ts";

const needs = "the name of a setting, such as agent.max_turns; docs/config.md lists them";

export const command = subcommand({
  verbs: {
    path: { summary: "print the path of config.yaml" },
    get: { summary: "print a setting of the file, or all of them", operands: "[NAME]" },
    set: { summary: "change a setting; the value is YAML, and comments stay", operands: "NAME VALUE", needs },
    unset: { summary: "remove a setting, so that its default applies", operands: "NAME", needs },
    check: { summary: "check names and values" },
    migrate: { summary: "rewrite names of earlier versions, after a copy of the file" },
    edit: { summary: "open the file in $EDITOR, and check it" },
  },
  examples: [
    ["config set agent.max_turns 60", "change one setting"],
    ["config check", "find misspelt names and wrong values"],
  ],
  async run({ verb, operands: [name = "", ...value] }) {
    const environment = takeEnvironment();
    const home = homeFolder(environment);
    switch (verb) {
      case "path":
        say(configFile(home));
        return EXIT.done;
      case "get":
        return get(name, (await loadConfig(home, environment)).raw);
      case "set":
        if (value.length === 0) throw new UsageError(`${name} needs a value`);
        await change(home, name, value.join(" "));
        return EXIT.done;
      case "unset":
        await change(home, name, undefined);
        return EXIT.done;
      case "migrate":
        return migrate(home);
      case "edit":
        await openInEditor(configFile(home), process.cwd());
        return check();
      case "check":
        return check();
    }

    async function check(): Promise<number> {
      const { errors, warnings } = await loadConfig(home, environment);
      for (const problem of [...errors, ...warnings]) say(problem);
      if (errors.length + warnings.length === 0) say(`${configFile(home)} has no problems.`);
      return errors.length + warnings.length === 0 ? EXIT.done : EXIT.failed;
    }
  },
});

/** `value`: YAML; undefined removes the setting. Rejects, without writing, for an unknown name and for a wrong value. */
async function change(home: string, name: string, value: string | undefined): Promise<void> {
  const [{ parseYaml, withSetting }, { checkNames }, { sections }] = await Promise.all([
    import("../../agent-core/config/yaml.ts"),
    import("../../agent-core/config/setting-names.ts"),
    import("../../agent-core/config/sections.ts"),
  ]);
  const path = name.split(".");
  const problemsOf = (text: string): readonly string[] => {
    const { errors, warnings } = checkNames(Object(parseYaml(text)));
    return [...errors, ...warnings];
  };
  await changeConfig(home, name, (text) => {
    const changed = withSetting(text, path, value);
    if (value === undefined) return changed;
    const problem = problemsOf(changed).find((line) => !problemsOf(text).includes(line));
    if (problem !== undefined) throw new Error(problem.replace(/^config\.yaml: /, ""));
    const schema = Object.entries(sections).find(([section]) => section === path[0])?.[1];
    const [issue] = schema?.safeParse(Object(parseYaml(changed))[path[0] ?? ""]).error?.issues ?? [];
    if (issue !== undefined) throw new Error(`${name} is not valid: ${issue.message}`);
    return changed;
  });
}

/** Keeps a copy beside the file, with the time in its name. */
async function migrate(home: string): Promise<number> {
  const { migrateConfig } = await import("../../agent-core/config/migrate-config.ts");
  const copy = `${configFile(home)}.${new Date().toISOString().replaceAll(/[:.]/g, "-")}.bak`;
  let changes: readonly string[] = [];
  await changeConfig(home, "the present names", (text) => {
    const migrated = migrateConfig(text);
    ({ changes } = migrated);
    if (changes.length > 0) writeFileSync(copy, text, { mode: 0o600, flag: "wx" });
    return migrated.text;
  });
  for (const change of changes) say(`${change}.`);
  say(changes.length === 0 ? `${configFile(home)} has no old names.` : `The file as it was: ${copy}`);
  return EXIT.done;
}

/** Prints text as it is, and anything else as JSON. */
function get(name: string, raw: Readonly<Record<string, unknown>>): number {
  const value = name === "" ? raw : name.split(".").reduce<unknown>((found, key) => Object(found)[key], raw);
  if (value === undefined) throw new Error(`${name} is not set in config.yaml: its default applies.`);
  say(typeof value === "string" ? value : JSON.stringify(value, undefined, 2));
  return EXIT.done;
}
