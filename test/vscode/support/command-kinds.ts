// Variants of each kind of command, and what each must come to, computed here and not by running it.
import type { RunningCommand } from "../../../agent-core/host/terminals/terminals.ts";

/** A command, and every byte and the exit that it must have. */
export type Sample = {
  readonly command: string;
  readonly bytes: Buffer;
  /** Exit code, or the signal that ends it. */
  readonly exit: number | NodeJS.Signals;
  readonly input?: "open";
  readonly pty?: true;
  /** Something of it runs on until it is ended. */
  readonly staysOn?: true;
  /** Action of the agent after the command has printed `ready`. */
  readonly once?: (running: RunningCommand) => Promise<unknown>;
};

export type Kind = {
  readonly name: string;
  /** `n` counts from 0. */
  sample(n: number): Sample;
};

/** Around what pipes, buffers and limits hold; up to 2 MiB. */
const SIZES = [
  ...[0, 1, 2, 79, 80, 511, 1_000, 4_095, 4_096, 4_097, 8_192, 10_000, 16_383, 16_385, 20_001],
  ...[32_768, 49_999, 50_000, 50_001, 65_535, 65_536, 65_537, 81_920, 100_000, 131_072, 200_000, 262_143, 300_001],
  ...[400_000, 524_288, 524_289, 700_000, 1_048_575, 1_048_577, 1_500_000, 2_097_152],
];
const SIGNALS = ["SIGTERM", "SIGKILL", "SIGHUP", "SIGINT", "SIGUSR1", "SIGPIPE", "SIGALRM", "SIGABRT"] as const;
/** Numbers on lines of their own: a byte that is lost, doubled or misplaced shows. */
const NUMBERS = Buffer.from(countTo(400_000));

/** Seconds that only this process's commands sleep: longer than any test. */
export const LONG_SLEEP = 86_400 + process.pid;
const SPELLED = "aé€😀ñ𝄞中e\u0301";

function countTo(last: number): string {
  return Array.from({ length: last }, (_, index) => `${index + 1}\n`).join("");
}

function lines(count: number, line: (n: number) => string): string {
  return Array.from({ length: count }, (_, index) => line(index + 1)).join("");
}

function sizeOf(n: number): number {
  return SIZES[n % SIZES.length] ?? 0;
}

function signalOf(n: number): NodeJS.Signals {
  return SIGNALS[n % SIGNALS.length] ?? "SIGTERM";
}

function octal(bytes: Buffer): string {
  return [...bytes].map((byte) => `\\${byte.toString(8).padStart(3, "0")}`).join("");
}

function sample(command: string, output: string | Buffer, exit: Sample["exit"] = 0): Sample {
  return { command, bytes: Buffer.from(output), exit };
}

const sizes: readonly Kind[] = [
  { name: "no output", sample: (n) => sample(`exit ${n * 6}`, "", n * 6) },
  { name: "one byte", sample: (n) => sample(`printf '\\${(n + 48).toString(8)}'`, String.fromCharCode(n + 48)) },
  { name: "no final newline", sample: (n) => sample(`echo one; printf two; exit ${n}`, "one\ntwo", n) },
  {
    name: "of a size",
    sample: (n) => sample(`seq 1 400000 | head -c ${sizeOf(n)}; exit ${n}`, NUMBERS.subarray(0, sizeOf(n)), n),
  },
  {
    name: "one long line",
    sample(n) {
      const size = Math.ceil(sizeOf(n) / 2);
      return sample(`head -c ${size} /dev/zero | tr '\\0' x; printf '|'`, `${"x".repeat(size)}|`);
    },
  },
  {
    name: "very many lines",
    sample: (n) => sample(`seq 1 ${n * n * 100}; exit ${255 - n}`, countTo(n * n * 100), 255 - n),
  },
  {
    name: "empty lines",
    sample: (n) => sample(`yes '' | head -n ${n * 1_000}`, "\n".repeat(n * 1_000)),
  },
];

const contents: readonly Kind[] = [
  {
    name: "characters of several bytes",
    sample: (n) =>
      sample(
        `yes '${SPELLED}' | head -n ${n * 397}`,
        lines(n * 397, () => `${SPELLED}\n`),
      ),
  },
  {
    name: "a character in pieces",
    sample(n) {
      const bytes = Buffer.from(["é", "€", "😀", "中"][n % 4] ?? "");
      const pieces = [...bytes].map((byte) => `printf '${octal(Buffer.of(byte))}'; sleep 0.0${(n % 5) + 1}`);
      return sample(`printf 'x%.0s' {1..${n + 1}}; ${pieces.join("; ")}; echo`, `${"x".repeat(n + 1)}${bytes}\n`);
    },
  },
  {
    name: "bytes that are no text",
    sample(n) {
      const bytes = Buffer.from(Array.from({ length: 256 }, (_, index) => (index * (2 * n + 1) + n) % 256));
      return sample(
        `for _ in {1..${n + 1}}; do printf '${octal(bytes)}'; done`,
        Buffer.concat(Array(n + 1).fill(bytes)),
      );
    },
  },
  {
    name: "NUL bytes",
    sample: (n) => sample(`printf 'a\\0b'; head -c ${sizeOf(n)} /dev/zero; printf z`, `a\0b${"\0".repeat(sizeOf(n))}z`),
  },
  {
    name: "progress on one line",
    sample: (n) =>
      sample(
        `for i in $(seq 1 ${n * 25}); do printf '\\r%d of ${n * 25}' $i; done; printf '\\r\\033[Kdone\\n'`,
        `${lines(n * 25, (i) => `\r${i} of ${n * 25}`)}\r\u001b[Kdone\n`,
      ),
  },
  {
    name: "colours, titles and cursor movements",
    sample: (n) =>
      sample(
        `for i in $(seq 1 ${n * 10}); do printf '\\033[1;3%dm%d\\033[0m\\r\\n\\033]0;title\\a\\033[2A\\033]633;D;1\\a' $((i % 8)) $i; done`,
        lines(n * 10, (i) => `\u001b[1;3${i % 8}m${i}\u001b[0m\r\n\u001b]0;title\u0007\u001b[2A\u001b]633;D;1\u0007`),
      ),
  },
];

const streams: readonly Kind[] = [
  { name: "errors alone", sample: (n) => sample(`seq 1 ${n * 50} >&2; exit 1`, countTo(n * 50), 1) },
  {
    name: "both streams in order",
    sample: (n) =>
      sample(
        `for i in $(seq 1 ${n * 20}); do echo "out $i"; echo "err $i" >&2; done`,
        lines(n * 20, (i) => `out ${i}\nerr ${i}\n`),
      ),
  },
  {
    name: "the streams by their names",
    sample: (n) =>
      sample(`echo ${n} > /dev/stderr; echo ${n} | tee /dev/stderr; cat; echo end`, `${n}\n${n}\n${n}\nend\n`),
  },
  {
    name: "streams closed before the end",
    sample: (n) => sample(`echo ${n}; exec >&- 2>&-; sleep 0.0${n % 10}; exit ${n}`, `${n}\n`, n),
  },
  {
    name: "slowly",
    sample: (n) => sample(`for i in $(seq 1 ${n}); do echo $i; sleep 0.003; done`, countTo(n)),
  },
];

const endings: readonly Kind[] = [
  {
    name: "killed by itself",
    sample: (n) => sample(`ulimit -c 0; seq 1 ${n}; kill -s ${signalOf(n).slice(3)} $$`, countTo(n), signalOf(n)),
  },
  {
    name: "killed within",
    sample: (n) =>
      sample(
        `{ bash -c 'echo ${n}; kill -KILL $$'; } 2>/dev/null; code=$?; echo $code; exit $code`,
        `${n}\n137\n`,
        137,
      ),
  },
  {
    name: "a trap at the end",
    sample: (n) => sample(`trap 'echo over; exit ${n}' EXIT; echo ${n}; exit 7`, `${n}\nover\n`, n),
  },
  {
    name: "no such command",
    sample: (n) => sample(`no-such-command-${n} 2>/dev/null || { echo "$?"; exit 127; }`, "127\n", 127),
  },
  {
    name: "children that end first",
    sample: (n) =>
      sample(
        `for i in $(seq 1 ${(n % 8) + 1}); do (seq 1 ${n * 50} >/dev/null) & done; wait; (seq 1 ${n * 50}) & wait $!; exit ${n}`,
        countTo(n * 50),
        n,
      ),
  },
  {
    // A child that still holds the output: what it prints soon after the command's end belongs to it.
    name: "children that print after the end",
    sample: (n) => sample(`(sleep 0.0${(n % 9) + 1}; echo late) & echo ${n}; exit ${n}`, `${n}\nlate\n`, n),
  },
  {
    name: "children that stay",
    sample: (n) => ({
      ...sample(
        `sleep ${LONG_SLEEP} >/dev/null 2>&1 & setsid sleep ${LONG_SLEEP} >/dev/null 2>&1 & echo ${n}`,
        `${n}\n`,
      ),
      staysOn: true,
    }),
  },
];

const dialogues: readonly Kind[] = [
  {
    name: "typed by the agent",
    sample: (n) => ({
      ...sample(`echo ready; read -r line; echo "got $line"; cat; exit ${n}`, `ready\ngot line ${n}\nmore\n`, n),
      input: "open",
      once: async (running) => {
        await running.write(`line ${n}\n`);
        await running.write("more\n\u0004");
      },
    }),
  },
  {
    name: "ended by the agent",
    sample: (n) => ({
      ...sample(`seq 1 ${n * 100}; echo ready; sleep ${LONG_SLEEP}`, `${countTo(n * 100)}ready\n`, "SIGTERM"),
      once: (running) => running.kill(),
    }),
  },
  {
    name: "on a pseudo-terminal",
    sample: (n) => ({
      ...sample(`seq 1 ${n * 500}; exit ${n}`, countTo(n * 500).replaceAll("\n", "\r\n"), n),
      pty: true,
    }),
  },
];

/** All kinds; a multiple of them is a good mixture. */
export const kinds: readonly Kind[] = [...sizes, ...contents, ...streams, ...endings, ...dialogues];
