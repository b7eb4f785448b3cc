/** The gutter's change bars and their peek with the removed lines: VS Code's own quick diff against the baselines. */
import * as vscode from "vscode";
import { originalUri, type Review } from "./review.ts";

/** Exists only while edits are up for review, counts nothing and has no input: git's place stays as it is. */
export class ReviewSourceControl implements vscode.Disposable {
  readonly #review: Review;
  readonly #subscription: vscode.Disposable;
  #control: vscode.SourceControl | undefined;
  #group: vscode.SourceControlResourceGroup | undefined;

  constructor(review: Review) {
    this.#review = review;
    this.#subscription = review.onDidChange(() => this.#refresh());
  }

  dispose(): void {
    this.#subscription.dispose();
    this.#control?.dispose();
  }

  #refresh(): void {
    const files = this.#review.documents.filter(({ scheme }) => scheme === "file");
    if (files.length === 0) {
      this.#control?.dispose();
      this.#control = undefined;
      this.#group = undefined;
      return;
    }
    this.#group ??= this.#create();
    const shown = this.#group.resourceStates.map(({ resourceUri }) => resourceUri.toString());
    if (files.length === shown.length && files.every((uri, index) => uri.toString() === shown[index])) return;
    this.#group.resourceStates = files.map((resourceUri) => ({
      resourceUri,
      command: { title: "Open", command: "hermes.openReview", arguments: [resourceUri.toString()] },
    }));
  }

  #create(): vscode.SourceControlResourceGroup {
    const control = vscode.scm.createSourceControl("hermes", "Hermes");
    control.inputBox.visible = false;
    control.count = 0;
    control.quickDiffProvider = {
      provideOriginalResource: (uri) => (this.#review.find(uri) === undefined ? undefined : originalUri(uri)),
    };
    this.#control = control;
    return control.createResourceGroup("edits", "Edits to Review");
  }
}
