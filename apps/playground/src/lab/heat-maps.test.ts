import { cpuEngine } from '@tilewise/core/cpu';
import { sdpa, sdpaBackward } from '@tilewise/core/reference';
import { describe, expect, it } from 'vitest';
import type { PageEngine } from '../engine/engine.ts';
import { heatMaps } from './heat-maps.ts';
import { labMasks } from './lab-masks.ts';

const cpu = cpuEngine();
const engine: PageEngine = {
  kind: 'cpu',
  note: '',
  sdpa: (q, k, v, options) => cpu.sdpa(q, k, v, options),
  sdpaBackward: (inputs, options) => cpu.sdpaBackward(inputs, options),
};
const reference: PageEngine = {
  kind: 'cpu',
  note: '',
  sdpa: async (q, k, v, options) => sdpa(q, k, v, options),
  sdpaBackward: async (inputs, options) => sdpaBackward(inputs, options),
};
const S = 20;

describe.each(labMasks)('the heat maps of $id', ({ id, options }) => {
  it('are those of the reference', async () => {
    const [own, expected] = [await heatMaps(engine, S, options(S)), await heatMaps(reference, S, options(S))];
    for (const name of ['scores', 'probabilities', 'gradients'] as const) {
      own[name].forEach((value, n) => {
        const wanted = expected[name][n] ?? 0;
        if (Number.isNaN(wanted)) expect(value).toBeNaN();
        else expect(value).toBeCloseTo(wanted, 4);
      });
    }
  });

  it('have rows of probabilities that sum to one, or to less with a sink', async () => {
    const { probabilities } = await heatMaps(engine, S, options(S));
    for (let i = 0; i < S; i++) {
      const row = probabilities.subarray(i * S, (i + 1) * S);
      const sum = row.reduce((total, p) => total + (Number.isNaN(p) ? 0 : p), 0);
      if (id === 'sink') expect(sum).toBeLessThan(1);
      else expect(sum).toBeCloseTo(1, 5);
    }
  });
});
