import { Session } from 'node:inspector/promises';
import { describe, expect, test } from 'vitest';
import { normal } from '../../../testing/normal.ts';
import type { SdpaOptions } from '../../attention/options/options.ts';
import { sdpa, sdpaBackward } from '../sdpa.ts';

const SQ = 2048;

const rows = (S: number, seed: number) => normal([1, 1, S, 8], seed);

/** The bytes that V8 allocates for objects while `work` runs, including garbage, after a first run. */
async function allocatedBytes(work: () => void): Promise<number> {
  const session = new Session();
  session.connect();
  for (let n = 0; n < 15; n++) work();
  await session.post('HeapProfiler.startSampling', {
    samplingInterval: 64,
    includeObjectsCollectedByMajorGC: true,
    includeObjectsCollectedByMinorGC: true,
  });
  work();
  const { profile } = await session.post('HeapProfiler.stopSampling');
  session.disconnect();
  const sum = ({ selfSize, children }: typeof profile.head): number =>
    children.reduce((bytes, child) => bytes + sum(child), selfSize);
  return sum(profile.head);
}

const options: Readonly<Record<string, SdpaOptions>> = {
  plain: {},
  'causal with dropout and ALiBi': { causal: 'bottom-right', dropout: { p: 0.2, seed: 1 }, alibi: true },
};

describe.each(Object.entries(options))('%s', (_name, option) => {
  const [q, dO] = [rows(SQ, 1), rows(SQ, 2)];
  const [few, many] = [512, 2048].map(S => {
    const [k, v] = [rows(S, 3), rows(S, 4)];
    const { o, lse } = sdpa(q, k, v, option);
    return {
      S,
      forward: () => sdpa(q, k, v, option),
      backward: () => sdpaBackward({ q, k, v, o, lse, dO }, option),
    };
  });

  test.each(['forward', 'backward'] as const)('%s leaves no garbage per tile', async pass => {
    const growth = (await allocatedBytes(many[pass])) - (await allocatedBytes(few[pass]));
    const tiles = (SQ / 64) * ((many.S - few.S) / 128);
    // A tile has 8192 scores, so nothing is allocated per score or row. Code that V8 has not optimised yet
    // boxes some numbers of a tile; optimised code allocates some 30 bytes, for the views through which keys
    // are unpacked.
    expect(growth / tiles).toBeLessThan(512);
  });
});
