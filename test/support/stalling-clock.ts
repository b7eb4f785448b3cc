/** The process's clock, as it is for one that the machine left standing for a while. */
import { vi } from "vitest";

/** What is called makes so many milliseconds go by at once. `vi.restoreAllMocks()` ends it. */
export function stallingClock(): (ms: number) => void {
  const now = performance.now.bind(performance);
  let stood = 0;
  vi.spyOn(performance, "now").mockImplementation(() => now() + stood);
  return (ms) => {
    stood += ms;
  };
}
