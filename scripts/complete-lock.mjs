// Makes package-lock.json whole after `npm install` against a registry that lacks the binaries of some platforms: npm
// leaves those optional packages out, and `npm ci` then refuses the file. Also drops download addresses.
import { readFileSync, writeFileSync } from "node:fs";

const systems = ["android", "darwin", "freebsd", "linux", "openharmony", "win32"];
const processors = ["arm64", "x64", "ia32", "ppc64", "riscv64", "s390x", "arm"];

const lock = JSON.parse(readFileSync("package-lock.json", "utf8"));
const added = {};
for (const [path, entry] of Object.entries(lock.packages)) {
  delete entry.resolved;
  for (const [name, version] of Object.entries(entry.optionalDependencies ?? {})) {
    const isThere = lock.packages[`node_modules/${name}`] || lock.packages[`${path}/node_modules/${name}`];
    if (isThere || !/^\d/.test(version)) continue;
    const words = name.split(/[/-]/);
    const os = systems.find((system) => words.includes(system));
    const cpu = processors.find((processor) => words.some((word) => word === processor)) ?? "arm";
    if (os === undefined) continue;
    added[`node_modules/${name}`] = {
      version,
      cpu: [cpu],
      ...(entry.dev && { dev: true }),
      ...(name.includes("musl") && { libc: ["musl"] }),
      optional: true,
      os: [os],
    };
  }
}
const packages = Object.entries({ ...lock.packages, ...added }).sort(([one], [other]) => (one < other ? -1 : 1));
lock.packages = Object.fromEntries(packages);
writeFileSync("package-lock.json", `${JSON.stringify(lock, undefined, 2)}\n`);
console.log(`${Object.keys(added).length} optional packages added`);
