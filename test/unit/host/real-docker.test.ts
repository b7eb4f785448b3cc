/**
 * Commands in real containers, of images with and without bash. An engine needs root and control groups. Where it
 * cannot start, the programs in place of docker in remote-backends.test.ts are the only proof, also in CI.
 */
import { mkdtempSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { homedir, tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { type DockerEngine, importImage, startDockerEngine } from "../../support/docker-engine.ts";
import { answeredWith } from "../../support/observed.ts";
import { processesSleeping } from "../../support/processes.ts";
import { hasPrograms } from "../../support/programs.ts";
import { RemoteBenches, textOf } from "../../support/remote-benches.ts";
import type { Bench } from "../../support/tool-context.ts";

/** A command that no other test on this machine runs. */
const NAP_SECONDS = Number(`7${process.pid}`);
const NAP = `sleep ${NAP_SECONDS}`;
const AWKWARD = `it's "two"  $HOME \\ \\\\ \\' !history \`tick\` *? [a] {b,c} ~ # % ^ & | ; < > ( ) äöü € 𝄞 end\\`;
/** An image has to be copied, as layers need a kernel's help, and each command starts two programs. Milliseconds. */
const SLOW = 120_000;

const engine = hasPrograms("docker", "dockerd", "busybox") ? await engineOrReason() : undefined;
const benches = new RemoteBenches();
const before = process.env["DOCKER_HOST"];

process.env["DOCKER_HOST"] = engine?.address ?? "";

afterEach(() => benches.endAll(), SLOW);

afterAll(async () => {
  if (before === undefined) delete process.env["DOCKER_HOST"];
  else process.env["DOCKER_HOST"] = before;
  await engine?.stop();
}, SLOW);

function engineOrReason(): Promise<DockerEngine | undefined> {
  return startDockerEngine().catch((error: unknown) => {
    // biome-ignore lint/suspicious/noConsole: a reader of the report must know why the tests are skipped.
    console.warn(`Skipping the tests that need docker: no container engine can be started here: ${String(error)}`);
    return undefined;
  });
}

function benchOf(section: object, passed: Readonly<Record<string, string>> = {}): Promise<Bench> {
  return benches.open({ backend: "docker", ...section }, passed);
}

/** The processes of a container are this machine's, too. */
function napping(): readonly number[] {
  return processesSleeping(NAP_SECONDS);
}

function docker(...args: readonly string[]): string {
  return engine?.docker(...args) ?? "";
}

function containers(): string[] {
  return docker("ps", "--all", "--quiet", "--filter", "label=hermes-agent").split("\n").filter(Boolean);
}

describe.runIf(engine).each([
  ["with bash", "hermes-bash:test", true],
  ["without bash", "hermes-plain:test", false],
])("an image %s", (_, image, hasBash) => {
  beforeAll(() => importImage(docker, image, hasBash), SLOW);
  const bench = (passed?: Readonly<Record<string, string>>) => benchOf({ docker_image: image }, passed);

  test("exit code, both streams, folder and variables are those of the command in the container", {
    timeout: SLOW,
  }, async () => {
    const it = await bench();
    const text = await textOf(it, "pwd; echo err >&2; export A=\"it's \\$A\"; mkdir 'sub dir'; cd 'sub dir'; (exit 7)");
    expect(text).toMatch(new RegExp(`^${it.folder}\nerr\n\\[exit code 7, .*the shell is in ${it.folder}/sub dir now`));
    expect(await textOf(it, 'pwd; echo "$A"')).toContain(`${it.folder}/sub dir\nit's $A\n[exit code 0`);
  });

  test("every character arrives unchanged", { timeout: SLOW }, async () => {
    const it = await bench({ PASSED_ON: AWKWARD });
    expect(await textOf(it, `cat <<'END'\n${AWKWARD}\nEND`)).toContain(`${AWKWARD}\n[exit code 0`);
    expect(await textOf(it, 'printf "%s\\n" "$PASSED_ON"')).toContain(`${AWKWARD}\n[exit code 0`);
  });

  test("the container has the workspace's files, and no other files or rights of this machine", {
    timeout: SLOW,
  }, async () => {
    const it = await bench();
    writeFileSync(join(it.folder, "here.txt"), "from here\n");
    expect(await textOf(it, "cat here.txt; echo from there > there.txt")).toContain("from here\n[exit code 0");
    expect(readFileSync(join(it.folder, "there.txt"), "utf8")).toBe("from there\n");
    expect(await textOf(it, `ls ${homedir()}`)).toContain("No such file or directory");
    expect(await textOf(it, "grep -E 'CapEff|NoNewPrivs' /proc/self/status")).toMatch(/CapEff:\s0+\nNoNewPrivs:\s1\n/);
    const limits = docker("inspect", "--format", "{{.HostConfig.PidsLimit}} {{.HostConfig.Memory}}", ...containers());
    expect(limits.trim()).toBe(`256 ${5_120 * 1024 * 1024}`);
  });

  test("a stop ends all processes there, also those that left their session", { timeout: SLOW }, async () => {
    const it = await bench();
    await textOf(it, `setsid ${NAP} & trap '' TERM; ${NAP}; ${NAP}`, { timeout: 3 });
    expect(napping()).toEqual([]);
  });

  test("a background command takes input, and the container ends with the session", { timeout: SLOW }, async () => {
    const it = await bench();
    expect(await textOf(it, `while read x; do echo got $x; done; ${NAP}`, { background: true })).toContain("as p1");
    expect((await answeredWith("got one", it, "p1", "one\n")).text).toContain("got one");
    expect(containers()).toHaveLength(1);
    await it.context.processes.dispose();
    await it.context.host.terminals.dispose();
    expect([napping(), containers()]).toEqual([[], []]);
  });

  test("a removed container is reported, and the next command gets another", { timeout: SLOW }, async () => {
    const it = await bench();
    await textOf(it, "mkdir kept; cd kept; export A=1");
    const [first = ""] = containers();
    docker("rm", "--force", first);
    expect(await textOf(it, "echo ran")).toMatch(/No such container.*\n\[exit code 1, .*the shell is in /s);
    expect(await textOf(it, "pwd; ls; echo A=$A")).toContain(`${it.folder}\nkept\nA=\n[exit code 0`);
    expect(containers()).not.toEqual([first]);
  });
});

test.runIf(engine)(
  "an image that is not to be had is said in one line, and nothing runs on this machine",
  {
    timeout: SLOW,
  },
  async () => {
    const it = await benchOf({ docker_image: "127.0.0.1:9/nothing:here" });
    await expect(textOf(it, "touch ran")).rejects.toThrow(
      /^Commands cannot be run in a container of 127\.0\.0\.1:9\/nothing:here \(docker\): .*Check terminal in config\.yaml\.$/,
    );
    expect(readdirSync(it.folder)).not.toContain("ran");
  },
);

test.runIf(hasPrograms("docker"))("a missing engine is reported in one line", async () => {
  process.env["DOCKER_HOST"] = `unix://${mkdtempSync(join(tmpdir(), "hermes-no-engine-"))}/socket`;
  try {
    const it = await benchOf({ docker_image: "any" });
    await expect(textOf(it, "touch ran")).rejects.toThrow(/docker daemon.*Check terminal in config\.yaml\.$/);
  } finally {
    process.env["DOCKER_HOST"] = engine?.address ?? "";
  }
});
