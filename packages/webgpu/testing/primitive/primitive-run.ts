import {
  type DType,
  dtypeInfo,
  elementCount,
  elementsSpanned,
  type Shape,
  type Strides,
  Tensor,
} from '@tilewise/core';
import { hostPrimitives, type Primitive } from '@tilewise/core/primitive';
import { expect } from 'vitest';
import { type GpuContext, webgpuEngine } from '../../src/index.ts';
import { sharedContext } from '../device/shared-context.ts';

/** The memory layout of a result: its storage may start before the first element and end after the last. */
export interface Placing {
  readonly dtype?: DType;
  readonly strides?: Strides;
  /** The number of elements in the storage before the first. */
  readonly offset?: number;
  /** The number of elements in the storage after the last. */
  readonly behind?: number;
}

/**
 * A tensor whose storage, including gaps and surroundings, is filled with numbers that no result contains.
 */
export function filled(
  shape: Shape,
  { dtype = 'f32', strides, offset = 0, behind = 3 }: Placing = {},
): Tensor {
  const dense = Tensor.zeros(shape, { dtype, ...(strides && { strides }) });
  const span = elementsSpanned({ shape, strides: dense.strides });
  const data = dtypeInfo[dtype].allocate(offset + span + behind).fill(dtype === 'bool' ? 1 : 77);
  return Tensor.wrap(data, { dtype, shape, strides: dense.strides, offset });
}

/**
 * Runs a primitive on the GPU, on tensors with the same layouts as on the host, and returns the storage of
 * each output.
 */
export async function runOnGpu(
  primitive: Primitive,
  inputs: readonly Tensor[],
  outputs: readonly Tensor[],
  ctx?: GpuContext,
): Promise<Tensor[]> {
  const engine = webgpuEngine(ctx ?? (await sharedContext()));
  const storages = [...inputs, ...outputs].map(({ data, dtype }) =>
    engine.upload(Tensor.wrap(data, { dtype, shape: [data.length], strides: [1] })),
  );
  const placed = [...inputs, ...outputs].map(({ shape, strides, offset }, n) =>
    engine.primitives.view(storages[n], { shape, strides, offset }),
  );
  const [from, to] = [placed.slice(0, inputs.length), placed.slice(inputs.length)];
  const prepared = engine.primitives.prepare(primitive, inputs, outputs);
  const workspace =
    prepared.workspaceBytes > 0
      ? engine.primitives.allocate({ dtype: 'u32', shape: [Math.ceil(prepared.workspaceBytes / 4)] })
      : undefined;
  prepared.run(from, to, workspace);
  const results = await Promise.all(storages.slice(inputs.length).map(storage => engine.download(storage)));
  prepared.release();
  for (const tensor of [...storages, ...(workspace ? [workspace] : [])]) engine.release(tensor);
  return results;
}

/**
 * Runs a primitive on the host and on the GPU. Expects the same results, to within `tolerance` of the largest
 * number or one step of the result's dtype, and that nothing but the results was written.
 */
export async function expectAsOnHost(
  primitive: Primitive,
  inputs: readonly Tensor[],
  outputs: readonly Tensor[],
  tolerance = 2e-6,
  ctx?: GpuContext,
): Promise<void> {
  const actual = await runOnGpu(primitive, inputs, outputs, ctx);
  hostPrimitives.prepare(primitive, inputs, outputs).run(inputs, outputs);
  outputs.forEach((output, n) => {
    const { data, dtype } = output;
    const got = actual[n];
    const own = output.toFloat64();
    const seen = Tensor.wrap(got.data, output).toFloat64();
    const largest = own.reduce((most, x) => (Number.isFinite(x) ? Math.max(most, Math.abs(x)) : most), 0);
    const step = dtypeInfo[dtype].kind === 'float' ? (steps[dtype] ?? 0) : 0;
    own.forEach((x, at) => {
      if (Object.is(x, seen[at]) || x === seen[at]) return;
      const off = Math.abs(x - seen[at]);
      expect(off <= tolerance * largest + step * Math.abs(x), `element ${at} is ${seen[at]}, not ${x}`).toBe(
        true,
      );
    });
    // The memory between and around the elements is unchanged.
    const isOwn = new Uint8Array(data.length);
    const marks = Tensor.wrap(isOwn, {
      ...output,
      dtype: 'u8',
      shape: output.shape,
      strides: output.strides,
      offset: output.offset,
    });
    hostPrimitives
      .prepare({ kind: 'map', value: { kind: 'constant', type: 'f32', value: 1 } }, [], [marks])
      .run([], [marks]);
    data.forEach((x, at) => {
      if (isOwn[at] === 0) expect(got.data[at], `beside the result, at ${at}`).toBe(x);
    });
  });
}

/** Twice the largest relative rounding error of a stored float. */
const steps: Readonly<Partial<Record<DType, number>>> = {
  f16: 2 ** -10,
  bf16: 2 ** -7,
  f8e4m3: 2 ** -3,
  f8e5m2: 2 ** -2,
};

/** Pseudo-random numbers in (−scale, scale), the same in every run. */
export function numbers(
  shape: Shape,
  seed: number,
  options: Placing & { readonly scale?: number } = {},
): Tensor {
  const { scale = 1, dtype = 'f32', ...placing } = options;
  const tensor = filled(shape, { ...placing, dtype });
  const values = Tensor.from(
    Array.from({ length: elementCount(shape) }, (_, n) => scale * Math.sin(1.3 * n * n + 0.7 * seed + n)),
    shape,
  );
  hostPrimitives
    .prepare({ kind: 'map', value: { kind: 'load', type: 'f32', name: 'x0', index: [] } }, [values], [tensor])
    .run([values], [tensor]);
  return tensor;
}
