/** Sections that config.yaml leaves out. The bundles hold them ready-made: scripts/ready-made.ts replaces this file. */
import { type Config, type SectionName, sections } from "./sections.ts";

export function sectionDefault<Name extends SectionName>(name: Name): Config[Name] {
  return sections[name].parse(undefined) as Config[Name]; // from the schema of this name
}
