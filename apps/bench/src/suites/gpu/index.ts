import type { Suite } from '../../suite/suite.ts';
import { attention } from './attention.ts';
import { decode } from './decode.ts';
import { matmul } from './matmul.ts';
import { memory } from './memory.ts';
import { overhead } from './overhead.ts';
import { peak } from './peak.ts';
import { start } from './start.ts';
import { tuneTiles } from './tune.ts';

/** The suites that measure a GPU. */
export const gpuSuites: readonly Suite[] = [
  peak,
  matmul,
  attention,
  decode,
  memory,
  tuneTiles,
  start,
  overhead,
];
