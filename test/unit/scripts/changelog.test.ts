import { expect, test } from "vitest";
import { changelogProblems, releasedChangelog, releaseNotes } from "../../../scripts/changelog.ts";

const CHANGELOG = `# Changelog

## Unreleased

### Added

- Sessions can be pinned.

## 0.1.0

First version. An old entry may have any form:

### Panel

- The panel is in the side bar.
`;

test("a release moves the unreleased entries under its version and date", () => {
  const released = releasedChangelog(CHANGELOG, "0.2.0", "2026-11-28");
  expect(released).toContain("## Unreleased\n\n## 0.2.0 (2026-11-28)\n\n### Added\n\n- Sessions can be pinned.\n");
  expect(releaseNotes(released, "0.2.0")).toBe("### Added\n\n- Sessions can be pinned.");
});

test("a release without unreleased entries is refused", () => {
  const released = releasedChangelog(CHANGELOG, "0.2.0", "2026-11-28");
  expect(() => releasedChangelog(released, "0.3.0", "2026-12-01")).toThrow("there is nothing to release");
});

test("an entry needs a heading of its kind and at most 25 words", () => {
  const long = `- ${"word ".repeat(26).trim()}`;
  const wrong = CHANGELOG.replace("### Added\n\n", `${long}\n\n### Added\n\n`);
  expect(changelogProblems(wrong)).toEqual([
    expect.stringContaining("without a heading"),
    expect.stringContaining("an entry of 26 words"),
  ]);
  expect(changelogProblems(CHANGELOG.replace("### Added", "### Panel"))).toEqual([
    'CHANGELOG.md: "### Panel" is not Added, Changed, Fixed, Removed or Security.',
    expect.stringContaining("without a heading"),
  ]);
  expect(changelogProblems(CHANGELOG)).toEqual([]);
});
