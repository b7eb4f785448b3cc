/** Real container engine for the tests, with images, containers and socket in a temporary folder. */
import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";

export type DockerEngine = {
  /** For DOCKER_HOST. */
  readonly address: string;
  /** Runs `docker` and returns its output. */
  docker(...args: readonly string[]): string;
  stop(): Promise<void>;
};

/** No bridge, iptables or layers, because they need more rights. */
const ENGINE_OPTIONS = ["--storage-driver=vfs", "--iptables=false", "--ip6tables=false", "--bridge=none"];
/** Programs in a container's /bin, besides bash. */
const APPLETS = "sh ls cat env sleep pwd mkdir ps id rm head tr grep mktemp setsid kill tty seq touch".split(" ");

/** Rejects with the end of the engine's log if it does not start. */
export async function startDockerEngine(): Promise<DockerEngine> {
  const folder = mkdtempSync(join(tmpdir(), "hermes-dockerd-"));
  const address = `unix://${folder}/socket`;
  const places = [`--data-root=${folder}/data`, `--exec-root=${folder}/exec`, `--pidfile=${folder}/pid`];
  const engine = spawn("dockerd", [...ENGINE_OPTIONS, ...places, "--host", address], {
    stdio: ["ignore", "ignore", "pipe"],
  });
  await listening(engine);
  const docker = (...args: readonly string[]): string =>
    execFileSync("docker", [...args], { encoding: "utf8", env: { ...process.env, DOCKER_HOST: address } });
  return {
    address,
    docker,
    async stop() {
      const ended = once(engine, "exit");
      engine.kill();
      await ended;
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** Imports an image made of this machine's busybox and, if `hasBash`, bash. */
export function importImage(docker: DockerEngine["docker"], name: string, hasBash: boolean): void {
  const root = mkdtempSync(join(tmpdir(), "hermes-image-"));
  for (const path of ["bin", "tmp", "etc"]) mkdirSync(join(root, path));
  copyInto(root, programPath("busybox"), "/bin/busybox");
  for (const applet of APPLETS) symlinkSync("busybox", join(root, "bin", applet));
  if (hasBash) {
    const bash = programPath("bash");
    copyInto(root, bash, "/bin/bash");
    const libraries = execFileSync("ldd", [bash], { encoding: "utf8" }).match(/\/\S+/g) ?? [];
    for (const library of libraries) copyInto(root, library, library);
  }
  execFileSync("tar", ["-C", root, "-cf", `${root}.tar`, "."]);
  docker("import", `${root}.tar`, name);
  rmSync(root, { recursive: true });
  rmSync(`${root}.tar`);
}

function programPath(program: string): string {
  return execFileSync("sh", ["-c", `command -v ${program}`], { encoding: "utf8" }).trim();
}

function copyInto(root: string, from: string, to: string): void {
  const target = join(root, dirname(to), basename(to));
  mkdirSync(dirname(target), { recursive: true });
  if (!existsSync(target)) copyFileSync(from, target);
}

function listening(engine: ChildProcess): Promise<void> {
  return new Promise((resolve, reject) => {
    let log = "";
    engine.stderr?.setEncoding("utf8").on("data", (text: string) => {
      log = (log + text).slice(-4_000);
      if (log.includes("API listen on")) resolve();
    });
    engine.once("error", reject);
    engine.once("exit", (code) => reject(new Error(`dockerd ended with code ${code}: ${log}`)));
  });
}
