/** Section `terminal` of config.yaml: the place and the limits of commands. */
import * as z from "zod";

/** The original's image: Python and Node.js. */
const DOCKER_IMAGE = "nikolaik/python-nodejs:python3.11-nodejs20";
const SINGULARITY_IMAGE = `docker://${DOCKER_IMAGE}`;

/** Name that a shell can export. */
const variable = z.string().regex(/^[A-Za-z_][A-Za-z0-9_]*$/, "is not the name of an environment variable");

const terminalDefaults = {
  backend: "local",
  sandbox: "auto" as const,
  timeout: 180,
  env_passthrough: [],
  docker_image: DOCKER_IMAGE,
  docker_volumes: [],
  singularity_image: SINGULARITY_IMAGE,
  container_cpu: 1,
  container_memory: 5120,
};

export const terminalSection = z
  .object({
    /** `local`, `ssh`, `docker` or `singularity`; with any other name every command is refused. */
    backend: z.string().default(terminalDefaults.backend),
    /** `auto`: commands of this machine run in a sandbox if the machine has one; `on`: they run nowhere else. */
    sandbox: z.enum(["auto", "on", "off"]).default(terminalDefaults.sandbox),
    /** Timeout of a command whose call has none. Seconds. */
    timeout: z.number().positive().default(terminalDefaults.timeout),
    /** Variables that commands get, even keys of the agent and variables of the home's `.env`. */
    env_passthrough: z.array(variable).default(terminalDefaults.env_passthrough),
    /** First folder on a machine over ssh. */
    cwd: z.string().optional(),
    ssh_host: z.string().min(1).optional(),
    ssh_user: z.string().min(1).optional(),
    ssh_port: z.number().int().positive().max(65_535).optional(),
    /** File of the private key. */
    ssh_key: z.string().min(1).optional(),
    docker_image: z.string().min(1).default(terminalDefaults.docker_image),
    /** Further mounts, in the syntax of `docker run --volume`. */
    docker_volumes: z.array(z.string()).default(terminalDefaults.docker_volumes),
    /** Path of an image, or an address such as `docker://debian:12`. */
    singularity_image: z.string().min(1).default(terminalDefaults.singularity_image),
    /** Processors. */
    container_cpu: z.number().positive().default(terminalDefaults.container_cpu),
    /** Megabytes. */
    container_memory: z.number().int().positive().default(terminalDefaults.container_memory),
  })
  .default(terminalDefaults);

/** Replaces an invalid section: no command runs on a machine that the user did not choose. */
export const UNUSABLE_TERMINAL: TerminalConfig = { ...terminalDefaults, backend: "unusable" };

export type TerminalConfig = z.output<typeof terminalSection>;

const BACKENDS = ["local", "ssh", "docker", "singularity", "apptainer"];
const CHOICES = "Set terminal.backend in config.yaml to local, ssh, docker or singularity.";

/** Reason why no command runs with these settings, in sentences; undefined when commands run. */
export function terminalProblem({ backend, ssh_host: host }: TerminalConfig): string | undefined {
  if (backend === UNUSABLE_TERMINAL.backend) {
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
