import { expect, it } from 'vitest';
import { bench } from './evaluate/bench.ts';
import { doctor } from './evaluate/doctor.ts';
import { graph } from './evaluate/graph.ts';
import { kernels } from './learn/kernels.ts';
import { loops } from './learn/loops.ts';
import { train } from './learn/train.ts';

const index = { kind: 'index-count', region: 'x', wanted: 1, got: 2 } as const;
const tile = { array: 'k', unit: 'tiles', found: 1, most: 1 } as const;

it.each([
  [loops.someStay(1, 2), '1 von 2 Ausgaben bleibt im schnellen Speicher und spart 1-mal Laden'],
  [kernels.reads(tile, String), '1 Kachel von k gelesen, 1 genügt'],
  [train.keptRun(1, 1, String), 'Lauf von 1 Schritt '],
  [train.afterSteps(1, String), 'nach 1 Schritt'],
  [graph.run.neverStored(1), '1 Tensor nie gespeichert'],
  [doctor.finished(1), '1 Messung.'],
  [bench.faults['index-count'](index), '„x“ hat 1 Index, hier sind es 2'],
])('says “%s”', (said, wanted) => {
  expect(said).toContain(wanted);
});
