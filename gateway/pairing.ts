/**
 * Pairing of people who may write, by a code that they tell the owner. The file holds salted hashes of the codes, only its
 * owner may read it, and the agent's policy keeps the agent away from its folder.
 */
import { createHash, randomBytes, randomInt, timingSafeEqual } from "node:crypto";
import { chmodSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import * as z from "zod";
import { fileVersion } from "../agent-core/config/home-file.ts";
import type { Clock } from "../agent-core/platform/clock.ts";
import { hasCode, UsageError } from "../agent-core/platform/errors.ts";
import { withLockSync } from "../agent-core/platform/locks/file-lock.ts";
import { makeFolder } from "../agent-core/platform/make-folder.ts";
import { readTextSync } from "../agent-core/platform/text-file.ts";

/** Without letters and digits that look alike. */
const ALPHABET = "ABCDEFGHJKLMNPQRSTUVWXYZ23456789";
const CODE_LENGTH = 8;
const HOUR_MS = 60 * 60_000;
/** Life of a code, and time without tries after too many wrong ones. */
const CODE_MS = HOUR_MS;
const LOCK_MS = HOUR_MS;
/** Time between two codes of a person. */
const REQUEST_MS = 10 * 60_000;
/** Open codes of a platform. */
const MAX_OPEN = 3;
const MAX_FAILURES = 5;
/** Requests whose time is kept. */
const MAX_ASKED = 1_000;

const entry = { platform: z.string(), user: z.string(), name: z.string(), at: z.number() };

const fileSchema = z.object({
  version: z.literal(1),
  open: z.array(z.object({ ...entry, salt: z.string(), hash: z.string() })),
  approved: z.array(z.object(entry)),
  /** Time of the last request of each person. */
  asked: z.record(z.string(), z.number()),
  failures: z.number(),
  lockedUntil: z.number(),
});
type PairingFile = z.infer<typeof fileSchema>;

const EMPTY: PairingFile = { version: 1, open: [], approved: [], asked: {}, failures: 0, lockedUntil: 0 };

export type PairingEntry = {
  readonly platform: string;
  readonly user: string;
  readonly name: string;
  readonly at: number;
};

export class Pairing {
  readonly #path: string;
  readonly #clock: Clock;
  #stamp = "";
  #read: PairingFile = EMPTY;

  /** `folder`: the gateway's own. */
  constructor(folder: string, clock: Clock) {
    makeFolder(folder, 0o700);
    this.#path = join(folder, "pairing.json");
    this.#clock = clock;
  }

  isApproved(platform: string, user: string): boolean {
    return this.#current().approved.some((one) => one.platform === platform && one.user === user);
  }

  /** Approved people, and open requests without their codes. */
  list(): { readonly approved: readonly PairingEntry[]; readonly open: readonly PairingEntry[] } {
    const { approved, open } = this.#current();
    return { approved, open: open.filter((one) => this.#isOpen(one)) };
  }

  /** A new code for a stranger. Undefined when the limits refuse one. */
  request(platform: string, user: string, name: string): string | undefined {
    return this.#change((file) => {
      const now = this.#clock.now();
      const key = `${platform}:${user}`;
      const open = file.open.filter((one) => this.#isOpen(one));
      const isEarly = (file.asked[key] ?? Number.NEGATIVE_INFINITY) > now - REQUEST_MS;
      const others = open.filter((one) => one.platform === platform && one.user !== user);
      if (isEarly || others.length >= MAX_OPEN || file.lockedUntil > now) return { file, result: undefined };
      const code = Array.from({ length: CODE_LENGTH }, () => ALPHABET[randomInt(ALPHABET.length)]).join("");
      const salt = randomBytes(16).toString("hex");
      const kept = open.filter((one) => !(one.platform === platform && one.user === user));
      const asked = Object.fromEntries(Object.entries({ ...file.asked, [key]: now }).slice(-MAX_ASKED));
      const mine = { platform, user, name: name.slice(0, 60), at: now, salt, hash: hashOf(code, salt) };
      return { file: { ...file, asked, open: [...kept, mine] }, result: code };
    });
  }

  /** Approves the person with this code. Throws a UsageError for a wrong one, and after five wrong ones. */
  approve(platform: string, code: string): PairingEntry {
    const found = this.#change((file) => {
      const now = this.#clock.now();
      if (file.lockedUntil > now) {
        const minutes = Math.ceil((file.lockedUntil - now) / 60_000);
        throw new UsageError(`Too many wrong codes: pairing is locked for ${minutes} more minutes.`);
      }
      const match = file.open.find(
        (one) =>
          one.platform === platform &&
          this.#isOpen(one) &&
          timingSafeEqual(
            Buffer.from(one.hash, "hex"),
            Buffer.from(hashOf(code.trim().toUpperCase(), one.salt), "hex"),
          ),
      );
      if (match === undefined) {
        const failures = file.failures + 1;
        const isLocked = failures >= MAX_FAILURES;
        return {
          file: { ...file, failures: isLocked ? 0 : failures, lockedUntil: isLocked ? now + LOCK_MS : 0 },
          result: undefined,
        };
      }
      const { salt: _, hash: __, ...person } = match;
      const approved = [
        ...file.approved.filter((one) => !(one.platform === platform && one.user === match.user)),
        { ...person, at: now },
      ];
      return {
        file: { ...file, failures: 0, approved, open: file.open.filter((one) => one !== match) },
        result: person,
      };
    });
    if (found === undefined)
      throw new UsageError(`There is no open request on ${platform} with this code. Codes end after an hour.`);
    return found;
  }

  /** False for an id that was not paired. */
  revoke(platform: string, user: string): boolean {
    return this.#change((file) => {
      const approved = file.approved.filter((one) => !(one.platform === platform && one.user === user));
      return { file: { ...file, approved }, result: approved.length < file.approved.length };
    });
  }

  /** Number of open requests that are gone now. */
  clearPending(): number {
    return this.#change((file) => ({
      file: { ...file, open: [] },
      result: file.open.filter((one) => this.#isOpen(one)).length,
    }));
  }

  #isOpen({ at }: PairingEntry): boolean {
    return at > this.#clock.now() - CODE_MS;
  }

  /** The file as it is: a command in a terminal may have changed it. Throws for a damaged file: it must not count as empty. */
  #current(): PairingFile {
    const stamp = fileVersion(this.#path) ?? "";
    if (stamp === this.#stamp) return this.#read;
    this.#read = this.#parse();
    this.#stamp = stamp;
    return this.#read;
  }

  #parse(): PairingFile {
    try {
      return fileSchema.parse(JSON.parse(readTextSync(this.#path)));
    } catch (error) {
      if (hasCode(error, "ENOENT")) return EMPTY;
      throw new Error(`${this.#path} cannot be read. Nobody is paired until it is repaired or removed.`, {
        cause: error,
      });
    }
  }

  #change<Result>(change: (file: PairingFile) => { readonly file: PairingFile; readonly result: Result }): Result {
    return withLockSync(`${this.#path}.lock`, () => {
      const { file, result } = change(this.#parse());
      const draft = `${this.#path}.new`;
      writeFileSync(draft, JSON.stringify(file), { mode: 0o600 });
      chmodSync(draft, 0o600);
      renameSync(draft, this.#path);
      this.#stamp = "changed";
      return result;
    });
  }
}

function hashOf(code: string, salt: string): string {
  return createHash("sha256").update(`${salt}:${code}`).digest("hex");
}
