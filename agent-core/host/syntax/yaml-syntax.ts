/** YAML, one document or several. */
import { parseAllDocuments } from "yaml";
import type { Problem } from "../problems.ts";
import { problemAt } from "./problem-at.ts";

const NAMED = 5;

export function checkYaml(text: string): readonly Problem[] {
  const documents = parseAllDocuments(text, { logLevel: "silent", prettyErrors: false });
  const errors = "empty" in documents ? documents.errors : documents.flatMap((document) => document.errors);
  return errors.slice(0, NAMED).map(({ pos, message }) => problemAt(text, pos[0], message));
}
