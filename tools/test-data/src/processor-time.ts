/**
 * Processor time that this process has used so far, in milliseconds. Tests that bound the duration of a call
 * take it in place of the clock, because the clock also counts what other processes of the machine do.
 */
export function processorTime(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}
