import { run } from './commands/bench/program.ts';
import { suites } from './suites/index.ts';

await run(suites);
