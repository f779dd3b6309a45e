import { normalise, normaliseBackward, Tensor } from '@tilewise/core';
import { blockMaskBits, createBlockMask, slidingWindowMask } from '@tilewise/core/expr';
import { expect, test } from 'vitest';
import { exactResults, gpuResults, normal } from '../../../testing/attention/attention-call.ts';
import { expectAgreement, expectSameBits } from '../../../testing/attention/expect-agreement.ts';
import { readBuffer, storageBuffer } from '../../../testing/device/device-buffers.ts';
import { sharedContext } from '../../../testing/device/shared-context.ts';
import { allTools } from '../../api/tools/all-tools.ts';
import type { GpuContext, KernelSpec } from '../../index.ts';
import { DevicePlan } from '../../runtime/plan/device-plan.ts';
import { backwardPlan } from '../plan/backward-plan.ts';
import { forwardPlan } from '../plan/forward-plan.ts';

/** Two blocks of queries and nine blocks of keys, so that bits of a second byte are read. */
const [Sq, Skv] = [150, 1100];
const q = normal([1, 2, Sq, 8], 1);
const k = normal([1, 1, Skv, 8], 2);
const v = normal([1, 1, Skv, 8], 3);
const dO = normal([1, 2, Sq, 8], 4);
const bytes = (values: readonly number[], shape: readonly number[]): Tensor =>
  Tensor.from(values, shape, { dtype: 'u8' });

test('the blocks whose bits are 0 are hidden, and a row of such blocks is fully masked', async () => {
  const blockMask = bytes([0b01000101, 1, 0b10, 0, 0, 0, 0xff, 1], [1, 2, 2, 2]);
  const options = {
    blockMask,
    bias: normal([1, 2, Sq, 1], 5),
    alibi: [0.1, 0.02],
    outputs: { max: true, sumExp: true },
  };
  const call = { q, k, v, dO, options };
  const exact = exactResults(call);
  const got = await gpuResults(await sharedContext(), call, exact);
  expectAgreement(got, exact, { distance: Skv });
  const dead = got.lse.slice(1, 1, 2).slice(2, 0, 128).toFloat32();
  expect(new Set(dead)).toEqual(new Set([-Infinity]));
  expect(got.o.slice(1, 1, 2).slice(2, 0, 128).toFloat32()).toEqual(new Float32Array(128 * 8));
});

test('a mask for all heads, and a view of a mask with unused blocks, read the right bits', async () => {
  const shared = bytes([0b101, 0, 0b110, 1], [1, 1, 2, 2]);
  const wide = bytes([0b101, 9, 0, 9, 0b110, 9, 1, 9], [1, 1, 2, 4]);
  const view = Tensor.wrap(wide.data, { dtype: 'u8', shape: [1, 1, 2, 2], strides: [8, 8, 4, 2] });
  const ctx = await sharedContext();
  const call = { q, k, v, dO, options: { blockMask: shared } };
  const exact = exactResults(call);
  const got = await gpuResults(ctx, call, exact);
  expectAgreement(got, exact);
  expectSameBits(await gpuResults(ctx, { ...call, options: { blockMask: view } }, exact), got);
});

test('NaN in keys and values of hidden blocks changes no bit', async () => {
  const ctx = await sharedContext();
  const options = { blockMask: bytes([0b11111101, 1, 0b11111101, 1], [1, 1, 2, 2]) };
  const poisoned = (t: Tensor): Tensor => {
    const copy = t.contiguous();
    for (const at of copy.slice(2, 128, 256).offsets()) copy.data[at] = NaN;
    return copy;
  };
  const clean = await gpuResults(ctx, { q, k, v, dO, options });
  expectSameBits(await gpuResults(ctx, { q, k: poisoned(k), v: poisoned(v), dO, options }), clean);
});

test('blocks that a mask mod hides may be skipped without changing a bit', async () => {
  const ctx = await sharedContext();
  const maskMod = slidingWindowMask({ left: 30, right: 100 });
  const blockMask = blockMaskBits(createBlockMask(maskMod, { Sq, Skv }));
  const alone = await gpuResults(ctx, { q, k, v, dO, options: { maskMod } });
  expectSameBits(await gpuResults(ctx, { q, k, v, dO, options: { maskMod, blockMask } }), alone);
});

/** The kernel, changed to count the tiles that it works on in `visited`. */
function counting(kernel: KernelSpec): KernelSpec {
  const counter = 'if (lane == 0u) {\n      atomicAdd(&visited[0], 1u);\n    }';
  const wgsl = kernel.wgsl.replace(
    /if \(!\((block_visible\(seq, h, i0, j0\)|workgroupUniformLoad\(&shared_visible\))\)\) \{\s*continue;\s*\}/,
    found => `${found}\n    ${counter}`,
  );
  const binding = `@group(0) @binding(${kernel.bindings.length + 1})`;
  return {
    ...kernel,
    wgsl: `${binding} var<storage, read_write> visited: array<atomic<u32>>;\n${wgsl}`,
    bindings: [
      ...kernel.bindings,
      { name: 'visited', element: 'atomic<u32>', access: 'read_write', elementBytes: 4, alignment: 4 },
    ],
  };
}

async function visitedTiles(
  ctx: GpuContext,
  kernel: KernelSpec,
  spans: Readonly<Record<string, number>>,
  blockMask: Tensor,
): Promise<number> {
  const { device } = ctx;
  const plan = new DevicePlan(ctx, { kernels: [counting(kernel)], spans: { ...spans, visited: 1 } });
  const buffers = Object.fromEntries(
    [...plan.tensors, { name: 'workspace', bytes: Math.max(plan.workspaceBytes, 16) }].map(
      ({ name, bytes }) => [
        name,
        storageBuffer(device, name === 'blockMask' ? new Uint8Array(blockMask.data) : bytes),
      ],
    ),
  );
  const encoder = device.createCommandEncoder();
  plan.encode(encoder, buffers);
  device.queue.submit([encoder.finish()]);
  const [visited] = new Uint32Array((await readBuffer(device, buffers.visited)).buffer);
  plan.destroy();
  for (const buffer of Object.values(buffers)) buffer.destroy();
  return visited;
}

test('tiles of hidden blocks are not computed, in any kernel', async () => {
  const ctx = await sharedContext();
  const x = Tensor.zeros([1, 2, 256, 8]);
  // Three of four blocks are visible in head 0, and one in head 1; a block is 4 × 4 tiles of 32.
  const blockMask = bytes([0b01, 0b11, 0b10, 0b00], [1, 2, 2, 1]);
  const options = { blockMask, bias: Tensor.zeros([256, 256]), alibi: [1, 1] };
  const { problem: forward } = normalise({ q: x, k: x, v: x }, options);
  const lse = Tensor.zeros([1, 2, 256]);
  const { problem } = normaliseBackward({ q: x, k: x, v: x, o: x, lse, dO: x }, options);
  // With the tiles that every adapter has.
  const own = { ...ctx.capabilities, adapter: '' };
  const backward = backwardPlan(problem, {
    target: { capabilities: { ...own, maxStorageBuffersPerShaderStage: 9 } },
    tools: allTools,
  });
  const kernels = [
    ...forwardPlan(forward, { target: { capabilities: own }, tools: allTools }).kernels,
    ...backward.kernels,
  ].filter(({ bindings, gathered }) => [...bindings, ...gathered].some(({ name }) => name === 'blockMask'));
  expect(kernels.length).toBeGreaterThanOrEqual(5);
  for (const kernel of kernels) {
    expect(await visitedTiles(ctx, kernel, backward.spans, blockMask), kernel.name).toBe(4 * 16);
  }
});
