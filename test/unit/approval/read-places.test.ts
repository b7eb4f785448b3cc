import { mkdirSync, mkdtempSync, realpathSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { CommandScope } from "../../../agent-core/approval/command-scope.ts";
import { decide } from "../../../agent-core/approval/policy.ts";
import { protectedReason } from "../../../agent-core/approval/protected-paths.ts";
import { outsideReason, readPlace, toolchainPlaces } from "../../../agent-core/approval/read-places.ts";
import { secretReason } from "../../../agent-core/approval/secret-paths.ts";
import { resolvePath } from "../../../agent-core/platform/paths.ts";

const home = "/home/someone";
const scope: CommandScope = {
  cwd: "/projects/p",
  roots: ["/projects/p"],
  home,
  hermesHome: `${home}/.hermes`,
  resolvePath,
};

test("tools read the workspace, temporary files and their own outputs unasked, and nothing else", () => {
  const own = `${home}/.hermes/vscode/sessions/20261120_120000_00000000.files/terminal-1.log`;
  for (const path of ["/projects/p/a.ts", join(tmpdir(), "x"), own])
    expect([path, outsideReason(path, scope)]).toEqual([path, undefined]);
  for (const path of ["/projects/other/a.ts", "/etc/hosts", `${home}/notes.txt`, `${home}/.hermes/config.yaml`, "/"]) {
    expect([path, outsideReason(path, scope)]).toEqual([path, "it is outside the workspace"]);
  }
});

test("a home below a folder of the system is a home", () => {
  const other = { ...scope, home: "/var/home/someone", hermesHome: "/var/home/someone/.hermes" };
  const reasons = ["/var/home/someone/a.txt", "/var/home/someone/.cargo/bin/x", "/var/log/a"].map((path) =>
    readPlace(path, other),
  );
  expect(reasons).toEqual([expect.objectContaining({ isHidden: true }), undefined, undefined]);
  // Users of services have the root for their home.
  expect(readPlace("/usr/bin/x", { ...scope, home: "/" })).toBeUndefined();
});

test("a question about a link in the workspace names the place that it leads to", () => {
  const resolving = { ...scope, resolvePath: (path: string) => path.replace("/projects/p/link", "/srv/data") };
  const reason = "it leads to /srv/data/a.txt, outside the workspace";
  expect(outsideReason("/projects/p/link/a.txt", resolving)).toBe(reason);
  expect(protectedReason("/projects/p/link/a.txt", resolving)).toBe(reason);
});

test("a link out of the workspace leads outside of it", () => {
  const root = mkdtempSync(join(tmpdir(), "hermes-root-"));
  symlinkSync("/etc", join(root, "innocent"));
  const grants = { covers: () => false };
  const effect = { kind: "read", paths: [join(root, "innocent/hosts")] } as const;
  const linked = { ...scope, cwd: root, roots: [root] };
  expect(decide(effect, { mode: "auto", scope: linked, trusted: true, grants }).kind).toBe("ask");
  expect(decide(effect, { mode: "auto", scope: linked, trusted: false, grants }).kind).toBe("deny");
});

test.each([
  `${home}/.ssh/id_ed25519`,
  `${home}/.claude/.credentials.json`,
  `${home}/.codex/auth.json`,
  `${home}/.m2/settings.xml`,
  `${home}/.config/rclone/rclone.conf`,
  `${home}/.config/BraveSoftware/Brave-Browser/Default/Cookies`,
  `${home}/.mozilla/firefox/x.default/logins.json`,
  `${home}/Library/Keychains/login.keychain-db`,
  `${home}/Library/Application Support/Google/Chrome/Default/Cookies`,
  `${home}/.netrc`,
  `${home}/.aws/credentials`,
  "/projects/p/deploy/server.pem",
  "/projects/p/.env.production",
  "/proc/1/environ",
])("a secret stays one wherever it is: %s", (path) => {
  expect(secretReason(path, scope)).toBeDefined();
});

test.each([
  "/etc/ssl/certs/ca.pem",
  "/usr/lib/node_modules/x/test.pem",
  "/projects/p/.env.example",
  `${home}/.m2/repository/a.jar`,
])("an ordinary file is no secret: %s", (path) => expect(secretReason(path, scope)).toBeUndefined());

test("commands read the system and toolchains; homes are hidden", () => {
  for (const path of ["/usr/include/stdio.h", "/etc/hosts", `${home}/.cargo/registry/src/a.rs`, "/projects/p/a"]) {
    expect([path, readPlace(path, scope)]).toEqual([path, undefined]);
  }
  expect(readPlace(`${home}/Documents/a`, scope)).toMatchObject({ isHidden: true });
  expect(readPlace("/home/other/a", scope)).toMatchObject({ isHidden: true });
  expect(readPlace("/srv/data", scope)).toMatchObject({ isHidden: false });
});

test("folders of PATH and of a toolchain's variable below the home are toolchains, unless they hold secrets", () => {
  const environment = {
    PATH: `/usr/bin:${home}/tools/bin:${home}/scripts:${home}:${home}/.local:${home}/.ssh/bin`,
    JAVA_HOME: `${home}/java`,
  };
  const places = toolchainPlaces(scope, environment);
  for (const place of [`${home}/tools/bin`, `${home}/scripts`, `${home}/java`]) expect(places).toContain(place);
  for (const place of [home, `${home}/.local`, `${home}/.ssh`, "/usr"]) expect(places).not.toContain(place);
});

test("the folder above a bin in PATH is a toolchain only where it has libraries", () => {
  const own = realpathSync(mkdtempSync(join(tmpdir(), "hermes-home-")));
  for (const name of ["jdk/bin", "jdk/lib", "work/bin", "work/other"]) mkdirSync(join(own, name), { recursive: true });
  const places = toolchainPlaces({ ...scope, home: own }, { PATH: `${own}/jdk/bin:${own}/work/bin` });
  expect(places).toEqual(expect.arrayContaining([join(own, "jdk"), join(own, "work/bin")]));
  expect(places).not.toContain(join(own, "work"));
});

test("a file of keys in a folder is found by name in any letter case", () => {
  const root = mkdtempSync(join(tmpdir(), "hermes-root-"));
  mkdirSync(join(root, "a"));
  writeFileSync(join(root, "a/ID_RSA"), "x");
  expect(secretReason(join(root, "a/ID_RSA"), scope)).toBeDefined();
});

test("a pattern that may match a home asks as a read of one, and in the sandbox it matches none", () => {
  for (const path of ["/var/h*/other/notes.txt", "/*/other/a", "/r[o]ot/a", "/var/home/other/a.txt", "/?ome"])
    expect(readPlace(path, scope)?.reason, path).toContain("home folder");
  expect(readPlace("/var/h*/other/notes.txt", scope)?.isHidden).toBe(false);
  for (const path of ["/home/*/a", "/home/o*/a", "/var/home/other/a"])
    expect(readPlace(path, scope)?.isHidden).toBe(true);
  for (const path of ["/var/l*/a", "/usr/*/a", "/etc/*.conf", "/var/l*g/home/x"])
    expect(readPlace(path, scope)).toBe(undefined);
});
