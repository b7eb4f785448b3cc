import { existsSync, rmSync } from "node:fs";
import { expect, test } from "vitest";
import { CheckpointBench } from "../../support/checkpoint-bench.ts";
import { sweep } from "../../support/scale.ts";
import { type Random, seeded } from "../approval/support/random.ts";

const FILES = ["a.txt", "b.txt", "sub/c.txt", "sub/deep/d.txt"];
const SESSIONS = sweep(12, 4);
const STEPS = 40;

type Files = ReadonlyMap<string, string>;

/** A session of random edits, commands, restores, and a user who writes in between; it says what must hold. */
class RandomSession {
  readonly bench = new CheckpointBench();
  readonly #random: Random;
  readonly #turns: { readonly position: number; readonly files: Files }[] = [];
  /** The user's last text of each file, and its turn. */
  readonly #users = new Map<string, { readonly turn: number; readonly text: string | undefined }>();
  #serial = 0;

  constructor(seed: number) {
    this.#random = seeded(seed);
    for (const name of FILES) if (this.#random.chance(0.6)) this.bench.write(name, this.#text(name));
  }

  async run(): Promise<void> {
    this.#begin();
    for (let step = 0; step < STEPS; step += 1) await this.#step();
  }

  async #step(): Promise<void> {
    const name = this.#random.pick(FILES);
    switch (this.#random.below(8)) {
      case 0:
        return this.#begin();
      case 1:
      case 2:
        return this.bench.edit(name, this.#text(name));
      case 3:
        await this.bench.run(this.#command(name));
        return;
      case 4:
        // A scan cannot see the writer of a file: nobody writes right after a command, before its changes are logged.
        await this.bench.checkpoints.logged();
        return this.#user(name);
      case 5:
        return this.#restore(this.#random.chance(0.5));
      default:
        return this.bench.edit(name, this.#text(name));
    }
  }

  #begin(): void {
    this.#turns.push({ position: this.bench.turn(), files: this.#files() });
  }

  #user(name: string): void {
    if (existsSync(this.bench.path(name)) && this.#random.chance(0.2)) rmSync(this.bench.path(name));
    else this.bench.write(name, this.#text(name));
    this.#users.set(name, { turn: this.#turns.length, text: this.#files().get(name) });
  }

  #command(name: string): string {
    const other = this.#random.pick(FILES);
    return this.#random.pick([
      `mkdir -p sub/deep && printf '${this.#text(name).trimEnd()}\\n' > ${name}`,
      `rm -f ${name}`,
      `mkdir -p sub/deep && if [ -e ${name} ] && [ ${name} != ${other} ]; then mv ${name} ${other}; fi`,
      `if [ -e ${name} ]; then echo more >> ${name}; fi`,
    ]);
  }

  async #restore(isUndone: boolean): Promise<void> {
    const { position, files } = this.#random.pick(this.#turns);
    const turn = this.#turns.findIndex((candidate) => candidate.position === position);
    const before = this.#files();
    const lines = await this.bench.restore(position);
    const after = this.#files();
    for (const name of FILES) {
      const isLeftAlone = lines.some((line) => line.startsWith(`${name} left alone`));
      const isRestored = !isLeftAlone && lines.some((line) => line.endsWith(` ${name}`));
      const user = this.#users.get(name);
      if (!isRestored) expect([name, after.get(name)]).toEqual([name, before.get(name)]);
      if (user !== undefined && user.turn > turn) {
        // Since that message the user has had a hand in it: what is theirs stays.
        if (before.get(name) === user.text) expect([name, after.get(name)]).toEqual([name, user.text]);
      } else {
        expect([name, isLeftAlone]).toEqual([name, false]);
        expect([name, after.get(name)]).toEqual([name, files.get(name)]);
      }
    }
    if (!isUndone) return;
    await this.bench.undo();
    expect(this.#files()).toEqual(before);
  }

  #files(): Files {
    const present = FILES.filter((name) => existsSync(this.bench.path(name)));
    return new Map(present.map((name) => [name, this.bench.read(name)]));
  }

  #text(name: string): string {
    return `${name} ${this.#serial++}\n`;
  }
}

test.each(Array.from({ length: SESSIONS }, (_, seed) => seed))(
  "a restore is right after any actions in any order, and takes nothing of the user's (%i)",
  async (seed) => {
    const session = new RandomSession(seed);
    try {
      await session.run();
    } finally {
      await session.bench.dispose();
    }
    expect([session.bench.defects, session.bench.told]).toEqual([[], []]);
  },
);
