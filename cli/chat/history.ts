/** Earlier prompts of a folder, in a file of the home that only its user reads. */
import { createHash } from "node:crypto";
import { appendFileSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { attempt } from "../../agent-core/platform/errors.ts";
import { parseJson } from "../../agent-core/platform/json.ts";

/** More are dropped at the next start. */
const MAX_PROMPTS = 500;
/** A longer prompt is not kept. Characters. */
const MAX_CHARS = 10_000;
/** A key or token: a long word of letters and digits without a path's or an address's punctuation. */
const SECRET = /(?<![\w/.:-])(?=[\w-]*\d)(?=[\w-]*[A-Za-z])[\w-]{24,}(?![\w/.:])/;

export class PromptHistory {
  readonly #file: string;
  readonly prompts: string[];

  /** `home`: Hermes' home folder. `cwd`: absolute. */
  constructor(home: string, cwd: string) {
    const name = createHash("sha256").update(cwd).digest("hex").slice(0, 16);
    this.#file = join(home, "prompts", `${name}.jsonl`);
    this.prompts = read(this.#file);
    if (this.prompts.length <= MAX_PROMPTS) return;
    this.prompts = this.prompts.slice(-MAX_PROMPTS);
    writeFileSync(this.#file, this.prompts.map(line).join(""), { mode: 0o600 });
  }

  /** Keeps the prompt, unless it is the last one again, very long, or may hold a secret. */
  add(prompt: string): void {
    if (prompt === "" || prompt === this.prompts.at(-1)) return;
    this.prompts.push(prompt);
    if (prompt.length > MAX_CHARS || SECRET.test(prompt)) return;
    try {
      mkdirSync(dirname(this.#file), { recursive: true, mode: 0o700 });
      appendFileSync(this.#file, line(prompt), { mode: 0o600 });
    } catch {
      // A full disk or a read-only home costs the history alone.
    }
  }
}

function line(prompt: string): string {
  return `${JSON.stringify(prompt)}\n`;
}

function read(file: string): string[] {
  const lines = attempt(() => readFileSync(file, "utf8"))?.split("\n") ?? [];
  return lines.map(parseJson).filter((prompt) => typeof prompt === "string"); // a line may be torn
}
