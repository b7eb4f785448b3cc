/**
 * As much of VS Code's API as the extension needs to serve its panel: settings, memory, commands, files and one webview.
 * Whatever needs an editor, a terminal or a dialog on the screen is tested in a real VS Code (test/e2e).
 */
import { randomUUID } from "node:crypto";
import { readdir } from "node:fs/promises";
import { join, relative } from "node:path";
import { projectFolder, vscodeTestFolder } from "../../../scripts/project.ts";
import { readBundle, readManifest } from "../manifest.ts";
import { ThinDialogs } from "./thin-dialogs.ts";
import { Disposable, EventEmitter } from "./thin-events.ts";
import { FileSystemError, Position, Range, Selection, ThinFiles, Uri, WorkspaceEdit } from "./thin-files.ts";
import { type ThinTab, thinTab } from "./thin-tab.ts";

/** Memory of the window, which outlives a reload. */
export type WindowMemory = {
  readonly global: Map<string, unknown>;
  readonly workspace: Map<string, unknown>;
  readonly secrets: Map<string, string>;
};

export type ThinVSCodeOptions = {
  /** Folder of the workspace. */
  readonly workspace: string;
  /** Folder for what the extension stores. */
  readonly storage: string;
  /** Values of settings by their full names. */
  readonly settings: Readonly<Record<string, unknown>>;
  readonly memory: WindowMemory;
  /** Begins the addresses of the panel's files. */
  readonly origin: string;
  /** Language of VS Code. */
  readonly language: string;
  /** VS Code runs in a browser. */
  readonly isWeb: boolean;
  /** Takes what the extension sends to its panel. */
  readonly toPanel: (message: unknown) => void;
};

type Badge = { readonly value: number } | undefined;
type View = { readonly webview: { readonly html: string }; visible: boolean; badge: Badge; [part: string]: unknown };

type Run = (...args: unknown[]) => unknown;

type Manifest = {
  readonly contributes: {
    readonly commands: readonly { readonly command: string; readonly title: string; readonly category?: string }[];
    readonly configuration: { readonly properties: Readonly<Record<string, { readonly default?: unknown }>> };
  };
};

const manifest: Manifest = readManifest();

export type ChatHandler = (request: object, context: object, response: object, token: object) => Promise<ChatAnswer>;
export type ChatAnswer = { readonly errorDetails?: { readonly message: string }; readonly metadata: object };

/** An answer in the history of VS Code's own chat. */
export class ChatResponseTurn {
  readonly result: ChatAnswer;

  constructor(result: ChatAnswer) {
    this.result = result;
  }
}

/** One window of the thin VS Code. */
export class ThinVSCode {
  /** The module `vscode` of this window. */
  readonly api: object;
  /** The context for `activate`. */
  readonly context: object;
  /** Handler of `@hermes` in VS Code's own chat. */
  readonly chatHandler = Promise.withResolvers<ChatHandler>();
  readonly dialogs = new ThinDialogs();
  readonly contexts = new Map<string, unknown>();
  /** Pages that the extension has opened in tabs, newest last. */
  readonly tabs: ThinTab[] = [];
  readonly #options: ThinVSCodeOptions;
  readonly #settings: Record<string, unknown>;
  readonly files = new ThinFiles();
  readonly #commands = new Map<string, Run>([["setContext", (key, value) => this.contexts.set(String(key), value)]]);
  readonly #subscriptions: { dispose(): unknown }[] = [];
  readonly #fromPanel = new EventEmitter<unknown>();
  readonly #visibilityChanged = new EventEmitter<void>();
  readonly #panelClosed = new EventEmitter<void>();
  readonly #foldersChanged = new EventEmitter<void>();
  readonly #folders: object[] = [];
  readonly #settingChanged = new EventEmitter<{ affectsConfiguration(name: string): boolean }>();
  #view: Promise<View> | undefined;
  readonly #provider = Promise.withResolvers<{ resolveWebviewView(view: object): unknown }>();

  constructor(options: ThinVSCodeOptions) {
    this.#options = options;
    this.#settings = { ...options.settings };
    const chat = {
      createChatParticipant: (_id: string, handler: ChatHandler) => {
        this.chatHandler.resolve(handler);
        return new Disposable();
      },
    };
    const { language, isWeb } = options;
    this.api = api({
      language,
      isWeb,
      window: this.#window(),
      workspace: this.#workspace(),
      commands: this.#commandsApi(),
      chat,
    });
    this.context = {
      subscriptions: this.#subscriptions,
      extensionUri: Uri.file(projectFolder),
      storageUri: Uri.file(options.storage),
      globalStorageUri: Uri.file(join(options.storage, "User", "globalStorage", "hermes")),
      globalState: memento(options.memory.global),
      workspaceState: memento(options.memory.workspace),
      secrets: secretStorage(options.memory.secrets),
    };
  }

  /** Shows the panel; resolves with its page. VS Code asks for the page once, and loads it whenever the panel is shown. */
  async showPanel(): Promise<string> {
    this.#view ??= this.#resolveView();
    const view = await this.#view;
    this.#setVisible(view, true);
    return view.webview.html;
  }

  /** Hides the panel, whose page goes away. */
  async hidePanel(): Promise<void> {
    if (this.#view !== undefined) this.#setVisible(await this.#view, false);
  }

  /** Number on the icon of the panel. */
  async badge(): Promise<number> {
    return (await this.#view)?.badge?.value ?? 0;
  }

  async #resolveView(): Promise<View> {
    const { origin, toPanel } = this.#options;
    const webview = {
      options: {},
      html: "",
      cspSource: origin,
      onDidReceiveMessage: this.#fromPanel.event,
      postMessage: (message: unknown) => {
        if (view.visible) toPanel(message);
        return Promise.resolve(view.visible);
      },
      asWebviewUri: (uri: Uri) => this.#addressOf(uri),
    };
    const view: View = {
      webview,
      visible: true,
      badge: undefined,
      onDidChangeVisibility: this.#visibilityChanged.event,
      onDidDispose: this.#panelClosed.event,
      show: () => undefined,
    };
    await (await this.#provider.promise).resolveWebviewView(view);
    return view;
  }

  /** Adds a folder to the workspace. */
  addFolder(path: string, name: string): void {
    this.#folders.push({ uri: Uri.file(path), name, index: this.#folders.length });
    this.#foldersChanged.fire();
  }

  /** Changes a setting, as the user does in the editor of the settings. */
  changeSetting(name: string, value: unknown): void {
    this.#settings[name] = value;
    this.#settingChanged.fire({ affectsConfiguration: (asked) => name === asked || name.startsWith(`${asked}.`) });
  }

  setting(name: string): unknown {
    return this.#settings[name];
  }

  #configuration(section: string): object {
    return {
      get: (name: string, otherwise?: unknown) => {
        const key = `${section}.${name}`;
        return this.#settings[key] ?? manifest.contributes.configuration.properties[key]?.default ?? otherwise;
      },
      inspect: (name: string) => ({ globalValue: this.#settings[`${section}.${name}`] }),
      update: async (name: string, value: unknown) => this.changeSetting(`${section}.${name}`, value),
    };
  }

  #setVisible(view: View, visible: boolean): void {
    if (view.visible === visible) return;
    view.visible = visible;
    this.#visibilityChanged.fire();
  }

  /** Hands the extension a message of the panel. */
  receive(message: unknown): void {
    this.#fromPanel.fire(message);
  }

  /** Runs the command that the palette shows with this title. @throws when the extension has none. */
  async runCommand(title: string): Promise<void> {
    const known = manifest.contributes.commands.find((one) => `${one.category}: ${one.title}` === title);
    const run = known && this.#commands.get(known.command);
    if (run === undefined) throw new Error(`The extension has no command "${title}".`);
    await run();
  }

  /** Ends the window: the panel goes away, then everything that the extension handed over. */
  close(): void {
    this.#panelClosed.fire();
    for (const subscription of this.#subscriptions.splice(0).toReversed()) subscription.dispose();
  }

  #window(): object {
    return {
      ...editorlessWindow(this.dialogs.typed),
      ...this.dialogs.window,
      registerWebviewViewProvider: (_id: string, provider: { resolveWebviewView(view: object): unknown }) => {
        this.#provider.resolve(provider);
        return new Disposable();
      },
      registerWebviewPanelSerializer: () => new Disposable(),
      createWebviewPanel: () => {
        const tab = thinTab(this.#options.origin, (uri) => this.#addressOf(uri));
        this.tabs.push(tab);
        return tab;
      },
    };
  }

  #addressOf({ path }: Uri): string {
    return `${this.#options.origin}${path.slice(join(projectFolder, "dist", "webview").length)}`;
  }

  #workspace(): object {
    const { workspace: folder } = this.#options;
    const uri = Uri.file(folder);
    const workspaceFolder = { uri, name: "workspace", index: 0 };
    this.#folders.push(workspaceFolder);
    const pathOf = (place: Uri | string): string => (typeof place === "string" ? place : place.fsPath);
    const unsaved = (): unknown => this.files.unsaved;
    return {
      ...this.files.workspace,
      notebookDocuments: [],
      get textDocuments() {
        return unsaved();
      },
      isTrusted: true,
      workspaceFile: undefined,
      workspaceFolders: this.#folders,
      getConfiguration: (section: string) => this.#configuration(section),
      getWorkspaceFolder: ({ path }: Uri) => (path.startsWith(`${folder}/`) ? workspaceFolder : undefined),
      asRelativePath: (place: Uri | string) =>
        pathOf(place).startsWith(`${folder}/`) ? relative(folder, pathOf(place)) : pathOf(place),
      onDidChangeConfiguration: this.#settingChanged.event,
      ...{ onDidGrantWorkspaceTrust: never, onDidChangeNotebookDocument: never },
      onDidChangeWorkspaceFolders: this.#foldersChanged.event,
      createFileSystemWatcher: () =>
        Object.assign(new Disposable(), { onDidCreate: never, onDidChange: never, onDidDelete: never }),
      findFiles: async () =>
        (await readdir(folder, { recursive: true, withFileTypes: true }))
          .filter((entry) => entry.isFile())
          .map(({ parentPath, name }) => Uri.file(join(parentPath, name))),
    };
  }

  #commandsApi(): object {
    return {
      registerCommand: (id: string, run: Run) => {
        this.#commands.set(id, run);
        return new Disposable(() => this.#commands.delete(id));
      },
      // VS Code's own commands change the screen, which is not here.
      executeCommand: (id: string, ...args: unknown[]) => Promise.resolve(this.#commands.get(id)?.(...args)),
    };
  }
}

const never = new EventEmitter<never>().event;

type Parts = {
  readonly language: string;
  readonly isWeb: boolean;
  readonly window: object;
  readonly workspace: object;
  readonly commands: object;
  readonly chat: object;
};

const UI_KIND = { Desktop: 1, Web: 2 } as const;

function api({ language, isWeb, ...parts }: Parts): object {
  return refusing("vscode", {
    ...parts,
    Disposable,
    EventEmitter,
    Uri,
    Position,
    Range,
    Selection,
    WorkspaceEdit,
    FileSystemError,
    ChatResponseTurn,
    Location: class {},
    ...{ ThemeColor: class {}, ThemeIcon: class {}, TreeItem: class {} },
    version: "0.0.0",
    env: {
      appName: "Panel",
      appRoot: join(vscodeTestFolder, "none"), // search falls back to the ripgrep on the PATH, or to none
      language,
      sessionId: randomUUID(),
      uiKind: isWeb ? UI_KIND.Web : UI_KIND.Desktop,
      shell: "/bin/bash",
      openExternal: () => Promise.resolve(true),
    },
    l10n: l10n(language),
    languages: {
      getLanguages: () => Promise.resolve(["typescript"]),
      registerCodeActionsProvider: () => new Disposable(),
      registerCodeLensProvider: () => new Disposable(),
      registerHoverProvider: () => new Disposable(),
      createDiagnosticCollection: () => Object.assign(new Disposable(), { set: never, clear: never }),
      onDidChangeDiagnostics: never,
      getDiagnostics: () => [],
    },
    extensions: { getExtension: () => undefined },
    lm: {
      registerTool: () => new Disposable(),
      selectChatModels: () => Promise.resolve([]),
      onDidChangeChatModels: never,
    },
    scm: { createSourceControl: sourceControl },
    UIKind: UI_KIND,
    InputBoxValidationSeverity: { Info: 1, Warning: 2, Error: 3 },
    EndOfLine: { LF: 1, CRLF: 2 },
    StatusBarAlignment: { Left: 1, Right: 2 },
    ViewColumn: { Active: -1, Beside: -2, One: 1 },
    RelativePattern: class {},
    TabInputText: class {},
    OverviewRulerLane: { Left: 1, Center: 2, Right: 4, Full: 7 },
    Diagnostic: class {},
    CodeActionKind: { QuickFix: "quickfix" },
    DiagnosticSeverity: { Error: 0, Warning: 1, Information: 2, Hint: 3 },
    FileType: { Unknown: 0, File: 1, Directory: 2, SymbolicLink: 64 },
    ConfigurationTarget: { Global: 1 },
    ProgressLocation: { Notification: 15 },
    QuickPickItemKind: { Separator: -1, Default: 0 },
    MarkdownString: class {
      appendCodeblock(): this {
        return this;
      }
    },
    TextEditorRevealType: { InCenterIfOutsideViewport: 2 },
    TextEditorSelectionChangeKind: { Keyboard: 1, Mouse: 2, Command: 3 },
    TreeItemCollapsibleState: { None: 0, Collapsed: 1, Expanded: 2 },
  });
}

/** Texts of the extension. `bundle`: none for English. */
function l10n(language: string): object {
  const bundle = language === "en" ? undefined : readBundle(language);
  const t = (text: string, ...values: readonly (string | number | boolean)[]): string =>
    (bundle?.[text] ?? text).replaceAll(/\{(\d+)\}/g, (hole, index) => String(values[Number(index)] ?? hole));
  return { t, bundle };
}

/** The same API, which throws where the extension asks for a part that is missing here. */
function refusing(name: string, part: Readonly<Record<string, unknown>>): object {
  return new Proxy(part, {
    get(target, key) {
      const path = `${name}.${String(key)}`;
      if (typeof key === "symbol" || key === "then") return undefined;
      if (!(key in target)) throw new Error(`${path} is missing in test/support/panel/thin-vscode.ts. Add it there.`);
      const value: unknown = Reflect.get(target, key);
      return name === "vscode" && isNamespace(value) ? refusing(path, value) : value;
    },
  });
}

function isNamespace(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null;
}

/** `vscode.window` without a screen: nothing is visible, and nobody answers a dialog. `typed` gets texts for shells. */
function editorlessWindow(typed: string[]): object {
  const closed = new EventEmitter<object>();
  return {
    visibleTextEditors: [],
    terminals: [],
    activeTextEditor: undefined,
    activeTerminal: undefined,
    tabGroups: { all: [{ tabs: [] }], close: () => Promise.resolve(true), onDidChangeTabs: never },
    ...{ state: { focused: true, active: true }, onDidCloseTerminal: closed.event },
    ...Object.fromEntries(
      [
        ...["onDidChangeWindowState", "onDidChangeActiveTextEditor", "onDidChangeVisibleTextEditors"],
        "onDidChangeTextEditorViewColumn",
        ...["onDidChangeTextEditorSelection", "onDidChangeTerminalShellIntegration"],
        ...["onDidStartTerminalShellExecution", "onDidEndTerminalShellExecution"],
      ].map((name) => [name, never]),
    ),
    registerFileDecorationProvider: () => new Disposable(),
    registerUriHandler: () => new Disposable(),
    createTextEditorDecorationType: () => new Disposable(),
    createTreeView: () => ({ onDidChangeVisibility: never, dispose: () => undefined }),
    createStatusBarItem: () => ({ show: () => undefined, dispose: () => undefined }),
    createOutputChannel: outputChannel,
    createTerminal: ({ name, pty }: TerminalOptions) => {
      const terminal = {
        name,
        show: () => undefined,
        sendText: (text: string) => typed.push(text),
        dispose() {
          pty?.close();
          closed.fire(terminal);
        },
      };
      pty?.open(undefined);
      return terminal;
    },
    showTextDocument: () => Promise.resolve({ revealRange: () => undefined }),
    setStatusBarMessage: () => new Disposable(),
    withProgress: (_options: object, work: (progress: object, token: object) => unknown) =>
      Promise.resolve(work({}, { onCancellationRequested: () => new Disposable() })),
  };
}

type TerminalOptions = {
  readonly name: string;
  /** Default: the user's shell. */
  readonly pty?: { open(dimensions: undefined): void; close(): void };
};

/** Prints the errors that the extension logs to the test's output. */
function outputChannel(): object {
  const quiet = (): void => undefined;
  const loud = (message: unknown): void =>
    void process.stderr.write(`extension: ${message instanceof Error ? message.stack : String(message)}\n`);
  return { trace: quiet, debug: quiet, info: quiet, warn: loud, error: loud, show: quiet, dispose: quiet };
}

function sourceControl(): object {
  return {
    inputBox: {},
    createResourceGroup: () => ({ resourceStates: [] }),
    dispose: () => undefined,
  };
}

function memento(values: Map<string, unknown>): object {
  return {
    keys: () => [...values.keys()],
    get: (key: string, otherwise?: unknown) => values.get(key) ?? otherwise,
    update: (key: string, value: unknown) => {
      values.set(key, value);
      return Promise.resolve();
    },
  };
}

function secretStorage(values: Map<string, string>): object {
  return {
    keys: () => Promise.resolve([...values.keys()]),
    get: (key: string) => Promise.resolve(values.get(key)),
    store: (key: string, value: string) => Promise.resolve(void values.set(key, value)),
    delete: (key: string) => Promise.resolve(void values.delete(key)),
    onDidChange: never,
  };
}
