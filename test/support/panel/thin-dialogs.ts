/** Dialogs of the extension. There is no screen: each waits until the test answers it. */

export type ThinWarning = {
  readonly text: string;
  /** Titles of the buttons. */
  readonly titles: readonly string[];
  /** Presses the button with this title. */
  readonly choose: (title: string) => void;
};

/** A list in the middle of the window. */
type ThinPick = {
  /** Labels of its rows, without icons. */
  readonly labels: readonly string[];
  /** Chooses the row with this label. */
  readonly choose: (label: string) => void;
};

/** A field that the extension shows. */
type ThinInput = {
  readonly title: string;
  /** Enters a text. Returns the message of the extension about a text that it refuses. */
  readonly enter: (text: string) => string | undefined;
};

type InputOptions = {
  readonly title?: string;
  /** A message of an object lets the text pass. */
  readonly validateInput?: (text: string) => string | object | undefined;
};

type PickItems = readonly ({ readonly label: string } | string)[];
type PickRows = PickItems | Promise<PickItems>;

export class ThinDialogs {
  /** Errors that the extension has shown, newest last. */
  readonly errors: ThinWarning[] = [];
  /** Warnings that the extension has shown, newest last. */
  readonly warnings: ThinWarning[] = [];
  /** Notifications without a warning, newest last. */
  readonly notifications: ThinWarning[] = [];
  /** Lists that the extension has shown, newest last. */
  readonly picks: ThinPick[] = [];
  /** Fields that the extension has shown, newest last. */
  readonly inputs: ThinInput[] = [];
  /** Texts that the extension typed into terminals of the user's shell, newest last. */
  readonly typed: string[] = [];
  /** Its part of `vscode.window`. */
  readonly window = {
    showErrorMessage: notifying(this.errors),
    showWarningMessage: notifying(this.warnings),
    showInformationMessage: notifying(this.notifications),
    showInputBox: ({ title = "", validateInput }: InputOptions) =>
      new Promise((resolve) => {
        const enter = (text: string): string | undefined => {
          const problem = validateInput?.(text);
          if (typeof problem === "string") return problem;
          resolve(text);
          return undefined;
        };
        this.inputs.push({ title, enter });
      }),
    showQuickPick: async (rows: PickRows) => {
      const items = await rows;
      return new Promise((resolve) => {
        const labels = items.map((item) => withoutIcons(typeof item === "string" ? item : item.label));
        this.picks.push({ labels, choose: (label) => resolve(items[labels.indexOf(label)]) });
      });
    },
  };
}

/** Adds a notification to `shown`, and resolves with the button that the test presses. */
function notifying(shown: ThinWarning[]) {
  return (text: string, ...items: (string | { readonly title?: string })[]) =>
    new Promise((resolve) => {
      const titleOf = (item: (typeof items)[number]) => (typeof item === "string" ? item : item.title);
      const titles = items.map(titleOf).filter((title) => title !== undefined);
      shown.push({ text, titles, choose: (title) => resolve(items.find((item) => titleOf(item) === title)) });
    });
}

function withoutIcons(label: string): string {
  return label.replaceAll(/\$\([a-z~-]+\)/g, "").trim();
}
