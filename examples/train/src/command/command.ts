import { runDemo } from './demo.ts';
import { chooseEngine } from './engine-choice.ts';
import { type CommandOptions, parseOptions, UsageError, usage } from './options.ts';
import type { ProgressOutput } from './progress.ts';

/** Standard output and standard error, or what stands for them. */
export interface Streams {
  readonly out: ProgressOutput;
  readonly error: ProgressOutput;
  readonly env: Readonly<Record<string, string | undefined>>;
}

/**
 * Runs the demo as a command and gives its exit code: 0, 1 when it failed, 2 for a command line that is not
 * understood.
 */
export async function runCommand(args: readonly string[], streams: Streams): Promise<number> {
  try {
    await run(parseOptions(args), streams);
    return 0;
  } catch (error) {
    if (error instanceof UsageError) {
      streams.error.write(`${error.message}\n\n${usage}`);
      return 2;
    }
    streams.error.write(`${error instanceof Error ? error.message : error}\n`);
    return 1;
  }
}

async function run(options: CommandOptions, { out, error, env }: Streams): Promise<void> {
  if (options.help) {
    out.write(usage);
    return;
  }
  const chosen = await chooseEngine(options.engine);
  try {
    const colour = out.isTTY === true && !env.NO_COLOR;
    const result = await runDemo(chosen, options, { out, progress: error, colour });
    if (options.json) out.write(`${JSON.stringify(result)}\n`);
  } finally {
    chosen.close();
  }
}
