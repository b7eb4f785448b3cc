/** Editor actions: each sends a prompt with the code to the session that the panel shows. */
import * as vscode from "vscode";
import { findProgram } from "../../agent-core/platform/find-program.ts";
import type { Attachment } from "../../agent-core/protocol/attachments.ts";
import { nameOf } from "../attachments/workspace-files.ts";
import { showInformation, withErrorMessage } from "../notifications.ts";
import { hunkAt } from "../review/hunk-keys.ts";
import type { Services } from "../services.ts";
import {
  documentPrompt,
  explainHunkPrompt,
  explainPrompt,
  pullRequestPrompt,
  reviewOfPrompt,
  reviewPrompt,
  testsPrompt,
} from "./action-prompts.ts";
import { codeAt, editorInUse } from "./code-at-cursor.ts";
import { chooseRepository } from "./git-repository.ts";
import { showPanel } from "./show-panel.ts";

/** Longest diff of a hunk in a request. Characters. */
const MAX_DIFF_CHARS = 20_000;

export const explainCode = (services: Services): Promise<void> => askAboutCode(services, explainPrompt);

export const writeTests = (services: Services): Promise<void> => askAboutCode(services, testsPrompt);

export const documentCode = (services: Services): Promise<void> => askAboutCode(services, documentPrompt);

export const reviewChanges = (services: Services): Promise<void> =>
  ask(services, reviewPrompt, [{ kind: "changes", label: vscode.l10n.t("Changes") }]);

type Source = vscode.QuickPickItem & { readonly command: string };

/** Reviews the commits of a branch, or a pull request where the GitHub CLI is there. */
export async function reviewBranch(services: Services): Promise<void> {
  await withErrorMessage(vscode.l10n.t("Nothing was reviewed"), async () => {
    const repository = await chooseRepository(undefined);
    if (repository === undefined) return;
    const branches = await repository.getBranches({ remote: true });
    const current = repository.state.HEAD?.name;
    const bases = branches.flatMap(({ name }): Source[] =>
      name === undefined || name === current || name.endsWith("/HEAD")
        ? []
        : [{ label: `$(git-branch) ${name}`, command: `git diff ${name}...HEAD` }],
    );
    const pull = { label: `$(git-pull-request) ${vscode.l10n.t("Pull Request by Number…")}`, command: "" };
    const picked = await vscode.window.showQuickPick([...bases, ...(findProgram("gh") === undefined ? [] : [pull])], {
      title: vscode.l10n.t("Review a Branch"),
      placeHolder: vscode.l10n.t("Branch that {0} is to be merged into", current ?? "HEAD"),
    });
    const command = picked?.command === "" ? await pullRequest() : picked?.command;
    if (command !== undefined) await ask(services, reviewOfPrompt(vscode.l10n.t("Review {0}", command), command), []);
  });
}

async function pullRequest(): Promise<string | undefined> {
  const number = await vscode.window.showInputBox({
    title: vscode.l10n.t("Number of the Pull Request"),
    validateInput: (text) => (/^\d+$/.test(text) ? undefined : vscode.l10n.t("Enter a number")),
  });
  return number === undefined ? undefined : `gh pr diff ${number}`;
}

/** Lets the session that the panel shows create a pull request. */
export async function createPullRequest(services: Services): Promise<void> {
  await withErrorMessage(vscode.l10n.t("No pull request was created"), async () => {
    if (findProgram("gh") === undefined)
      throw new Error(
        vscode.l10n.t("The GitHub CLI (gh) is not on PATH. Install it from cli.github.com, and sign in."),
      );
    const repository = await chooseRepository(undefined);
    if (repository !== undefined) await ask(services, pullRequestPrompt(repository.state.HEAD?.name ?? "HEAD"), []);
  });
}

/** Asks about the hunk in `args` or at the caret. */
export async function explainHunk(services: Services, ...args: readonly unknown[]): Promise<void> {
  const place = hunkAt(services.review, services.opener.caret, args);
  if (place === undefined) {
    await showInformation(vscode.l10n.t("Hermes: put the cursor on an edit of Hermes first."));
    return;
  }
  const { uri, hunk } = place;
  const label = `${nameOf(uri)}:${hunk.newStart + 1}`;
  const signed = (sign: string, lines: readonly string[]): string => lines.map((line) => sign + line).join("");
  const text = `${signed("-", hunk.oldLines)}${signed("+", hunk.newLines)}`.slice(0, MAX_DIFF_CHARS);
  await ask(services, explainHunkPrompt(label), [{ kind: "text", label, text }]);
}

async function askAboutCode(services: Services, promptFor: (name: string) => string): Promise<void> {
  const editor = await editorInUse();
  if (editor === undefined) return;
  const { name, code } = await codeAt(editor);
  await ask(services, promptFor(name), [code]);
}

/** Starts a turn in the session that the panel shows. While another turn runs, the request waits in the queue. */
export async function ask(services: Services, text: string, attachments: readonly Attachment[]): Promise<void> {
  services.sessions.shown.prompt({ text, attachments });
  await showPanel(services, { kind: "compose" });
}
