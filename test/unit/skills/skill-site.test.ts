import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { zipSync } from "fflate";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type HubVerb, runHubVerb } from "../../../agent-core/skills/skill-hub.ts";

let home: string;
let server: Server;
let site: string;
/** Bodies by path; a string that begins with "http" is a redirect. */
let pages: Record<string, string | Uint8Array>;

beforeEach(async () => {
  home = mkdtempSync(join(tmpdir(), "hermes-site-"));
  pages = {};
  pages["/"] = "the front page";
  server = createServer((request, response) => {
    const body = pages[request.url ?? ""];
    if (typeof body === "string" && body.startsWith("http")) response.writeHead(302, { location: body });
    else response.writeHead(body === undefined ? 404 : 200);
    response.end(body);
  });
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  site = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});

afterEach(() => void server.close());

const skill = (name: string): string => `---\nname: ${name}\ndescription: Deploys. Use to deploy.\n---\n\nDo it.\n`;
const digest = (bytes: string | Uint8Array): string => `sha256:${createHash("sha256").update(bytes).digest("hex")}`;
async function slash(verb: HubVerb, operand: string, sources?: readonly string[]): Promise<string> {
  const said: string[] = [];
  const use = { homeSkills: join(home, "skills"), cwd: home, signal: new AbortController().signal, sources };
  const install = (address: string): string => `/skills install ${address}`;
  await runHubVerb(verb, operand, { ...use, install, say: (line) => said.push(line) }).catch((error: Error) =>
    said.push(error.message),
  );
  return said.join("\n");
}
const installed = (name: string, file = "SKILL.md"): string => join(home, "skills/hub", name, file);

const SCHEMA = "https://schemas.agentskills.io/discovery/0.2.0/schema.json";

function publish(...skills: readonly { name: string; type: string; url: string; body: string | Uint8Array }[]): void {
  for (const { url, body } of skills) pages[url] = body;
  const entries = skills.map(({ body, ...entry }) => ({ ...entry, description: "d", digest: digest(body) }));
  pages["/.well-known/agent-skills/index.json"] = JSON.stringify({ $schema: SCHEMA, skills: entries });
}

const put = (path: string, body: string): void => {
  pages[path] = body;
};

async function install(source: string): Promise<string> {
  const offer = await slash("install", source);
  const [, id] = /confirm (\w+)/.exec(offer) ?? [];
  return id === undefined ? offer : slash("confirm", id);
}

/** Archive of `files`, made by the system's tar. */
function tarball(files: Record<string, string>, ...options: readonly string[]): Uint8Array {
  const folder = mkdtempSync(join(tmpdir(), "hermes-tar-"));
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  }
  return execFileSync("tar", ["-czf", "-", ...options, "-C", folder, "."], { stdio: ["ignore", "pipe", "ignore"] });
}

describe("a site that publishes skills", () => {
  it("offers the skills of its index: files, gzipped archives and zip archives", async () => {
    const long = `references/${"a".repeat(120)}.md`;
    publish(
      { name: "one", type: "skill-md", url: "/one/SKILL.md", body: skill("one") },
      { name: "two", type: "archive", url: "/two.tgz", body: tarball({ "SKILL.md": skill("two"), [long]: "text" }) },
      { name: "three", type: "archive", url: "/3.zip", body: zipSync({ "SKILL.md": Buffer.from(skill("three")) }) },
    );
    expect(await install(site)).toBe("Installed: one, three, two.");
    expect(readFileSync(installed("two", long), "utf8")).toBe("text");
    expect(await slash("update", "one")).toBe("one: up to date.");
  });

  it.each(["gnu", "pax", "ustar"])("unpacks what tar writes in its format %s", async (format) => {
    const files = { "SKILL.md": skill("two"), [`scripts/${"b".repeat(90)}/run.py`]: "print(1)\n" };
    publish({ name: "two", type: "archive", url: "/two.tgz", body: tarball(files, `--format=${format}`) });
    expect(await install(`${site}#two`)).toBe("Installed: two.");
    expect(existsSync(installed("two", `scripts/${"b".repeat(90)}/run.py`))).toBe(true);
  });

  it("is searched, and gives the address of one of its skills", async () => {
    publish({ name: "one", type: "skill-md", url: "one/SKILL.md", body: skill("one") });
    pages["/.well-known/agent-skills/one/SKILL.md"] = skill("one");
    const found = await slash("search", "deploy", [site]);
    expect(found).toContain(`/skills install ${site}#one`);
    expect(await install(`${site}#one`)).toBe("Installed: one.");
  });

  it("is read in version 0.1, with the files of each skill", async () => {
    const entry = { name: "old", description: "d", files: ["SKILL.md", "references/notes.md"] };
    pages["/docs/.well-known/skills/index.json"] = JSON.stringify({ skills: [entry] });
    pages["/docs/.well-known/skills/old/SKILL.md"] = skill("old");
    pages["/docs/.well-known/skills/old/references/notes.md"] = "notes";
    expect(await install(`${site}/docs`)).toBe("Installed: old.");
    expect(readFileSync(installed("old", "references/notes.md"), "utf8")).toBe("notes");
  });

  it("offers one skill by the address of its SKILL.md", async () => {
    pages["/any/deploy.md"] = skill("deploy");
    expect(await install(`${site}/any/deploy.md`)).toBe("Installed: deploy.");
  });

  it.each([
    ["a changed artifact", () => put("/one/SKILL.md", `${skill("one")}more`), "does not match the digest"],
    [
      "a redirect to another host",
      () => put("/one/SKILL.md", site.replace("127.0.0.1", "localhost")),
      "redirects to another host",
    ],
    ["an address in another private network", () => reindex("http://10.0.0.1/SKILL.md"), "10.0.0.1 was refused"],
    ["the metadata service of a cloud", () => reindex("http://169.254.169.254/x"), "169.254.169.254 was refused"],
    [
      "an index of a later version",
      () => renew((index) => ({ ...index, $schema: "https://x/discovery/9.0.0/s" })),
      "of another version",
    ],
  ])("is refused with %s, and leaves nothing", async (_, spoil, reason) => {
    publish({ name: "one", type: "skill-md", url: "/one/SKILL.md", body: skill("one") });
    spoil();
    expect(await install(site)).toContain(reason);
    expect(existsSync(installed("one"))).toBe(false);
  });

  it.each([
    [
      "a path that leads out",
      zipSync({ "SKILL.md": Buffer.from(skill("one")), "../../x": Buffer.from("x") }),
      "leads out",
    ],
    [
      "more than 10 MiB",
      zipSync({ "SKILL.md": Buffer.from(skill("one")), big: new Uint8Array(11_000_000) }),
      "unpacks to more",
    ],
    [
      "more than 10 MiB of gzip",
      tarball({ "SKILL.md": skill("one"), big: "0".repeat(11_000_000) }),
      "could not be unpacked",
    ],
    ["neither form", Buffer.from("no archive"), "could not be unpacked"],
    ["no content", Buffer.alloc(0), "could not be unpacked"],
  ])("is refused with an archive of %s", async (_, body, reason) => {
    publish({ name: "one", type: "archive", url: "/one", body });
    expect(await install(site)).toContain(reason);
    expect(existsSync(installed("one"))).toBe(false);
  });

  it("is refused with an archive that has a link", async () => {
    const folder = mkdtempSync(join(tmpdir(), "hermes-link-"));
    symlinkSync("/etc/passwd", join(folder, "SKILL.md"));
    publish({ name: "one", type: "archive", url: "/one", body: execFileSync("tar", ["-czf", "-", "-C", folder, "."]) });
    expect(await install(site)).toContain("SKILL.md is a link or a device");
  });

  it("is refused with more than 50 MB of skills", async () => {
    const body = "x".repeat(9_000_000);
    const names = ["one", "two", "three", "four", "five", "six"];
    publish(...names.map((name) => ({ name, type: "skill-md", url: `/${name}`, body })));
    expect(await install(site)).toContain("have more than 50000000 bytes");
  });

  it("is a git repository when it has no index", async () => {
    expect(await install(`${site}/team/skills`)).toContain(`Could not fetch ${site}/team/skills`);
  });
});

function renew(change: (index: Record<string, unknown>) => unknown): void {
  const place = "/.well-known/agent-skills/index.json";
  pages[place] = JSON.stringify(change(JSON.parse(String(pages[place]))));
}

const reindex = (url: string): void =>
  renew((index) => ({ ...index, skills: [{ name: "one", type: "skill-md", url, digest: digest("") }] }));
