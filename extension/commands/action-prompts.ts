/** Prompts of the editor actions. The code itself travels as an attachment. */

const CHANGE_NOTHING = "Change nothing.";

export const explainPrompt = [
  "Explain the attached code: first its purpose in a sentence or two, then how it works and what else in the project",
  `depends on it. Point out what is surprising or fragile. ${CHANGE_NOTHING}`,
].join(" ");

export const testsPrompt = [
  "Write tests for the attached code with the test framework, the folders and the style of this project. Cover what it",
  "promises, its edge cases and its errors, rather than its implementation. Run the tests. If one of them uncovers a bug,",
  "report the bug and leave the code as it is.",
].join(" ");

export const documentPrompt = [
  "Document the attached code with doc comments in the style of this project: purpose, parameters, result, errors, and",
  "what else a caller must know. Do not restate the code. Change nothing but comments.",
].join(" ");

export const reviewPrompt = [
  "Review the attached changes like a careful colleague: bugs, security problems, missing tests, and code that is harder",
  "to read than it needs to be. Check each suspicion in the code before you report it. List the findings with file, line",
  `and a suggestion, the most serious first, or say that there are none. ${CHANGE_NOTHING}`,
].join(" ");

/** `problems`: one line each. */
export function fixPrompt(problems: readonly string[]): string {
  return [
    `Fix ${problems.length === 1 ? "this problem" : "these problems"} at the cause, with the smallest change that is right.`,
    "Read the code around it and its callers first. Do not silence the check. Then make sure that the problem is gone.",
    `\n\n${problems.join("\n")}`,
  ].join(" ");
}

/** `problems`: one line each. */
export function explainProblemPrompt(problems: readonly string[]): string {
  const subject = problems.length === 1 ? "this problem" : "these problems";
  return `Explain ${subject}: the cause, and the ways to fix it. ${CHANGE_NOTHING}\n\n${problems.join("\n")}`;
}

/** `place` names the lines: `src/menu.ts:12-20`. */
export function inlinePrompt(instruction: string, place: string): string {
  return [
    `${instruction.trim()}\n\nThis is about ${place}, see the attached lines.`,
    "Change that place in the file, and other code only where the change needs it. Run nothing unless asked to.",
    "Answer in one or two sentences. If this is a question, answer it and change nothing.",
  ].join(" ");
}
