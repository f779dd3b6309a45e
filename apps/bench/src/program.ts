import { bench } from './bench.ts';
import { processConsole } from './console.ts';
import { contestantOptions, serve } from './contest/contestant-process.ts';
import { contestantService } from './contest/contestant-service.ts';
import type { Suite } from './suite.ts';

/** Runs this process: as the bench with these suites, or as one contestant that the bench has started. */
export async function run(suites: readonly Suite[]): Promise<void> {
  const args = process.argv.slice(2);
  const contestant = contestantOptions(args);
  if (contestant) serve(contestantService(contestant));
  else process.exitCode = await bench(args, suites, processConsole);
}
