/** Writes a commit message into the input box of Source Control. */
import * as vscode from "vscode";
import { commitMethods, MAX_SENT_DIFF_CHARS } from "../../agent-core/protocol/commit-message.ts";
import { call } from "../../agent-core/protocol/method.ts";
import { showInformation, withErrorMessage } from "../notifications.ts";
import type { Services } from "../services.ts";
import { chooseRepository, commitDiff, type GitRepository } from "./git-repository.ts";

/** Context key: the button in Source Control stops the request. */
const IS_WRITING = "hermes.isWritingCommitMessage";

/** Number of earlier messages that show the style. */
const EARLIER_COMMITS = 10;

const USE = vscode.l10n.t("Use Hermes' Message");

let writing: AbortController | undefined;

/** `view`: the Source Control view of the button; the palette passes none. */
export async function writeCommitMessage(services: Services, view?: unknown): Promise<void> {
  stopCommitMessage();
  const request = new AbortController();
  writing = request;
  void vscode.commands.executeCommand("setContext", IS_WRITING, true);
  try {
    await withErrorMessage(vscode.l10n.t("Hermes wrote no commit message"), async () => {
      const repository = await chooseRepository(view);
      if (repository === undefined) return;
      const show = () => writeInto(repository, services, request.signal);
      await vscode.window.withProgress({ location: vscode.ProgressLocation.SourceControl }, show);
    });
  } finally {
    if (writing === request) {
      writing = undefined;
      void vscode.commands.executeCommand("setContext", IS_WRITING, false);
    }
  }
}

export function stopCommitMessage(): void {
  writing?.abort();
}

async function writeInto(repository: GitRepository, services: Services, signal: AbortSignal): Promise<void> {
  const { inputBox, state } = repository;
  const before = inputBox.value;
  const diff = await commitDiff(repository);
  if (diff.trim() === "") throw new Error(vscode.l10n.t("there are no changes to commit."));
  const model = services.sessions.shown.option("model")?.currentValue ?? services.lastModel.chosen;
  const request = {
    diff: diff.slice(0, MAX_SENT_DIFF_CHARS),
    recent: await earlierMessages(repository),
    ...(state.HEAD?.name !== undefined && { branch: state.HEAD.name }),
    ...(before.trim() !== "" && { draft: before }),
    ...(model !== undefined && { model }),
  };
  const agent = await services.worker.agent();
  const answer = call(agent, commitMethods.message, request, { cancellationSignal: signal });
  const message = await answer.then(
    (result) => result.message,
    (error: unknown) => {
      if (!signal.aborted) throw error;
    },
  );
  if (message === undefined || signal.aborted) return;
  // Words that the user typed meanwhile are not replaced unasked.
  if (inputBox.value !== before && !(await mayReplace(message))) return;
  inputBox.value = message;
}

async function mayReplace(message: string): Promise<boolean> {
  return (await showInformation(`Hermes: ${message}`, USE)) === USE;
}

/** Empty before the first commit. */
async function earlierMessages(repository: GitRepository): Promise<readonly string[]> {
  const commits = await repository.log({ maxEntries: EARLIER_COMMITS }).catch(() => []);
  return commits.map(({ message }) => message);
}
