import { Tensor } from '@tilewise/core';
import { cpuEngine } from '@tilewise/core/cpu';
import { describe, expect, it } from 'vitest';
import { hostCalls } from './engine.ts';

/** The calls of an engine, and the tensors that it has uploaded and not released. */
function countedCalls() {
  const engine = cpuEngine();
  const held = new Set<Tensor>();
  const calls = hostCalls(
    {
      ...engine,
      upload(tensor: Tensor): Tensor {
        const uploaded = engine.upload(tensor.contiguous());
        held.add(uploaded);
        return uploaded;
      },
      release: (tensor: Tensor) => held.delete(tensor),
    },
    { kind: 'no-webgpu' },
  );
  return { calls, held };
}

const [q, k, v] = [1, 2, 3].map(x => Tensor.from(new Float32Array(8).fill(x), [1, 1, 2, 4])) as [
  Tensor,
  Tensor,
  Tensor,
];

describe('calls with tensors of the host', () => {
  it('release their tensors', async () => {
    const { calls, held } = countedCalls();
    const { o, lse } = await calls.sdpa(q, k, v);
    expect([...o.toFloat32()]).toEqual(new Array(8).fill(3));
    await calls.sdpaBackward({ q, k, v, o, lse, dO: o }, {});
    expect(held.size).toBe(0);
  });

  it('release their tensors if the engine refuses the options', async () => {
    const { calls, held } = countedCalls();
    await expect(calls.sdpa(q, k, v, { softcap: -1 })).rejects.toThrow('softcap');
    await expect(
      calls.sdpaBackward({ q, k, v, o: q, lse: Tensor.zeros([1, 1, 2]), dO: q }, { softcap: -1 }),
    ).rejects.toThrow('softcap');
    expect(held.size).toBe(0);
  });
});
