// Checks the links of the Markdown documents: each relative one leads to a file, and each anchor to a heading of it.
import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { dirname, join, normalize } from "node:path";

const documents = execFileSync("git", ["ls-files", "-co", "--exclude-standard", "*.md", "docs/*.md"])
  .toString()
  .split("\n")
  .filter((path) => /^(docs\/)?[^/]+\.md$/.test(path) && existsSync(path));

const problems = documents.flatMap((path) =>
  [...proseOf(path).matchAll(/\]\(([^)\s]+)\)/g)].flatMap(([, link]) => problemOf(path, link) ?? []),
);
for (const problem of problems) console.error(problem);
process.exitCode = problems.length > 0 ? 1 : 0;

/** Text without code, in which brackets are no links. */
function proseOf(path) {
  return readFileSync(path, "utf8")
    .replace(/^```[\s\S]*?^```/gm, "")
    .replace(/`[^`\n]*`/g, "");
}

function problemOf(path, link) {
  if (/^[a-z]+:/i.test(link)) return undefined;
  const [file, anchor] = link.split("#", 2);
  const target = file === "" ? path : normalize(join(dirname(path), file));
  if (!existsSync(target)) return `${path}: ${link} leads to no file.`;
  if (anchor === undefined || !target.endsWith(".md")) return undefined;
  return anchorsOf(target).has(anchor) ? undefined : `${path}: ${link} leads to no heading of ${target}.`;
}

/** Anchors as GitHub makes them from headings. */
function anchorsOf(path) {
  const headings = [...readFileSync(path, "utf8").matchAll(/^#+\s+(.*)$/gm)].map(([, heading]) => heading);
  return new Set(
    headings.map((heading) =>
      heading
        .toLowerCase()
        .replace(/[^\p{L}\p{N}\s_-]/gu, "")
        .trim()
        .replaceAll(/\s/g, "-"),
    ),
  );
}
