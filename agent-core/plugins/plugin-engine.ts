/** Context engine of a plugin. The built-in engine replaces it while it is missing, and after its first failure. */
import type { ContextEngine } from "../context/context-engine.ts";
import type { CompressionChoice, compressionChoice } from "../context/plan-compression.ts";
import { messageTokens } from "../context/token-meter.ts";
import { messageOf } from "../platform/errors.ts";

const TIMEOUT_MS = 2_000;

/** Functions of a plugin's engine. */
export type EngineCalls = {
  readonly plan: EngineCall;
  /** Undefined: the built-in engine's decision. */
  readonly shouldCompress: EngineCall | undefined;
};
type EngineCall = (input: unknown, signal: AbortSignal) => Promise<unknown>;

type EnginePorts = {
  /** Undefined while its plugin does not run. */
  readonly find: () => EngineCalls | undefined;
  readonly warn: (message: string) => void;
  /** Longest delay of a request by the engine. Milliseconds. */
  readonly timeoutMs?: number;
};

/** `name`: value of `context.engine`. Limits and target stay those of config.yaml. */
export function pluginEngine(
  name: string,
  builtIn: ContextEngine,
  { find, warn, timeoutMs = TIMEOUT_MS }: EnginePorts,
): ContextEngine {
  let hasFailed = false;
  const attempt = async <Value>(
    use: (engine: EngineCalls, signal: AbortSignal) => Promise<Value>,
    otherwise: () => Value | Promise<Value>,
    signal: AbortSignal,
  ): Promise<Value> => {
    const engine = hasFailed ? undefined : find();
    if (engine === undefined) return otherwise();
    const timeout = AbortSignal.timeout(timeoutMs);
    try {
      return await use(engine, AbortSignal.any([signal, timeout]));
    } catch (error) {
      signal.throwIfAborted();
      hasFailed = true;
      const reason = timeout.aborted ? `no answer within ${timeoutMs / 1_000} s` : messageOf(error);
      // A plugin that has just ended is reported already.
      if (find() !== undefined) warn(`The context engine ${name} failed: ${reason}. The built-in engine replaces it.`);
      return otherwise();
    }
  };
  return {
    ...builtIn,
    name,
    shouldCompress: (state, signal) =>
      attempt(
        async (engine, limited) =>
          engine.shouldCompress === undefined
            ? builtIn.shouldCompress(state, signal)
            : (await engine.shouldCompress(state, limited)) === true,
        () => builtIn.shouldCompress(state, signal),
        signal,
      ),
    plan: (room, signal) =>
      attempt(
        async (engine, limited) => {
          const { compressionChoice, keptMessages, planChoice } = await import("../context/plan-compression.ts");
          const { compression, target, focus = null } = room;
          const messages = keptMessages(room).map(({ position, message }) => {
            return { position, tokens: messageTokens(message), message };
          });
          const input = { messages, summary: compression?.summary ?? null, target, focus };
          const choice = parseChoice(compressionChoice, await engine.plan(input, limited), messages);
          return choice === null ? undefined : planChoice(room, choice);
        },
        () => builtIn.plan(room, signal),
        signal,
      ),
  };
}

/** Throws for an answer that does not choose among these messages. */
function parseChoice(
  schema: typeof compressionChoice,
  answer: unknown,
  messages: readonly { position: number }[],
): CompressionChoice | null {
  const parsed = schema.nullable().safeParse(answer);
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    throw new Error(`its plan is not { drop, replace, summary } (${issue?.path.join(".")}: ${issue?.message})`);
  }
  const known = new Set(messages.map(({ position }) => position));
  const named = [...(parsed.data?.drop ?? []), ...(parsed.data?.replace ?? []).map(({ position }) => position)];
  const unknown = named.find((position) => !known.has(position));
  if (unknown !== undefined) throw new Error(`its plan names the position ${unknown}, which no message has`);
  return parsed.data;
}
