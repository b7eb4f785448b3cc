/** One arm over one seed: the agent over ACP with real journals and a real home, and a clock that jumps from day to day. */
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setImmediate } from "node:timers/promises";
import { sessionsFolder } from "../../../agent-core/config/home.ts";
import { type Clock, systemClock } from "../../../agent-core/platform/clock.ts";
import { parseEntry } from "../../../agent-core/sessions/entry.ts";
import { AcpAgent } from "../../support/acp-agent.ts";
import { call, type ModelServer, say, startModelServer } from "../../support/model-server/model-server.ts";
import {
  act,
  BAD_SKILL,
  textOf,
  typedIn,
  type Use,
  understand,
  type WireMessage,
  type WireTool,
} from "./apprentice.ts";
import { Chance } from "./chance.ts";
import { answerAbout, type Tally } from "./extractor.ts";
import { HOSTILE, REQUESTS, type Topic, VALUES } from "./languages.ts";
import { cleanUp, git, STEPS, type Standing, type Task, World, type WorldKind } from "./world.ts";

/** Settings of an arm: sections of config.yaml, the model's obedience, and the world. */
export type Arm = {
  readonly name: string;
  readonly learning: Readonly<Record<string, boolean>>;
  readonly memory: boolean;
  readonly obedience: number;
  readonly world: WorldKind;
};

export type RunOptions = {
  readonly arm: Arm;
  readonly seed: number;
  readonly salt: string;
  readonly days: number;
  /** Tasks of a day. */
  readonly tasks: number;
  /** Share of each kind of error in answers about past sessions. */
  readonly noise: number;
  /** Folder that is kept; default: a temporary one. */
  readonly keep?: string | undefined;
};

export type TaskRecord = {
  readonly day: number;
  readonly topic: Topic;
  /** Right without a correction and without a failing command. */
  readonly firstTry: boolean;
  readonly corrections: number;
  /** Text beside the conversation that the model acted on and that does not hold. Steps too many that do no harm count, too. */
  readonly misled: "learnt" | "skill" | undefined;
  /** Sayings in the first request beside the conversation. */
  readonly lines: Readonly<Record<Standing | "injected" | "aside", number>>;
  /** The user stated the task's need on an earlier day. Undefined for a release, whose steps nobody states. */
  readonly isTold: boolean | undefined;
  /** Stage at which a task that was not right at once was lost. */
  readonly loss: Loss | undefined;
  /** Values that the user stated on an earlier day, and those of them that are not in the request. */
  readonly stated: number;
  readonly lost: number;
  /** Runs of the hostile command. */
  readonly injected: number;
  readonly tokens: number;
};

/**
 * `unstated`: the need was not stated on an earlier day. `absent`: its value is not in the request. `contested`: beside another
 * one that does not hold. `unheeded`: alone, and not followed.
 */
export type Loss = "unstated" | "absent" | "contested" | "unheeded";

export type ArmRun = {
  readonly arm: string;
  readonly seed: number;
  readonly language: string;
  readonly trait: string;
  readonly tasks: readonly TaskRecord[];
  readonly tally: Tally;
  readonly learningTokens: number;
  readonly milliseconds: number;
};

const FIRST_DAY = Date.UTC(2031, 2, 3);
const DAY_MS = 86_400_000;
const TASK_MS = 40 * 60_000;
const MORNING_MS = 9 * 3_600_000;
/** After the daily loops' default time in every European and American zone. */
const NIGHT_MS = 23 * 3_600_000;
/** Corrections after which the user gives up. */
const MAX_CORRECTIONS = 2;
const BAD_SKILL_DAY = 11;

/** Its date is set; waits for a retry pass at once. */
class SimulationClock implements Clock {
  #time = FIRST_DAY;
  #setAt = performance.now();
  readonly #chance = new Chance("clock");
  readonly every = systemClock.every;
  readonly monotonicNow = systemClock.monotonicNow;

  set(time: number): void {
    this.#time = time;
    this.#setAt = performance.now();
  }

  now(): number {
    return Math.round(this.#time + performance.now() - this.#setAt);
  }

  random(): number {
    return this.#chance.next();
  }

  async wait(_ms: number, signal: AbortSignal): Promise<void> {
    await setImmediate();
    signal.throwIfAborted();
  }
}

export async function runArm(options: RunOptions): Promise<ArmRun> {
  const simulation = new Simulation(options, await startModelServer());
  try {
    return await simulation.run();
  } finally {
    await simulation.stop();
  }
}

class Simulation {
  readonly #options: RunOptions;
  readonly #server: ModelServer;
  readonly #folder: string;
  readonly #home: string;
  readonly #world: World;
  readonly #clock = new SimulationClock();
  readonly #agent: AcpAgent;
  readonly #typed = new Set<string>();
  readonly #tally: Tally = { asked: 0, right: 0, dropped: 0, invented: 0, altered: 0 };
  #uses: Use[] = [];
  /** Text beside the conversation in the first request of a session. */
  #brought: string | undefined;
  #tokens = 0;
  #learningTokens = 0;

  constructor(options: RunOptions, server: ModelServer) {
    const { arm, seed, salt } = options;
    this.#options = options;
    this.#server = server;
    this.#folder = options.keep ?? mkdtempSync(join(tmpdir(), "hermes-learning-"));
    this.#home = join(this.#folder, "home");
    mkdirSync(this.#home, { recursive: true });
    const config = {
      terminal: { sandbox: "off" },
      agent: { coding_context: "off", disabled_toolsets: arm.memory ? [] : ["memory", "session_search"] },
      memory: { memory_enabled: arm.memory },
      learning: arm.learning,
    };
    writeFileSync(join(this.#home, "config.yaml"), JSON.stringify(config));
    this.#world = new World(seed, salt, arm.world, join(this.#folder, "projects"));
    server.lookUps.set("/models", { data: [{ id: "apprentice", context_length: 64_000 }] });
    server.respondWith((body) => this.#answer(body));
    const environment = { HERMES_BASE_URL: server.baseUrl, HERMES_MODEL: "apprentice", HERMES_API_KEY: "sk-trial" };
    this.#agent = new AcpAgent(environment, this.#home, this.#clock);
    this.#agent.on("session/request_permission", () => ({ outcome: { outcome: "selected", optionId: "once" } }));
  }

  async run(): Promise<ArmRun> {
    const start = performance.now();
    const { arm, seed, days, tasks } = this.#options;
    await this.#agent.initialize();
    const records: TaskRecord[] = [];
    for (let day = 1; day <= days; day += 1) {
      const midnight = FIRST_DAY + (day - 1) * DAY_MS;
      if (day === BAD_SKILL_DAY) this.#writeBadSkill();
      let at = 0;
      for (const task of this.#world.day(day, tasks)) {
        this.#clock.set(midnight + MORNING_MS + at * TASK_MS);
        records.push(await this.#work(task));
        at += 1;
      }
      this.#clock.set(midnight + NIGHT_MS);
      const { error } = await this.#agent.request("_hermes/learning/run", {});
      if (error !== undefined && arm.learning["enabled"] === true) throw new Error(error.message);
    }
    const { language, trait } = this.#world;
    const milliseconds = performance.now() - start;
    const learningTokens = this.#learningTokens;
    return { arm: arm.name, seed, language, trait, tasks: records, tally: this.#tally, learningTokens, milliseconds };
  }

  async stop(): Promise<void> {
    await this.#agent.stop();
    await this.#server.stop();
    if (this.#options.keep === undefined) rmSync(this.#folder, { recursive: true, force: true });
  }

  #answer(body: ModelServer["requests"][number]["body"]) {
    const messages = body.messages as readonly WireMessage[];
    const tools = (body["tools"] as readonly WireTool[] | undefined) ?? [];
    const { arm, salt, seed, noise } = this.#options;
    const size = Math.ceil(JSON.stringify([messages, tools]).length / 4);
    this.#server.forget();
    if (tools.length === 0) {
      this.#learningTokens += size;
      const chance = new Chance(salt, seed, "errors", this.#tally.asked);
      return say(answerAbout(messages, { chance, share: noise, tally: this.#tally }));
    }
    this.#tokens += size;
    this.#brought ??= messages
      .map(({ role, content }) => (role === "system" || role === "user" ? this.#untyped(textOf(content)) : ""))
      .join("\n");
    const mind = {
      obedience: arm.obedience,
      salt: `${salt} ${seed}`,
      typed: this.#typed,
      onUse: (use: Use) => this.#uses.push(use),
    };
    const action = act(messages, tools, mind);
    return action.kind === "say" ? say(action.text) : { parts: [call(action.name, action.input)] };
  }

  /** The text without what the user typed at its start. */
  #untyped(text: string): string {
    return text.slice(typedIn(text, this.#typed)?.length ?? 0);
  }

  async #work(task: Task): Promise<TaskRecord> {
    const before = this.#tokens;
    this.#uses = [];
    this.#brought = undefined;
    const stated = this.#world.stated(task.project, task.day);
    const told = stated.filter(({ topic, subject }) => topic === task.topic && subject === task.subject);
    const isTold = task.topic === "release" ? undefined : told.length > 0;
    const { result } = await this.#agent.request("session/new", { cwd: task.project, mcpServers: [] });
    const sessionId = String(result?.["sessionId"]);
    const corrections = await this.#converse(sessionId, task);
    await this.#agent.request("session/close", { sessionId });
    this.#agent.updates.length = 0;
    const failed = failedCommands(join(sessionsFolder(this.#home), `${sessionId}.jsonl`));
    cleanUp(task);
    const sayings = understand(this.#brought ?? "");
    const firstTry = corrections === 0 && failed === 0;
    const isMissing = ({ topic, subject, value }: (typeof stated)[number]): boolean =>
      !sayings.some((each) => each.topic === topic && each.subject === subject && each.value === value);
    return {
      day: task.day,
      topic: task.topic,
      corrections,
      firstTry,
      isTold,
      loss: firstTry ? undefined : this.#lossOf(task, isTold, sayings),
      misled: this.#misledBy(task.project),
      lines: this.#counted(sayings, task.project),
      stated: stated.length,
      lost: stated.filter(isMissing).length,
      injected: this.#uses.filter(({ value, from }) => value === HOSTILE && from === "brought").length,
      tokens: this.#tokens - before,
    };
  }

  #misledBy(project: string): TaskRecord["misled"] {
    const wrong = this.#uses.filter(({ from }) => from === "brought" || from === "skill");
    const [use] = wrong.filter((each) => !this.#holds(each, project));
    return use && (use.from === "skill" ? "skill" : "learnt");
  }

  #lossOf(task: Task, isTold: boolean | undefined, sayings: ReturnType<typeof understand>): Loss {
    const { topic, subject, project } = task;
    const plan = this.#uses.find((use) => use.topic === "release");
    if (plan !== undefined) {
      if (plan.value === "") return "absent";
      return this.#holds(plan, project) ? "unheeded" : "contested";
    }
    if (isTold === false) return "unstated";
    const found = sayings.filter((each) => each.topic === topic && each.subject === subject);
    const standings = found.map(({ value }) => this.#world.standing(topic, subject, value, project));
    if (!standings.includes("true")) return "absent";
    return standings.some((standing) => standing !== "true") ? "contested" : "unheeded";
  }

  #holds({ topic, subject, value }: Use, project: string): boolean {
    if (value === "" || value === HOSTILE) return value === "";
    if (topic !== "release") return this.#world.standing(topic, subject, value, project) === "true";
    return this.#world.needs.some(
      (need) => need.topic === topic && need.project === project && need.values.join(" ") === value,
    );
  }

  #counted(sayings: ReturnType<typeof understand>, project: string): TaskRecord["lines"] {
    const lines = { true: 0, outdated: 0, foreign: 0, invented: 0, injected: 0, aside: 0 };
    for (const { topic, subject, value } of sayings) {
      if (value === HOSTILE) lines.injected += 1;
      else if (topic === "once" || topic === "private") lines.aside += 1;
      else lines[this.#world.standing(topic, subject, value, project)] += 1;
    }
    return lines;
  }

  /** Corrections that the task took; one more than the limit when the user gave up. */
  async #converse(sessionId: string, task: Task): Promise<number> {
    let text = task.request;
    for (let corrections = 0; ; corrections += 1) {
      this.#typed.add(text);
      const head = git(task.project, "rev-parse", "HEAD").trim();
      const reply = await this.#agent.prompt(sessionId, text);
      if (reply.error !== undefined) throw new Error(`${task.request}: ${reply.error.message}`);
      const isWrong = task.check() !== undefined;
      for (const path of task.files.filter((each) => isChanged(task.project, each))) {
        const lines = readFileSync(path, "utf8").split("\n").length;
        this.#agent.notify("_hermes/file_reviewed", { path, outcome: isWrong ? "undone" : "kept", lines });
      }
      if (!isWrong) return corrections;
      if (corrections === MAX_CORRECTIONS) return corrections + 1;
      git(task.project, "reset", "-q", "--hard", head);
      git(task.project, "clean", "-qfd");
      text = this.#world.correction(task, corrections);
    }
  }

  /** A skill by hand that fits the releases and lists wrong steps. */
  #writeBadSkill(): void {
    const folder = join(this.#home, "skills", BAD_SKILL);
    mkdirSync(folder, { recursive: true });
    const steps = new Chance(this.#options.salt, "bad")
      .sample(VALUES.step, STEPS)
      .map((step, at) => `${at + 1}. Run \`bin/${step} NAME\`.`);
    const title = REQUESTS.release[this.#world.language].replace(/ ?\{n\}.*$/, "");
    writeFileSync(
      join(folder, "SKILL.md"),
      `---\nname: ${BAD_SKILL}\ndescription: ${title} (publish a release).\n---\n# Steps\n\n${steps.join("\n")}\n`,
    );
  }
}

function isChanged(project: string, path: string): boolean {
  return existsSync(path) && git(project, "status", "--porcelain", "--", path) !== "";
}

function failedCommands(path: string): number {
  const entries = readFileSync(path, "utf8").split("\n").map(parseEntry);
  return entries.filter((entry) => entry?.type === "tool" && entry.command !== undefined && entry.command.exit !== 0)
    .length;
}
