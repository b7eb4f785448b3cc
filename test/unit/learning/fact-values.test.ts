// Values of learnt lines: which of them are likely to last, and which say the same.
import { expect, test } from "vitest";
import { lasting, repeatsLast } from "../../../agent-core/learning/fact-values.ts";
import { type Fact, factId } from "../../../agent-core/learning/facts.ts";

const DAY = 86_400_000;
const NOW = Date.UTC(2026, 10, 20, 12);

/** A port of the service `a`, learnt some days ago. `days`: of the sessions that showed it. */
function port(value: string, daysAgo: number, more: Partial<Fact> & { readonly days?: readonly number[] } = {}): Fact {
  const { days = [daysAgo], ...rest } = more;
  const text = `The port of a is ${value}.`;
  const dateOf = (ago: number): string => new Date(NOW - ago * DAY).toISOString().slice(0, 10).replaceAll("-", "");
  return {
    id: factId("f", "/project", text),
    subject: "a",
    entity: "service",
    text,
    scope: "/project",
    source: "user",
    isExplicit: true,
    seen: days.length,
    from: NOW - daysAgo * DAY,
    until: undefined,
    replacedBy: undefined,
    evidence: days.map((ago) => `${dateOf(ago)}_100000_00000000:0`),
    isPinned: true,
    proposedFor: undefined,
    attribute: "port",
    value,
    ...rest,
  };
}

const ended = (count: number, days: readonly number[] = [6]): readonly Fact[] =>
  Array.from({ length: count }, (_, at) => port(`9${at}`, 6, { until: NOW - DAY, days }));

test("while most values end before a second day confirms them, only confirmed ones are expected to last", () => {
  const once = port("1", 1, { isPinned: false });
  const twice = port("2", 3, { days: [3, 1], isPinned: false });
  const judge = (...others: readonly Fact[]) => [once, twice].map(lasting([...others, once, twice], NOW));
  expect(judge(...ended(9))).toEqual([false, true]);
  expect(judge(...ended(3))).toEqual([true, true]);
  // Values that held for days and then changed show no restlessness.
  expect(judge(...ended(9, [6, 4]))).toEqual([true, true]);
  expect(judge(...ended(9), ...Array.from({ length: 9 }, (_, at) => port(`7${at}`, 5, { days: [5, 2] })))).toEqual([
    true,
    true,
  ]);
  // A line that became a wider one with the same value did not end.
  const merged = Array.from({ length: 9 }, (_, at) => {
    const wide = port(`8${at}`, 5, { id: `f-wide-${at}` });
    return [wide, port(`8${at}`, 6, { until: NOW - DAY, replacedBy: wide.id })];
  });
  expect(judge(...merged.flat())).toEqual([true, true]);
});

test("a second line for the same value of a property comes after all others", () => {
  const [first, again, other] = [port("1", 1), { ...port("1", 1), id: "f-again" }, port("2", 1)];
  expect(repeatsLast([first, again, other])).toEqual([first, other, again]);
});
