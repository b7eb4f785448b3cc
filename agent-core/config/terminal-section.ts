/** Section `terminal` of config.yaml: the place and the limits of commands. */
import * as z from "zod";
import { group, setting } from "./setting.ts";

/** The original's image: Python and Node.js. */
const DOCKER_IMAGE = "nikolaik/python-nodejs:python3.11-nodejs20";
const SINGULARITY_IMAGE = `docker://${DOCKER_IMAGE}`;

/** Name that a shell can export. */
const variable = z.string().regex(/^[A-Za-z_][A-Za-z0-9_]*$/, "is not the name of an environment variable");

export const terminalSection = group({
  backend: setting(
    "`local`, `ssh`, `docker` or `singularity`; with any other name every command is refused.",
    z.string().default("local"),
  ),
  sandbox: setting(
    "`auto`: commands of this machine run in a sandbox if the machine has one; `on`: they run nowhere else.",
    z.enum(["auto", "on", "off"]).default("auto"),
  ),
  timeout: setting("Timeout of a command whose call has none, in seconds.", z.number().positive().default(180)),
  env_passthrough: setting(
    "Variables that commands get, even keys of the agent and variables of the home's `.env`.",
    z.array(variable).default([]),
    ["GITHUB_TOKEN"],
  ),
  cwd: setting("First folder on a machine over ssh.", z.string().optional()),
  ssh_host: setting("Machine of the backend `ssh`.", z.string().min(1).optional(), "build.example"),
  ssh_user: setting("User on that machine.", z.string().min(1).optional()),
  ssh_port: setting("Port of its ssh server.", z.number().int().positive().max(65_535).optional()),
  ssh_key: setting("File of the private key.", z.string().min(1).optional(), "~/.ssh/id_ed25519"),
  docker_image: setting("Image of the backend `docker`.", z.string().min(1).default(DOCKER_IMAGE)),
  docker_volumes: setting("Further mounts, in the syntax of `docker run --volume`.", z.array(z.string()).default([]), [
    "/data:/data:ro",
  ]),
  singularity_image: setting(
    "Path of an image, or an address such as `docker://debian:12`.",
    z.string().min(1).default(SINGULARITY_IMAGE),
  ),
  container_cpu: setting("Processors of a container.", z.number().positive().default(1)),
  container_memory: setting("Memory of a container in megabytes.", z.number().int().positive().default(5120)),
}).prefault({});

export type TerminalConfig = z.output<typeof terminalSection>;

/** Backend in place of an invalid section: no command runs on a machine that the user did not choose. */
export const UNUSABLE_BACKEND = "unusable";

const BACKENDS = ["local", "ssh", "docker", "singularity", "apptainer"];
const CHOICES = "Set terminal.backend in config.yaml to local, ssh, docker or singularity.";

/** Reason why no command runs with these settings, in sentences; undefined when commands run. */
export function terminalProblem({ backend, sshHost: host }: TerminalConfig): string | undefined {
  if (backend === UNUSABLE_BACKEND) {
    return "No command runs until the errors in config.yaml are corrected. `hermes doctor` shows them.";
  }
  if (backend === "modal" || backend === "daytona") {
    return `The terminal backend ${backend} is not built in: a plugin can run commands there with a tool of its own (ctx.registerTool). Else: ${CHOICES}`;
  }
  if (!BACKENDS.includes(backend)) return `Unsupported terminal backend: ${JSON.stringify(backend)}. ${CHOICES}`;
  if (backend === "ssh" && host === undefined) {
    return "terminal.backend is ssh, but terminal.ssh_host is not set in config.yaml.";
  }
  return undefined;
}
