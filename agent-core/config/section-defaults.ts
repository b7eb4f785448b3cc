/** Sections that config.yaml leaves out. The bundles hold them ready-made: scripts/ready-made.ts replaces this file. */
import type * as z from "zod";
import { type SectionName, sections } from "./sections.ts";

export function sectionDefault<Name extends SectionName>(name: Name): z.output<(typeof sections)[Name]> {
  return sections[name].parse(undefined) as z.output<(typeof sections)[Name]>; // from the schema of this name
}
