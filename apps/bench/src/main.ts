import { run } from './command/program.ts';
import { suites } from './suites/index.ts';

await run(suites);
