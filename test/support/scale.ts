// Size of the tests' sweeps: HERMES_TEST_SCALE=quick (default) or full (`npm run test:full`).

const SCALES = ["quick", "full"] as const;
const scale = process.env["HERMES_TEST_SCALE"] ?? "quick";
if (!SCALES.some((known) => known === scale))
  throw new Error(`HERMES_TEST_SCALE is "${scale}". Set it to ${SCALES.join(" or ")}.`);

/** Number of repetitions, or any other size, of a sweep: `full` before a release, `quick` in every other run. */
export function sweep<T>(full: T, quick: T): T {
  return scale === "full" ? full : quick;
}

/** Rounds of a sweep over random cases. A search for faults sets another number in HERMES_TEST_COUNT. */
export function rounds(full: number, quick: number): number {
  return Number(process.env["HERMES_TEST_COUNT"] ?? sweep(full, quick));
}

/** Start of random cases. A search for faults sets another one in HERMES_TEST_SEED. */
export function seedOf(usual: number): number {
  return Number(process.env["HERMES_TEST_SEED"] ?? usual);
}
