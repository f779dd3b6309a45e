import { Tensor } from '@tilewise/core';
import { referenceEngine } from '@tilewise/core/reference';
import { Graph } from '../../src/graph.ts';
import type { Attributes } from '../../src/ir/schema/attribute.ts';
import type { GraphDType } from '../../src/ir/tensor/dtype.ts';
import { expectClose } from './expect-same.ts';
import { runOnGpu } from './webgpu-engine.ts';

/** An input of an operation. Default shape: one row. */
export interface Input {
  readonly values: readonly number[];
  readonly shape?: readonly number[];
  readonly dtype?: GraphDType;
}

/** Runs one operation on the reference and on WebGPU, which must agree; returns the values of its outputs. */
export async function runOperation(
  kind: string,
  inputs: readonly Input[],
  attrs: Attributes = {},
  outputs: readonly GraphDType[] = ['f32'],
): Promise<number[][]> {
  const g = new Graph();
  const tensors = inputs.map(({ values, shape = [values.length], dtype = 'f32' }) =>
    g.tensor({ dtype, shape }),
  );
  const results = outputs.map(dtype => g.tensor({ dtype }));
  g.add({ kind, attrs, inputs: tensors, outputs: results });
  const bindings = Object.fromEntries(
    tensors.map((t, n) => {
      const storage = t.dtype === 'i4' ? 'i8' : t.dtype === 'u4' ? 'u8' : t.dtype;
      const { values, shape = [values.length] } = inputs[n];
      return [
        t.id,
        t.dtype === 'i64' ? BigInt(values[0]) : Tensor.from(values, shape, { dtype: storage as 'f32' }),
      ];
    }),
  );
  const got = await g.run(referenceEngine(), bindings);
  expectClose(await runOnGpu(g, bindings), got, 1e-5, 'webgpu');
  return results.map(t => [...got[t.id].toFloat64()]);
}
