import { expect, it } from 'vitest';
import { bench } from './evaluate/bench.ts';
import { doctor } from './evaluate/doctor.ts';
import { graph } from './evaluate/graph.ts';
import { attention } from './learn/attention.ts';
import { backward } from './learn/backward.ts';
import { kernels } from './learn/kernels.ts';
import { loops } from './learn/loops.ts';
import { overview } from './learn/overview.ts';
import { train } from './learn/train.ts';
import { home } from './page/home.ts';
import { tiles } from './page/tiles.ts';

const index = { kind: 'index-count', region: 'x', wanted: 1, got: 2 } as const;
const pass = { array: 'x', unit: 'passes', found: 1, most: 2 } as const;
const tile = { array: 'k', unit: 'tiles', found: 1, most: 1 } as const;

it.each([
  [overview.squareLabel(1), '1 word, and a square of 1 score'],
  [overview.squareLabel(2), '2 words, and a square of 4 scores'],
  [attention.figure(12, 1, '2'), '12 keys; 1 has been seen'],
  [tiles.rowLabel(1, 12), '1 of 12 key tiles has been visited'],
  [loops.grid(1, 64, null), '1 of 64 pairs of tiles has met'],
  [loops.someStay(1, 2), '1 of 2 outputs stays in fast memory, which saves 1 load and 1 store.'],
  [loops.someStay(2, 3), '2 of 3 outputs stay in fast memory; each saves 2 loads and 2 stores.'],
  [backward.walkFigure(1, 8, 'rows'), '1 of 8 rows of dS has been computed'],
  [backward.loadsFigure(1, 36), '1 of 36 loads of blocks of K and V has been made'],
  [kernels.reads(pass, String), '1 pass over x, 2 are enough'],
  [kernels.reads(tile, String), '1 tile of k read, 1 is enough'],
  [train.keptRun(1, 1, String), 'a run of 1 step.'],
  [train.sameCurve(1, 1, String), 'the first step has the loss of the previous run'],
  [train.sameCurve(2, 2, String), 'all 2 steps so far have the losses of the previous run'],
  [train.afterSteps(1, String), 'after 1 step'],
  [home.model.map(1), 'after 1 step,'],
  [graph.run.neverStored(1), '1 tensor never stored'],
  [doctor.finished(1), '1 measurement.'],
  [bench.faults['index-count'](index), '‘x’ has 1 index, not 2'],
])('says “%s”', (said, wanted) => {
  expect(said).toContain(wanted);
});
