import type { Suite } from '../suite/suite.ts';
import { cpu } from './cpu.ts';
import { gpuSuites } from './gpu/index.ts';
import { operations } from './operations.ts';
import { philox } from './philox.ts';
import { rdna } from './rdna.ts';
import { train } from './train.ts';

/** Every suite. To add one, add a file beside this one and a line here, or in `gpu/index.ts`. */
export const suites: readonly Suite[] = [philox, ...gpuSuites, cpu, operations, train, rdna];
