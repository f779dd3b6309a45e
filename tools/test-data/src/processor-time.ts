/**
 * The processor time of this process so far, in milliseconds. Tests that limit the duration of a call use it
 * instead of the clock, because the clock also counts the work of other processes.
 */
export function processorTime(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}
