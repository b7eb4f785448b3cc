/** Means with bootstrap intervals over seeds, and over the tasks of each seed. */
import { Chance } from "./chance.ts";

export type Interval = { readonly mean: number; readonly low: number; readonly high: number; readonly n: number };

/** A value for each measured task, by seed. */
export type Sample = ReadonlyMap<number, readonly number[]>;

const RESAMPLES = 1_000;
const TAIL = 0.025;

export function mean(values: readonly number[]): number {
  return values.length === 0 ? Number.NaN : values.reduce((sum, value) => sum + value, 0) / values.length;
}

/** 95% interval of the mean. */
export function interval(sample: Sample): Interval {
  const seeds = [...sample.keys()];
  const chance = new Chance("bootstrap");
  const redrawn = (values: readonly number[]): readonly number[] => values.map(() => chance.pick(values));
  const drawn = Array.from({ length: seeds.length === 0 ? 0 : RESAMPLES }, () => {
    return mean(seeds.flatMap(() => redrawn(sample.get(chance.pick(seeds)) ?? [])));
  })
    .filter((value) => !Number.isNaN(value))
    .toSorted((one, other) => one - other);
  const at = (share: number): number =>
    drawn[Math.min(drawn.length - 1, Math.floor(share * drawn.length))] ?? Number.NaN;
  const all = [...sample.values()].flat();
  return { mean: mean(all), low: at(TAIL), high: at(1 - TAIL), n: all.length };
}
