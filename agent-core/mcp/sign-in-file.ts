/**
 * Sign-ins to one MCP server in a file of the home that only its owner may read. An entry belongs to the server's address
 * and to the issuer that made it: it is never sent to another one.
 */
import { dirname } from "node:path";
import * as z from "zod";
import { readJsonFile, writeJsonFile } from "../config/home-file.ts";
import { withLock } from "../platform/locks/file-lock.ts";
import { makeFolder } from "../platform/make-folder.ts";

const entrySchema = z.object({
  /** Address of the server. */
  url: z.string(),
  issuer: z.string(),
  /** This program as the issuer registered it. */
  client: z.looseObject({
    client_id: z.string(),
    client_secret: z.string().optional(),
    redirect_uris: z.array(z.string()).exactOptional(),
    issuer: z.string().optional(),
  }),
  /** Undefined after a sign-out. */
  tokens: z
    .looseObject({
      access_token: z.string(),
      token_type: z.string(),
      refresh_token: z.string().optional(),
      scope: z.string().optional(),
      issuer: z.string().optional(),
    })
    .optional(),
  /** End of the access token, in milliseconds since 1970. */
  expiresAt: z.number().optional(),
});
export type SignIn = z.output<typeof entrySchema>;

/** The original Hermes Agent keeps its own sign-in in further fields of the same file. */
const fileSchema = z.looseObject({ version: z.literal(1), signIns: z.array(entrySchema) });

export class SignInFile {
  readonly #path: string;
  readonly #url: string;

  /** `path`: the server's file. `url`: the server's address. */
  constructor(path: string, url: string) {
    this.#path = path;
    this.#url = url;
  }

  /** The last sign-in to this address; undefined without one, and for a damaged file. */
  async last(): Promise<SignIn | undefined> {
    return (await this.#read()).findLast(({ url }) => url === this.#url);
  }

  /** The sign-in to this address that the issuer made. */
  async of(issuer: string): Promise<SignIn | undefined> {
    return (await this.#read()).findLast((each) => each.url === this.#url && each.issuer === issuer);
  }

  /**
   * Replaces the last sign-in by what `change` makes of it, while no other process changes the file. An undefined result
   * changes nothing.
   */
  async change(change: (last: SignIn | undefined) => Promise<SignIn | undefined>): Promise<void> {
    makeFolder(dirname(this.#path), 0o700);
    await withLock(`${this.#path}.lock`, async () => {
      const all = await this.#read();
      const changed = await change(all.findLast(({ url }) => url === this.#url));
      if (changed === undefined) return;
      const others = all.filter(({ url, issuer }) => url !== changed.url || issuer !== changed.issuer);
      const kept = z.looseObject({}).safeParse(await readJsonFile(this.#path)).data;
      await writeJsonFile(this.#path, { ...kept, version: 1, signIns: [...others, changed] });
    });
  }

  /** After a damaged file the user signs in again. */
  async #read(): Promise<readonly SignIn[]> {
    return fileSchema.safeParse(await readJsonFile(this.#path)).data?.signIns ?? [];
  }
}
