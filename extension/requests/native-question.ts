/** A question of the agent as a QuickPick: its choices, and whatever is typed as an answer of one's own. */
import * as vscode from "vscode";
import type { PanelAnswer } from "./panel-answer.ts";

type Choice = vscode.QuickPickItem & { readonly answer: string };

/** Undefined when it was answered elsewhere; closing it is no answer. */
export function nativeQuestion(
  message: string,
  choices: readonly string[],
  over: AbortSignal,
): Promise<PanelAnswer | undefined> {
  const picker = vscode.window.createQuickPick<Choice>();
  const offered = choices.map((choice): Choice => ({ label: choice, answer: choice }));
  picker.title = message;
  picker.placeholder = choices.length > 0 ? "Choose, or type another answer" : "Type your answer";
  picker.ignoreFocusOut = true;
  picker.items = offered;
  return new Promise((resolve) => {
    const close = (): void => picker.hide();
    over.addEventListener("abort", close, { once: true });
    picker.onDidChangeValue((typed) => {
      picker.items =
        typed.trim() === ""
          ? offered
          : [...offered, { label: typed, description: "your answer", answer: typed.trim(), alwaysShow: true }];
    });
    picker.onDidAccept(() => {
      const [chosen] = picker.selectedItems;
      resolve({ kind: "text", text: chosen?.answer ?? picker.value.trim() });
      picker.hide();
    });
    picker.onDidHide(() => {
      over.removeEventListener("abort", close);
      picker.dispose();
      resolve(over.aborted ? undefined : { kind: "text", text: null });
    });
    picker.show();
  });
}
