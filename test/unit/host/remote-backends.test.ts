/**
 * The other places where commands run, with programs in place of `ssh`, `docker` and `apptainer` that take the same options, carry
 * the script out on this machine in a session and an environment of its own, and write down what they were called with.
 */
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { terminalSection } from "../../../agent-core/config/terminal-section.ts";
import { OWN_VARIABLES } from "../../../agent-core/host/terminals/backend.ts";
import { configuredBackend } from "../../../agent-core/host/terminals/configured-backend.ts";
import { tool as processTool } from "../../../agent-core/tools/process.ts";
import { tool as terminal } from "../../../agent-core/tools/terminal.ts";
import { answeredWith } from "../../support/observed.ts";
import { processesSleeping, processesWith } from "../../support/processes.ts";
import { RemoteBenches, textOf } from "../../support/remote-benches.ts";

const SSH = `#!/bin/bash
printf '%s\\n' "ssh $*" >> "$STUB/log"
tty=
while [ $# -gt 0 ]; do
  case $1 in
    -o | -p | -i) shift 2 ;;
    -n) exec < /dev/null; shift ;;
    -tt) tty=1; shift ;;
    -O) exit 0 ;;
    *) break ;;
  esac
done
[ "$1" = nobody@nowhere ] && { echo "ssh: connect to host nowhere port 22: Connection refused" >&2; exit 255; }
shift
run() { cd "$STUB/home" && exec env -i HOME="$STUB/home" PATH="$PATH" TMPDIR="$TMPDIR" SSH_CLIENT=x setsid -w "$@"; }
if [ -n "$tty" ]; then run script -qec "$1" /dev/null; else run sh -c "$1"; fi
`;

const DOCKER = `#!/bin/bash
printf '%s\\n' "docker $*" >> "$STUB/log"
case $1 in
  run) echo "Pulling…" >&2; echo container-1 ;;
  rm) ;;
  exec)
    shift
    if [ "$1" = --interactive ]; then shift; else exec < /dev/null; fi
    [ "$1" = container-1 ] || exit 1
    shift
    exec env -i HOME=/tmp PATH="$PATH" TMPDIR="$TMPDIR" setsid -w "$@" ;;
esac
`;

const APPTAINER = `#!/bin/bash
printf '%s\\n' "apptainer $*" >> "$STUB/log"
case "$1 $2" in
  "instance start")
    if [ -e "$STUB/no-cgroups" ] && [[ $* == *--memory* ]]; then
      echo "FATAL: container creation failed: while applying cgroups config: no D-Bus session" >&2; exit 255
    fi
    echo "INFO: instance started successfully" >&2; echo "\${@: -1}" > "$STUB/instance" ;;
  "instance stop") rm "$STUB/instance" ;;
  "exec "*)
    shift
    while [ $# -gt 0 ]; do case $1 in --cleanenv) shift ;; --pwd) cd "$2"; shift 2 ;; *) break ;; esac; done
    [ "$1" = "instance://$(cat "$STUB/instance" 2> /dev/null)" ] || { echo "FATAL: no instance found with name $1" >&2; exit 255; }
    shift
    exec env -i HOME=/tmp PATH="$PATH" TMPDIR="$TMPDIR" setsid -w "$@" ;;
esac
`;

/** A command that no other test on this machine runs. */
const NAP_SECONDS = Number(`8${process.pid}`);
const NAP = `sleep ${NAP_SECONDS}`;

let stub: string;
const before = process.env["PATH"] ?? "";
const benches = new RemoteBenches();

beforeEach(() => {
  stub = realpathSync(mkdtempSync(join(tmpdir(), "hermes-stub-")));
  mkdirSync(join(stub, "home", "project"), { recursive: true });
  for (const [name, text] of [
    ["ssh", SSH],
    ["docker", DOCKER],
    ["apptainer", APPTAINER],
  ] as const) {
    writeFileSync(join(stub, name), text);
    chmodSync(join(stub, name), 0o755);
  }
  Object.assign(process.env, { PATH: `${stub}${delimiter}${before}`, STUB: stub });
});

afterEach(async () => {
  await benches.endAll();
  process.env["PATH"] = before;
});

function log(): string {
  return readFileSync(join(stub, "log"), "utf8");
}

/** Ends the program that stands for ssh or docker, as closing its terminal does; what it runs is in another session. */
function endClient(): void {
  const own = processesWith((words) => words[0] === "setsid" && words[1] === "-w" && words.join(" ").includes(NAP));
  for (const pid of own) process.kill(pid, "SIGKILL");
}

function napping(): readonly number[] {
  return processesSleeping(NAP_SECONDS);
}

const places = [
  ["ssh", () => ({ backend: "ssh", ssh_host: "host", ssh_user: "me", ssh_port: 2222, cwd: `${stub}/home/project` })],
  ["docker", () => ({ backend: "docker", docker_image: "image" })],
  ["singularity", () => ({ backend: "singularity", singularity_image: "image.sif" })],
] as const;

/** One container program is enough for the tests that end processes: they take seconds. */
const slowPlaces = places.slice(0, 2);

test.each(places)("%s: output, exit code, folder and variables, as on this machine", async (name, section) => {
  const bench = await benches.open(section());
  const start = name === "ssh" ? `${stub}/home/project` : bench.folder;
  expect(await textOf(bench, "pwd; echo err >&2; exit 7")).toMatch(
    new RegExp(`^${start}\nerr\n\\[exit code 7, [\\d.]+ s; on .*\\(${name}\\)\\]$`),
  );
  expect(await textOf(bench, "mkdir -p 'sub dir'; cd 'sub dir'; export A=\"it's \\$A\"; false")).toContain(
    `the shell is in ${start}/sub dir now`,
  );
  expect(await textOf(bench, "pwd; echo $A; env | grep -c HERMES_SHELL")).toMatch(
    new RegExp(`^${start}/sub dir\nit's \\$A\n0\n`),
  );
  expect(await textOf(bench, "if then")).toContain("syntax error");
  expect(await textOf(bench, "pwd", { workdir: "/" })).toMatch(/^\/\n/);
});

test.each(slowPlaces)("%s: a stop ends all processes there, also those that left their session", async (_, section) => {
  const bench = await benches.open(section());
  await textOf(bench, `setsid -f ${NAP}; trap '' TERM; ${NAP}; ${NAP}`, { timeout: 1 });
  expect(napping()).toEqual([]);
});

test.each(slowPlaces)("%s: background commands take input, and end with the session", async (_, section) => {
  const bench = await benches.open(section());
  expect(await textOf(bench, `while read x; do echo got $x; done; ${NAP}`, { background: true })).toContain("as p1");
  expect((await answeredWith("got one", bench, "p1", "one\n")).text).toContain("got one");
  await bench.run(processTool, { action: "write", id: "p1", data: "\u0004" });
  await bench.context.processes.dispose();
  expect(napping()).toEqual([]);
});

test.each(slowPlaces)(
  "%s: what a command leaves running ends with the session, and what our side lost at once",
  async (_, section) => {
    const bench = await benches.open(section());
    await textOf(bench, `${NAP} > /dev/null 2>&1 &`);
    expect(napping()).toHaveLength(1);
    await bench.context.host.terminals.dispose();
    expect(napping()).toEqual([]);
    const lost = await benches.open(section());
    await textOf(lost, NAP, { background: true });
    const client = lost.context.processes.find("p1")!.running;
    await expect.poll(napping).toHaveLength(1);
    endClient();
    await client.exit;
    await expect.poll(napping).toEqual([]);
  },
);

test("ssh: a missing folder is reported, nothing runs, and the shell starts in the home", async () => {
  const bench = await benches.open({ backend: "ssh", ssh_host: "host", cwd: `${stub}/home/project` });
  await textOf(bench, "cd ..; rmdir project; mkdir project; cd project; rmdir ../project");
  expect(await textOf(bench, "echo ran")).toMatch(
    /^The folder \S+project does not exist: nothing was run\.\n\[exit code 1, .*the shell is in \S+\/home now/,
  );
  expect(await textOf(bench, "pwd")).toContain(`${stub}/home\n`);
});

test("ssh asks no question, shares one connection and ends it", async () => {
  const bench = await benches.open({ backend: "ssh", ssh_host: "host", ssh_user: "me", ssh_port: 2222, ssh_key: "/k" });
  await textOf(bench, "true");
  await bench.context.host.terminals.dispose();
  const calls = log().split(/^ssh /m).slice(1);
  for (const call of calls) {
    expect(call).toContain("-o BatchMode=yes");
    expect(call).toContain("-o ControlMaster=auto");
    expect(call).toMatch(/-o ControlPath=\/\S+\/hermes-ssh-[\w-]+\/control -p 2222 -i \/k .*me@host/);
  }
  expect(calls.at(-1)).toContain("-O exit");
  expect(readdirSync(join(stub, "home"))).toEqual(["project"]);
});

test("ssh: without a folder in config.yaml commands start in the home there", async () => {
  const bench = await benches.open({ backend: "ssh", ssh_host: "host" });
  expect(await textOf(bench, "pwd")).toContain(`${stub}/home\n`);
});

test("ssh: the other machine provides the pseudo-terminal", async () => {
  const bench = await benches.open({ backend: "ssh", ssh_host: "host" });
  expect(await textOf(bench, "[ -t 0 ] && [ -t 1 ] && tty; exit 3", { pty: true })).toMatch(
    /^\/dev\/pts\/\d+\n\[exit code 3/,
  );
  expect(log()).toContain(" -tt ");
});

test("an unreachable machine is reported in one line, and tried again", async () => {
  const backend = configuredBackend(
    terminalSection.parse({ backend: "ssh", ssh_host: "nowhere", ssh_user: "nobody" }),
    ["/"],
    OWN_VARIABLES,
  );
  for (const _ of [1, 2]) {
    await expect(backend.open("/", AbortSignal.timeout(10_000))).rejects.toThrow(
      "Commands cannot be run in nobody@nowhere (ssh): ssh: connect to host nowhere port 22: Connection refused. Check terminal in config.yaml.",
    );
  }
  await backend.dispose();
});

test("docker: one container a session, with the workspace's own files and no more rights than needed", async () => {
  const bench = await benches.open({ backend: "docker", docker_image: "image", docker_volumes: ["/data:/data:ro"] });
  await textOf(bench, "true");
  await textOf(bench, "true");
  await bench.context.host.terminals.dispose();
  const starts = log().match(/^docker run .*$/gm) ?? [];
  expect(starts).toHaveLength(1);
  expect(starts[0]).toMatch(/--rm --init .*--cap-drop ALL --security-opt no-new-privileges --pids-limit 256/);
  expect(starts[0]).toContain(`--volume ${bench.folder}:${bench.folder} --volume /data:/data:ro`);
  expect(log()).toMatch(/^docker rm --force container-1$/m);
  await expect(bench.run(terminal, { command: "tty", pty: true })).rejects.toThrow("No pseudo-terminal");
});

test("singularity: one instance a session, with the workspace's own files, and neither home nor variables", async () => {
  const bench = await benches.open({ backend: "apptainer", singularity_image: "docker://debian:12" });
  await textOf(bench, "true");
  await textOf(bench, "true");
  await bench.context.host.terminals.dispose();
  const starts = log().match(/^apptainer instance start .*$/gm) ?? [];
  expect(starts).toHaveLength(1);
  expect(starts[0]).toMatch(/--containall --cleanenv .*--cpus 1 --memory 5120M --pids-limit 256/);
  expect(starts[0]).toMatch(new RegExp(`--bind ${bench.folder}:${bench.folder} docker://debian:12 hermes-[\\w-]+$`));
  const name = starts[0]?.split(" ").at(-1);
  expect(log()).toContain(`apptainer exec --cleanenv --pwd / instance://${name} sh -c`);
  expect(log()).toContain(`apptainer instance stop --force ${name}\n`);
  await expect(bench.run(terminal, { command: "tty", pty: true })).rejects.toThrow("No pseudo-terminal");
});

test("singularity: without control groups the instance starts without limits; one that was ended starts again", async () => {
  writeFileSync(join(stub, "no-cgroups"), "");
  const bench = await benches.open({ backend: "singularity" });
  expect(await textOf(bench, "echo ran")).toContain("ran\n");
  expect(
    log()
      .match(/^apptainer instance start .*$/gm)
      ?.map((line) => line.includes("--memory")),
  ).toEqual([true, false]);
  rmSync(join(stub, "instance"));
  expect(await textOf(bench, "echo ran")).toContain("no instance found");
  expect(await textOf(bench, "echo again")).toContain("again\n");
});

test.each(["modal", "daytona"])("%s is refused in one line that names the plugin interface", async (backend) => {
  const bench = await benches.open({ backend });
  await expect(bench.run(terminal, { command: "touch ran" })).rejects.toThrow(
    `The terminal backend ${backend} is not built in: a plugin can run commands there with a tool of its own (ctx.registerTool).`,
  );
  expect(existsSync(join(bench.folder, "ran"))).toBe(false);
});

test("an unknown backend refuses every command instead of running it on this machine", async () => {
  const bench = await benches.open({ backend: "podmann" });
  await expect(bench.run(terminal, { command: "touch ran" })).rejects.toThrow(
    'Unsupported terminal backend: "podmann"',
  );
  expect(existsSync(join(bench.folder, "ran"))).toBe(false);
  const unset = await benches.open({ backend: "ssh" });
  await expect(unset.run(terminal, { command: "true" })).rejects.toThrow("terminal.ssh_host is not set");
});
