import { run } from './command/program.ts';
import { gpuSuites } from './suites/gpu.ts';

await run(gpuSuites);
