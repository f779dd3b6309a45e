import { cpuEngine } from '@tilewise/core/cpu';
import { sdpa, sdpaBackward } from '@tilewise/core/reference';
import { describe, expect, it } from 'vitest';
import type { PageEngine } from '../../engine/engine.ts';
import { heatMaps } from './heat-maps.ts';
import { type LabMask, labMasks } from './lab-masks.ts';

const cpu = cpuEngine();
const engine: PageEngine = {
  runsOn: { kind: 'no-webgpu' },
  sdpa: (q, k, v, options) => cpu.sdpa(q, k, v, options),
  sdpaBackward: (inputs, options) => cpu.sdpaBackward(inputs, options),
};
const reference: PageEngine = {
  runsOn: { kind: 'no-webgpu' },
  sdpa: async (q, k, v, options) => sdpa(q, k, v, options),
  sdpaBackward: async (inputs, options) => sdpaBackward(inputs, options),
};
const initial = ({ value }: LabMask): number => (value?.initial ?? 0) * (value?.unit ?? 1);
const small = labMasks.filter(({ S }) => S < 100);

describe.each(small)('the heat maps of $id', mask => {
  const { id, S } = mask;
  const options = mask.options(initial(mask));

  it('are those of the reference', async () => {
    const [own, expected] = [await heatMaps(engine, S, options), await heatMaps(reference, S, options)];
    for (const name of ['scores', 'probabilities', 'gradients'] as const) {
      own[name].forEach((value, n) => {
        const wanted = expected[name][n] ?? 0;
        if (Number.isNaN(wanted)) expect(value).toBeNaN();
        else expect(value).toBeCloseTo(wanted, 4);
      });
    }
  });

  it('have rows of probabilities that sum to one, or to less with a sink', async () => {
    const { probabilities } = await heatMaps(engine, S, options);
    for (const sum of rowSums(probabilities, S)) {
      if (id === 'sink') expect(sum).toBeLessThan(1);
      else expect(sum).toBeCloseTo(1, 5);
    }
  });
});

it('a block mask shows what its mask mod shows, on more keys than a head has values', async () => {
  const block = labMasks.find(({ id }) => id === 'block');
  if (!block) throw new Error('no block mask');
  const { S } = block;
  const { probabilities } = await heatMaps(engine, S, block.options(initial(block)));
  const wrong = probabilities.findIndex((value, n) => {
    const [i, j] = [Math.floor(n / S), n % S];
    return Number.isNaN(value) !== (Math.abs(i - j) > initial(block) && j >= 16);
  });
  expect(wrong).toBe(-1);
  for (const sum of rowSums(probabilities, S)) expect(sum).toBeCloseTo(1, 4);
});

function rowSums(values: Float32Array, S: number): number[] {
  return Array.from({ length: S }, (_, i) =>
    values.subarray(i * S, (i + 1) * S).reduce((sum, p) => sum + (Number.isNaN(p) ? 0 : p), 0),
  );
}
