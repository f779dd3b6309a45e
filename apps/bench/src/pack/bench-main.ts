import { run } from '../command/program.ts';
import { gpuSuites } from '../suites/gpu/index.ts';
import { train } from '../suites/train.ts';

await run([...gpuSuites, train]);
