/** Checkpoints of a session over real files and commands, in temporary folders. */
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { Checkpoints, type CheckpointsOptions } from "../../agent-core/checkpoints/checkpoints.ts";
import type { Host } from "../../agent-core/host/host.ts";
import { nodeHost } from "../../agent-core/host/node-host.ts";
import type { JournalEntry } from "../../agent-core/sessions/entry.ts";

const { signal } = new AbortController();

export class CheckpointBench {
  readonly folder: string;
  readonly objects: string;
  readonly host: Host = nodeHost();
  readonly journal: JournalEntry[];
  readonly told: string[] = [];
  readonly defects: string[] = [];
  checkpoints: Checkpoints;
  /** Position of the next message. */
  position = 0;
  #calls = 0;

  constructor(
    options: Partial<CheckpointsOptions> = {},
    folder = realpathSync(mkdtempSync(join(tmpdir(), "hermes-checkpoints-"))),
  ) {
    this.folder = folder;
    this.journal = [...(options.entries ?? [])];
    this.objects = options.objects ?? realpathSync(mkdtempSync(join(tmpdir(), "hermes-objects-")));
    this.checkpoints = this.#open(options);
  }

  /** The session as the next process opens it. */
  async reopen(): Promise<void> {
    await this.checkpoints.close();
    this.checkpoints = this.#open({});
  }

  path(name: string): string {
    return join(this.folder, name);
  }

  /** Writes as the user, without the agent. */
  write(name: string, content: string | Buffer): void {
    mkdirSync(dirname(this.path(name)), { recursive: true });
    writeFileSync(this.path(name), content);
  }

  read(name: string): string {
    return readFileSync(this.path(name), "utf8");
  }

  /** Adds a user message and returns its position. */
  turn(): number {
    const position = this.position;
    this.position += 1;
    this.checkpoints.beginTurn();
    return position;
  }

  /** Writes as a tool of the agent. */
  async edit(name: string, text: string, source = `call_${this.#calls++}`): Promise<void> {
    this.position += 1;
    const { files } = this.checkpoints.hostFor(source);
    const present = await files.readText(this.path(name), signal);
    const expected = present.ok ? present.text : null;
    const write = { path: this.path(name), expected, after: text, purpose: "edit" } as const;
    const written = await files.guardedWrite(write, signal);
    this.position += 1;
    if (!written.ok) throw new Error(written.message);
  }

  /** Removes a file as a tool of the agent. */
  async remove(name: string, source = `call_${this.#calls++}`): Promise<void> {
    this.position += 1;
    const { files } = this.checkpoints.hostFor(source);
    const removed = await files.guardedWrite(
      { path: this.path(name), expected: this.read(name), after: null, purpose: "edit" },
      signal,
    );
    this.position += 1;
    if (!removed.ok) throw new Error(removed.message);
  }

  /** Moves a file as a tool of the agent. */
  async move(from: string, to: string): Promise<void> {
    this.position += 1;
    const { files } = this.checkpoints.hostFor(`call_${this.#calls++}`);
    const moved = await files.rename({ from: this.path(from), to: this.path(to), expected: this.read(from) }, signal);
    this.position += 1;
    if (!moved.ok) throw new Error(moved.message);
  }

  /**
   * Runs a command to its end as a tool of the agent; gives the sentences for the model. `owned`: files that no other command
   * may write.
   */
  async run(
    command: string,
    source = `call_${this.#calls++}`,
    owned: readonly string[] = [],
    inBackground = false,
  ): Promise<readonly string[]> {
    this.position += 1;
    const { terminals } = this.checkpoints.hostFor(source, {
      owns: (path) => owned.some((name) => path === this.path(name)),
    });
    const running = await terminals.start(
      {
        command,
        shell: { folder: this.folder, variables: undefined },
        keepsShell: !inBackground,
        input: "none",
        pty: false,
        outputFile: join(this.objects, "output.log"),
      },
      signal,
    );
    const { exitCode } = await running.exit;
    const sentences = await running.inspected();
    await running.release();
    this.position += 1;
    if (exitCode !== 0) throw new Error(`${command} ended with ${exitCode}`);
    return sentences;
  }

  /** Plan of the restore, one line per file. */
  async restore(position: number): Promise<readonly string[]> {
    const { files } = await this.checkpoints.restore(position, signal);
    return files.map((file) => this.#line(file));
  }

  async preview(position: number): Promise<readonly string[]> {
    return (await this.checkpoints.preview(position, false, signal)).map((file) => this.#line(file));
  }

  async undo(): Promise<readonly string[]> {
    const { files } = await this.checkpoints.undo(this.checkpoints.lastRestore ?? "", signal);
    return files.map((file) => this.#line(file));
  }

  /** Logged changes, each as `source: file`, with the sources of all commands that may have made it. */
  get changes(): readonly string[] {
    return this.journal.flatMap((entry) =>
      entry.type === "file-change"
        ? [`${[entry.source, ...(entry.others ?? [])].join(" or ")}: ${entry.path.slice(this.folder.length + 1)}`]
        : [],
    );
  }

  async dispose(): Promise<void> {
    await this.checkpoints.close();
    await this.host.terminals.dispose();
  }

  #line({ path, change, leftAlone }: { path: string; change: string; leftAlone: string | undefined }): string {
    const name = path.slice(this.folder.length + 1);
    return leftAlone === undefined ? `${change} ${name}` : `${name} left alone: ${leftAlone}`;
  }

  #open(options: Partial<CheckpointsOptions>): Checkpoints {
    return new Checkpoints({
      host: this.host,
      roots: [this.folder],
      objects: this.objects,
      entries: this.journal,
      trusted: () => true,
      onlyReads: async (command) => command.startsWith("cat "),
      position: () => this.position,
      journal: (entry) => this.journal.push({ ...entry, at: 0 } as JournalEntry),
      notifyUser: (problem) => this.told.push(problem),
      onDefect: (problem) => this.defects.push(problem),
      ...options,
    });
  }
}
