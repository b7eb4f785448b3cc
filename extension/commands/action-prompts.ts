/**
 * Prompts of the editor actions, in the language of VS Code: the model answers in it. The code travels as an attachment.
 * The first line names the code, because it becomes the title of the session.
 */
import * as vscode from "vscode";
import { fenced } from "../../agent-core/platform/visible-text.ts";
import { FINDINGS_FORM } from "./review-findings.ts";

/** `name` of the code: `parseUrl in url.ts`. */
export const explainPrompt = (name: string): string =>
  titled(
    vscode.l10n.t("Explain {0}", name),
    vscode.l10n.t(
      "Explain the attached code: first its purpose in a sentence or two, then how it works and what else in the project depends on it. Point out what is surprising or fragile. Change nothing.",
    ),
  );

/** `place` of the hunk: `url.ts:12`. */
export const explainHunkPrompt = (place: string): string =>
  titled(
    vscode.l10n.t("Explain the edit in {0}", place),
    vscode.l10n.t(
      "Explain the attached edit: its purpose, what behaves differently after it, and what else in the project it affects. Say if you doubt that it is right. Change nothing.",
    ),
  );

/** `name` of the code: `parseUrl in url.ts`. */
export const testsPrompt = (name: string): string =>
  titled(
    vscode.l10n.t("Write tests for {0}", name),
    vscode.l10n.t(
      "Write tests for the attached code with the test framework, the folders and the style of this project. Cover what it promises, its edge cases and its errors, rather than its implementation. Run the tests. If one of them uncovers a bug, report the bug and leave the code as it is.",
    ),
  );

/** `name` of the code: `parseUrl in url.ts`. */
export const documentPrompt = (name: string): string =>
  titled(
    vscode.l10n.t("Document {0}", name),
    vscode.l10n.t(
      "Document the attached code with doc comments in the style of this project: purpose, parameters, result, errors, and what else a caller must know. Do not restate the code. Change nothing but comments.",
    ),
  );

const REVIEW = vscode.l10n.t(
  "Review them like a careful colleague: bugs, security problems, missing tests, and code that is harder to read than it needs to be. Check each suspicion in the code before you report it. The most serious finding comes first; say so if there are none. Change nothing.",
);

export const reviewPrompt = titled(
  vscode.l10n.t("Review my changes"),
  `${vscode.l10n.t("The changes are attached.")} ${REVIEW}\n\n${FINDINGS_FORM}`,
);

/** `source`: a command that prints the changes, such as `git diff main...HEAD`. */
export const reviewOfPrompt = (title: string, source: string): string =>
  titled(title, `${vscode.l10n.t("The changes are those of `{0}`.", source)} ${REVIEW}\n\n${FINDINGS_FORM}`);

/** `into`: the branch that the worktree's work goes to. */
export const conflictPrompt = (into: string, files: readonly string[]): string =>
  titled(
    vscode.l10n.t("Resolve the conflicts with {0}", into),
    vscode.l10n.t(
      "Merge {0} into the branch of this worktree, and resolve the conflicts in {1} so that both changes keep their purpose. Run the tests, then commit the merge.",
      into,
      files.join(", "),
    ),
  );

/** `branch`: the branch of the pull request. */
export const pullRequestPrompt = (branch: string): string =>
  titled(
    vscode.l10n.t("Create a pull request"),
    vscode.l10n.t(
      "Create a pull request for the branch {0} with the GitHub CLI. Commit what belongs to this session, after asking me if other changes are there. Push the branch, then run `gh pr create` with a title and a description that say what changes and why, in the style of earlier pull requests. Report its address.",
      branch,
    ),
  );

/** `problems`: one line each. `place` names the code: `url.ts:12`. */
export function fixPrompt(problems: readonly string[], place: string): string {
  const text = vscode.l10n.t(
    "Fix what is reported below at the cause, with the smallest change that is right. Read the code around it and its callers first. Do not silence the check. Then make sure that the report is gone.",
  );
  return titled(vscode.l10n.t("Fix {0}", place), `${text}\n\n${fenced(problems.join("\n"), "text")}`);
}

/** `problems`: one line each. `place` names the code: `url.ts:12`. */
export function explainProblemPrompt(problems: readonly string[], place: string): string {
  const text = vscode.l10n.t("Explain what is reported below: the cause, and the ways to fix it. Change nothing.");
  return titled(vscode.l10n.t("Explain {0}", place), `${text}\n\n${fenced(problems.join("\n"), "text")}`);
}

/** The two blanks, which nobody sees, tell the panel to fold the instructions. */
function titled(title: string, text: string): string {
  return `${title}  \n\n${text}`;
}

/** `place` names the lines: `src/menu.ts:12-20`. */
export function inlinePrompt(instruction: string, place: string): string {
  const text = vscode.l10n.t(
    "This is about {0}, see the attached lines. Change that place in the file, and other code only where the change needs it. Run nothing unless asked to. Answer in one or two sentences. If this is a question, answer it and change nothing.",
    place,
  );
  return titled(instruction.trim(), text);
}
