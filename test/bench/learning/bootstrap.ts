/** Means with paired bootstrap intervals over seeds, and over the tasks of each seed. */
import { Chance } from "./chance.ts";

export type Interval = { readonly mean: number; readonly low: number; readonly high: number; readonly n: number };

/** A value for each measured task, by seed. */
export type Sample = ReadonlyMap<number, readonly number[]>;

const RESAMPLES = 1_000;
const TAIL = 0.025;

export function mean(values: readonly number[]): number {
  return values.length === 0 ? Number.NaN : values.reduce((sum, value) => sum + value, 0) / values.length;
}

/** 95 % interval of the mean. */
export function interval(sample: Sample): Interval {
  return resampled([sample], ([only = Number.NaN]) => only);
}

/** 95 % interval of the difference of two means. Both samples are resampled by the same seeds. */
export function difference(one: Sample, other: Sample): Interval {
  return resampled([one, other], ([first = Number.NaN, second = Number.NaN]) => first - second);
}

function resampled(samples: readonly Sample[], statistic: (means: readonly number[]) => number): Interval {
  const seeds = [...(samples[0]?.keys() ?? [])];
  const all = samples.map((sample) => mean([...sample.values()].flat()));
  const chance = new Chance("bootstrap");
  const drawn = Array.from({ length: RESAMPLES }, () => {
    const picked = seeds.map(() => chance.pick(seeds));
    const means = samples.map((sample) => mean(picked.flatMap((seed) => redrawn(sample.get(seed) ?? [], chance))));
    return statistic(means);
  })
    .filter((value) => !Number.isNaN(value))
    .toSorted((first, second) => first - second);
  const at = (share: number): number =>
    drawn[Math.min(drawn.length - 1, Math.floor(share * drawn.length))] ?? Number.NaN;
  const n = [...(samples[0]?.values() ?? [])].flat().length;
  return { mean: statistic(all), low: at(TAIL), high: at(1 - TAIL), n };
}

function redrawn(values: readonly number[], chance: Chance): readonly number[] {
  return values.map(() => chance.pick(values));
}
