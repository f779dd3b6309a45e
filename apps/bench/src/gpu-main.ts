import { run } from './program.ts';
import { gpuSuites } from './suites/gpu.ts';

await run(gpuSuites);
