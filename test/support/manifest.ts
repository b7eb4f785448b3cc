/** package.json as VS Code reads it: with the texts of its keys. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { projectFolder } from "../../scripts/project.ts";

/** `language`: of package.nls.LANGUAGE.json; English by default. Texts without a key in that file are English. */
export function readManifest<Manifest>(language = "en"): Manifest {
  const english = readTexts("package.nls.json");
  const texts = language === "en" ? english : { ...english, ...readTexts(`package.nls.${language}.json`) };
  const json = readFileSync(join(projectFolder, "package.json"), "utf8");
  return JSON.parse(json, (_, value: unknown) => {
    const key = typeof value === "string" ? /^%(.+)%$/.exec(value)?.[1] : undefined;
    return key === undefined ? value : texts[key];
  });
}

function readTexts(file: string): Readonly<Record<string, string>> {
  return JSON.parse(readFileSync(join(projectFolder, file), "utf8"));
}
