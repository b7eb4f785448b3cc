/** Section `terminal` of config.yaml, with the names and defaults of the original Hermes Agent. */
import * as z from "zod";

/** The original's image: Python and Node.js. */
const DOCKER_IMAGE = "nikolaik/python-nodejs:python3.11-nodejs20";

/** Name that a shell can export. */
const variable = z.string().regex(/^[A-Za-z_][A-Za-z0-9_]*$/, "is not the name of an environment variable");

const defaults = {
  backend: "local",
  sandbox: "off" as const,
  timeout: 180,
  env_passthrough: [],
  docker_image: DOCKER_IMAGE,
  docker_volumes: [],
  container_cpu: 1,
  container_memory: 5120,
};

export const terminalSection = z
  .object({
    /** `local`, `ssh` or `docker`; with any other name every command is refused. */
    backend: z.string().default(defaults.backend),
    /** `auto`: commands of this machine run in a sandbox if the machine has one (Linux, bwrap). */
    sandbox: z.enum(["auto", "off"]).default(defaults.sandbox),
    /** Timeout of a command whose call has none. Seconds. */
    timeout: z.number().positive().default(defaults.timeout),
    /** Variables that commands get, even keys of the agent and variables of the home's `.env`. */
    env_passthrough: z.array(variable).default(defaults.env_passthrough),
    /** First folder on a machine over ssh. */
    cwd: z.string().optional(),
    ssh_host: z.string().min(1).optional(),
    ssh_user: z.string().min(1).optional(),
    ssh_port: z.number().int().positive().max(65_535).optional(),
    /** File of the private key. */
    ssh_key: z.string().min(1).optional(),
    docker_image: z.string().min(1).default(defaults.docker_image),
    /** Further mounts, in the syntax of `docker run --volume`. */
    docker_volumes: z.array(z.string()).default(defaults.docker_volumes),
    /** Processors. */
    container_cpu: z.number().positive().default(defaults.container_cpu),
    /** Megabytes. */
    container_memory: z.number().int().positive().default(defaults.container_memory),
  })
  .default(defaults);

/** Replaces an invalid section: no command runs on a machine that the user did not choose. */
export const UNUSABLE_TERMINAL: TerminalConfig = { ...defaults, backend: "unusable" };

export type TerminalConfig = z.output<typeof terminalSection>;
