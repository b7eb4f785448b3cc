/** The token of a server: of the environment, of a file, or made once in the home. */
import { randomBytes } from "node:crypto";
import { readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { hasCode } from "../platform/errors.ts";
import { makeFolder } from "../platform/make-folder.ts";

/** Bits of the file's mode that let others than its owner read or write it. */
const OTHERS = 0o077;
const TOKEN_BYTES = 32;
/** Shorter tokens can be guessed. */
const MIN_CHARS = 16;

export type ServerToken = {
  /** Place of the token, for people. */
  readonly place: string;
  /** Reads the current token. A changed file revokes the earlier one. Throws an Error in one line. */
  readonly read: () => string;
};

export type TokenSource = {
  /** Value of HERMES_SERVE_TOKEN. */
  readonly variable: string | undefined;
  readonly file: string | undefined;
  /** Hermes' home folder. */
  readonly home: string;
};

/** Rejects with an Error in one line for a token that is short, or that others can read. */
export async function serverToken({ variable, file, home }: TokenSource): Promise<ServerToken> {
  if (variable !== undefined && variable !== "") {
    const token = longEnough(variable, "HERMES_SERVE_TOKEN");
    return { place: "HERMES_SERVE_TOKEN", read: () => token };
  }
  const path = file ?? (await ownFile(home));
  const read = tokenFile(path);
  read();
  return { place: path, read };
}

/** The file in the home, made with the first start. */
async function ownFile(home: string): Promise<string> {
  const path = join(home, "serve-token");
  await makeFolder(home);
  try {
    writeFileSync(path, `${randomBytes(TOKEN_BYTES).toString("base64url")}\n`, { flag: "wx", mode: 0o600 });
  } catch (error) {
    if (!hasCode(error, "EEXIST")) throw error;
  }
  return path;
}

/** Reads the token of a file, again after each change of it. Throws an Error in one line. */
export function tokenFile(path: string): () => string {
  let known: { readonly changedMs: number; readonly token: string } | undefined;
  return () => {
    const { mode, ctimeMs: changedMs } = statSync(path);
    if (known?.changedMs === changedMs) return known.token;
    if (process.platform !== "win32" && (mode & OTHERS) !== 0) {
      throw new Error(`${path} can be read or written by other users; run: chmod 600 ${path}`);
    }
    known = { changedMs, token: longEnough(readFileSync(path, "utf8").trim(), path) };
    return known.token;
  };
}

function longEnough(token: string, place: string): string {
  if (token.length >= MIN_CHARS && !/\s/.test(token)) return token;
  throw new Error(`the token in ${place} needs at least ${MIN_CHARS} characters without spaces`);
}
