/** Clock of a process that the machine suspended for a while. */
import { vi } from "vitest";

/** Returns a function that moves `performance.now()` on by `ms`. `vi.restoreAllMocks()` restores the clock. */
export function stallingClock(): (ms: number) => void {
  const now = performance.now.bind(performance);
  let stood = 0;
  vi.spyOn(performance, "now").mockImplementation(() => now() + stood);
  return (ms) => {
    stood += ms;
  };
}
