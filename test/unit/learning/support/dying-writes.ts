/** A process that dies at one of its writes: before, during or after it. For `vi.mock` of `home-file.ts`. */

export const MOMENTS = ["before", "during", "after"] as const;

/** `diesAt`: number of the write, counted from 1; 0: the process lives. `writes`: those of the process so far. */
export const power: { writes: number; diesAt: number; moment: (typeof MOMENTS)[number] } = {
  writes: 0,
  diesAt: 0,
  moment: "before",
};

type HomeFile = typeof import("../../../../agent-core/config/home-file.ts");

/** `counts`: false for the paths of writes that are not the loop's. */
export function mortal(real: HomeFile, counts: (path: string) => boolean = () => true): HomeFile {
  const dying = async (path: string, write: (part: number) => Promise<void> | undefined): Promise<void> => {
    if (!counts(path)) return write(1);
    power.writes += 1;
    const { writes, diesAt, moment } = power;
    if (diesAt === 0 || writes < diesAt) return write(1);
    if (writes === diesAt && moment !== "before") await write(moment === "during" ? 0.5 : 1);
    throw new Error("killed"); // a dead process writes nothing more
  };
  return {
    ...real,
    // A file is replaced at once, or not at all.
    replaceFile: (path, text) => dying(path, (part) => (part < 1 ? undefined : real.replaceFile(path, text))),
    writeJsonFile: (path, value) => dying(path, (part) => (part < 1 ? undefined : real.writeJsonFile(path, value))),
    appendLines: (path, lines) =>
      dying(path, (part) => real.appendLines(path, lines.slice(0, Math.floor(lines.length * part)))),
  };
}

/** The process lives from now on, and its writes are counted anew. */
export function live(): void {
  Object.assign(power, { writes: 0, diesAt: 0 });
}
