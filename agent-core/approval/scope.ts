/** Where a command or an edit would take place: what "inside the workspace" and "home" mean for a verdict. */

export type CommandScope = {
  /** Folder the command starts in, absolute. */
  readonly cwd: string;
  /** Workspace folders, absolute. */
  readonly roots: readonly string[];
  /** The user's home folder, absolute. */
  readonly home: string;
  /** Our own home folder (`HERMES_HOME`), absolute. */
  readonly hermesHome: string;
  /** The path that the system would reach: symbolic links of the deepest existing parent followed. */
  readonly resolvePath: (path: string) => string;
};
