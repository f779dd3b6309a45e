import { openEngine } from '@tilewise/host-engine';
import { runDemo, type Streams } from './demo.ts';
import { parseOptions, UsageError, usage } from './options.ts';

/** The demo as a command. Exit codes: 0, 1 if it failed, 2 if the command line is not understood. */
export async function runCommand(args: readonly string[], streams: Streams): Promise<number> {
  try {
    const options = parseOptions(args);
    if (options.help) streams.out.write(usage);
    else {
      const engine = await openEngine(options.engine);
      const result = await runDemo(engine, options, streams).finally(engine.close);
      if (options.json) streams.out.write(`${JSON.stringify(result)}\n`);
    }
    return 0;
  } catch (error) {
    const isUsage = error instanceof UsageError;
    const problem = error instanceof Error ? error.message : String(error);
    // The reason comes last, where it is still visible after a long usage.
    streams.error.write(`${isUsage ? `${usage}\n` : ''}${problem}\n`);
    return isUsage ? 2 : 1;
  }
}
