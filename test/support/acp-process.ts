/** `node dist/acp.js` as a foreign editor drives it, for tests of what only a process shows. */
import { type ChildProcess, spawn } from "node:child_process";
import { tmpdir } from "node:os";
import { createInterface } from "node:readline";
import { AcpClient } from "./acp-client.ts";

type OtherProgram = { readonly program: string; readonly args: readonly string[] };

export class AcpProcess extends AcpClient {
  /** Lines of stdout that were no JSON; must stay empty. */
  readonly strayLines: string[] = [];
  readonly child: ChildProcess;
  readonly exited: Promise<number | null>;

  /**
   * `user`: number of the user and group that it runs as; default: the test's own. `script`: program of the agent; default:
   * the bundle. An array has its arguments, too. `program`: in place of Node.
   */
  constructor(
    environment: Readonly<Record<string, string>> = {},
    home?: string,
    user?: number,
    script: string | readonly string[] | OtherProgram = "dist/acp.js",
  ) {
    super(home);
    const { program, args } =
      typeof script === "object" && "program" in script ? script : { program: "node", args: [script].flat() };
    this.child = spawn(program, args, {
      env: {
        PATH: process.env["PATH"],
        TMPDIR: tmpdir(),
        HOME: this.home,
        HERMES_HOME: this.home,
        HERMES_LOCAL_SERVERS: "off",
        ...environment,
      },
      stdio: ["pipe", "pipe", "pipe"],
      ...(user !== undefined && { uid: user, gid: user }),
    });
    this.exited = new Promise((resolve) => this.child.once("exit", resolve));
    createInterface({ input: this.child.stdout! }).on("line", (line) => this.#receiveLine(line));
  }

  write(text: string): void {
    this.child.stdin!.write(text);
  }

  protected override send(...messages: readonly object[]): void {
    this.write(messages.map((message) => `${JSON.stringify(message)}\n`).join(""));
  }

  async stop(): Promise<void> {
    this.child.stdin!.end();
    await this.exited;
  }

  #receiveLine(line: string): void {
    try {
      this.receive(JSON.parse(line));
    } catch (error) {
      if (!(error instanceof SyntaxError)) throw error;
      this.strayLines.push(line);
    }
  }
}
