/** Processor time of work in this process, in milliseconds: a busy machine does not change it, as it changes the time. */
export async function ownMs(work: () => unknown): Promise<number> {
  const before = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1_000;
}
