import { bench } from './bench.ts';
import { processConsole } from './console.ts';
import { gpuSuites } from './suites/gpu.ts';

process.exitCode = await bench(process.argv.slice(2), gpuSuites, processConsole);
