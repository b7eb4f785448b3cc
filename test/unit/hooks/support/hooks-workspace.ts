/** A workspace with a home of its own, and the hooks of sessions in it. */
import { mkdirSync, mkdtempSync, realpathSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { Consents } from "../../../../agent-core/approval/consents.ts";
import { type HookFacts, Hooks } from "../../../../agent-core/hooks/hook.ts";
import { SessionHooks, type SessionHooksOptions } from "../../../../agent-core/hooks/session-hooks.ts";

export class HooksWorkspace {
  cwd = realpathSync(mkdtempSync(join(tmpdir(), "hermes-session-hooks-")));
  readonly home = join(this.cwd, ".home");
  /** Lines that the sessions showed to the user. */
  readonly shown: string[] = [];

  constructor() {
    mkdirSync(this.home);
  }

  put(path: string, content: unknown): void {
    mkdirSync(dirname(join(this.cwd, path)), { recursive: true });
    writeFileSync(join(this.cwd, path), typeof content === "string" ? content : JSON.stringify(content));
  }

  async session(options: Partial<SessionHooksOptions> = {}): Promise<SessionHooks> {
    const { cwd, home, shown } = this;
    const consents = new Consents(home, () => undefined);
    const place = { cwd, home, withheld: [], section: {}, autoAccept: false, trusted: () => true, consents };
    const hooks = new SessionHooks({ ...place, show: (message) => shown.push(message), ...options }, () => undefined);
    await hooks.refresh();
    return hooks;
  }

  /** Allows everything that needs a consent. */
  async allowed(options: Partial<SessionHooksOptions> = {}): Promise<SessionHooks> {
    const hooks = await this.session(options);
    for (const { id } of hooks.items()) await hooks.act(id, "allow");
    return hooks;
  }

  run(hooks: SessionHooks, facts: HookFacts, event: Parameters<Hooks["run"]>[0] = "pre_tool_call") {
    const { cwd, home } = this;
    const place = { cwd, home, sessionId: "s1", report: () => undefined, monotonicNow: () => 0 };
    const calls = new Hooks({ ...place, hooks: () => hooks.active });
    return calls.run(event, { callId: "c1", ...facts }, new AbortController().signal);
  }
}
