import { bench } from './bench.ts';
import { processConsole } from './console.ts';
import { suites } from './suites/index.ts';

process.exitCode = await bench(process.argv.slice(2), suites, processConsole);
