import type { Suite } from '../suite.ts';
import { attention } from './attention.ts';
import { cpu } from './cpu.ts';
import { memory } from './memory.ts';
import { philox } from './philox.ts';

/** Every suite; a new one is a file beside this one and a line here. */
export const suites: readonly Suite[] = [philox, attention, cpu, memory];
