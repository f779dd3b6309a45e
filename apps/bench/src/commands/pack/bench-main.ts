import { gpuSuites } from '../../suites/gpu/index.ts';
import { train } from '../../suites/train.ts';
import { run } from '../bench/program.ts';

await run([...gpuSuites, train]);
