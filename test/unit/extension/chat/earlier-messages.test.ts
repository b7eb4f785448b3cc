import { expect, test } from "vitest";
import type { PanelEvent } from "../../../../agent-core/protocol/panel-events.ts";
import { EarlierMessages, PAGE_MESSAGES } from "../../../../extension/chat/earlier-messages.ts";
import type { EventLog } from "../../../../extension/chat/event-log.ts";

type AgentPort = ConstructorParameters<typeof EarlierMessages>[0];

/** Records requests to an agent that answers on demand. */
function agent() {
  const asked: { readonly params: unknown; readonly answer: PromiseWithResolvers<unknown> }[] = [];
  const request = (_method: string, params: unknown): Promise<unknown> => {
    const answer = Promise.withResolvers<unknown>();
    asked.push({ params, answer });
    return answer.promise;
  };
  const pushed: PanelEvent[] = [];
  const port = (async () => ({ request })) as unknown as AgentPort;
  const log = { push: (event: PanelEvent) => pushed.push(event) } as unknown as EventLog;
  return { asked, pushed, earlier: new EarlierMessages(port, log) };
}

const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
const page = { updates: [], earlier: null };

test("a page is asked for once, however often the panel wants it", async () => {
  const { asked, pushed, earlier } = agent();
  earlier.begin("s");
  const showing = earlier.show(40, false);
  await earlier.show(40, false);
  expect(asked.map(({ params }) => params)).toEqual([{ sessionId: "s", before: 40, messages: PAGE_MESSAGES }]);
  asked[0]?.answer.resolve(page);
  await showing;
  expect(pushed).toEqual([{ kind: "earlier-page", before: 40, ...page }]);
});

test("all of it is asked for without a number", async () => {
  const { asked, earlier } = agent();
  earlier.begin("s");
  void earlier.show(40, true);
  await settled();
  expect(asked[0]?.params).toEqual({ sessionId: "s", before: 40 });
});

test("one that fails is told of, and may be asked for again", async () => {
  const { asked, pushed, earlier } = agent();
  earlier.begin("s");
  const showing = earlier.show(40, false);
  await settled();
  asked[0]?.answer.reject(new Error("gone"));
  await showing;
  expect(pushed).toEqual([{ kind: "earlier-failed", before: 40, message: "gone" }]);
  void earlier.show(40, false);
  await settled();
  expect(asked).toHaveLength(2);
});

test("a page of a session that has left the panel does not come", async () => {
  const { asked, pushed, earlier } = agent();
  earlier.begin("s");
  const showing = earlier.show(40, false);
  await settled();
  earlier.begin("other");
  asked[0]?.answer.resolve(page);
  await showing;
  expect(pushed).toEqual([]);
});

test("a session whose agent was restarted is opened with as much as the panel had", async () => {
  const { asked, earlier } = agent();
  expect(earlier.tail).toEqual({ tail: PAGE_MESSAGES });
  earlier.begin("s");
  const one = earlier.show(40, false);
  await settled();
  asked[0]?.answer.resolve(page);
  await one;
  expect(earlier.tail).toEqual({ tail: 2 * PAGE_MESSAGES });
  earlier.begin("s");
  const rest = earlier.show(20, true);
  await settled();
  asked[1]?.answer.resolve(page);
  await rest;
  expect(earlier.tail).toEqual({});
  earlier.begin("other");
  expect(earlier.tail).toEqual({ tail: PAGE_MESSAGES });
});
