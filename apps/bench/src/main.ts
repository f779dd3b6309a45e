import { run } from './program.ts';
import { suites } from './suites/index.ts';

await run(suites);
