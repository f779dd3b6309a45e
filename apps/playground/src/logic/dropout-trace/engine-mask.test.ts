import { cpuEngine } from '@tilewise/core/cpu';
import { dropoutMask } from '@tilewise/philox';
import { describe, expect, it } from 'vitest';
import type { PageEngine } from '../../engine/engine.ts';
import { differences, engineMask } from './engine-mask.ts';

const cpu = cpuEngine();
const engine = { runsOn: { kind: 'no-webgpu' }, sdpa: cpu.sdpa.bind(cpu) } as unknown as PageEngine;

describe.each(['torch-efficient', 'flash-attention-2', 'onednn'] as const)('the mask by %s', scheme => {
  it('is the same from an engine as from the philox package', async () => {
    const drawn = { scheme, p: 0.3, seed: 42n, offset: 1n };
    const expected = dropoutMask({ shape: [1, 1, 64, 64], ...drawn });
    expect(differences(await engineMask(engine, { ...drawn, size: 64 }), expected)).toBe(0);
  });
});

it('counts every element in which masks differ', () => {
  expect(differences(Uint8Array.of(1, 0, 1), Uint8Array.of(1, 1, 1))).toBe(1);
  expect(differences(Uint8Array.of(1), Uint8Array.of(1, 0, 0))).toBe(2);
});
