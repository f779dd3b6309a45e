import { run } from '../command/program.ts';
import { gpuSuites } from '../suites/gpu/index.ts';

await run(gpuSuites);
