// CHANGELOG.md: its rules, and the step from "Unreleased" to a version.

/** Most words of an entry. */
const MOST_WORDS = 25;

const UNRELEASED = "## Unreleased";
const TOPIC = /^### (?:Added|Changed|Fixed|Removed|Security)\b/;

/** Problems of the unreleased entries: no heading of their kind, or over 25 words. */
export function changelogProblems(changelog: string): readonly string[] {
  if (!changelog.includes(`\n${UNRELEASED}\n`)) return [`CHANGELOG.md has no section "${UNRELEASED}".`];
  return entryProblems(sectionsOf(changelog)[0] ?? "");
}

function entryProblems(section: string): readonly string[] {
  let topic = false;
  return section.split("\n").flatMap((line) => {
    if (line.startsWith("### ")) {
      topic = TOPIC.test(line);
      return topic ? [] : [`CHANGELOG.md: "${line}" is not Added, Changed, Fixed, Removed or Security.`];
    }
    if (!line.startsWith("- ")) return [];
    const words = line.split(" ").length - 1;
    return [
      ...(topic ? [] : [`CHANGELOG.md has an entry without a heading of its kind: ${line}`]),
      ...(words > MOST_WORDS ? [`CHANGELOG.md has an entry of ${words} words, more than ${MOST_WORDS}: ${line}`] : []),
    ];
  });
}

/** The changelog with the unreleased entries under `version`. `date` is YYYY-MM-DD. @throws without unreleased entries. */
export function releasedChangelog(changelog: string, version: string, date: string): string {
  if (!/^- /m.test(sectionsOf(changelog)[0] ?? "")) {
    throw new Error(`CHANGELOG.md has no entries under "${UNRELEASED}": there is nothing to release.`);
  }
  return changelog.replace(`${UNRELEASED}\n`, `${UNRELEASED}\n\n## ${version} (${date})\n`);
}

/** The entries of `version` without their heading, as a forge shows them beside a release. */
export function releaseNotes(changelog: string, version: string): string {
  const section = sectionsOf(changelog).find((text) => text.startsWith(`${version} `)) ?? "";
  return section.slice(section.indexOf("\n")).trim();
}

function sectionsOf(changelog: string): readonly string[] {
  return changelog.split(/^## /m).slice(1);
}
