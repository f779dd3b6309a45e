import { implementationOptions, serve } from '../../comparison/implementation-process.ts';
import { implementationService } from '../../comparison/implementation-service.ts';
import type { Suite } from '../../suite/suite.ts';
import { bench } from './bench.ts';
import { processConsole } from './console.ts';

/**
 * Runs this process as the bench with these suites, or as the process of one implementation that the bench
 * has started.
 */
export async function run(suites: readonly Suite[]): Promise<void> {
  const args = process.argv.slice(2);
  const implementation = implementationOptions(args);
  if (implementation) serve(implementationService(implementation));
  else process.exitCode = await bench(args, suites, processConsole);
}
