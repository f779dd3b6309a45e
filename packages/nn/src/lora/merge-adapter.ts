import { InvalidArgumentError, type TensorDesc } from '@tilewise/core';
import {
  add,
  compile,
  matmul,
  multiply,
  type Specs,
  transpose,
  typeCast,
  type Variable,
} from '@tilewise/graph/ops';
import { describeAll, type Model } from '../model/model.ts';
import { isTarget, loraNames, loraScale } from './adapter.ts';

/**
 * Adds an adapter to the weights that it is beside, W + scale·B·A, and takes it away: the model computes what
 * it did, without the products of the adapter. Weights of 16 bits are rounded.
 * @throws InvalidArgumentError for a model without an adapter.
 */
export async function mergeAdapter<T extends TensorDesc>(model: Model<T>): Promise<void> {
  const { engine, adapter, weights, layers } = model;
  if (!adapter) throw new InvalidArgumentError('model', 'has no adapter');
  const scale = loraScale(adapter.config);
  for (const [layer, { transposed }] of layers.linear) {
    const name = `${layer}.weight`;
    const before = weights.get(name);
    const [a, b] = loraNames(layer).map(own => adapter.tensors[own]);
    if (!before || !a || !b || !isTarget(adapter.config, layer)) continue;
    const tensors = { weight: before, a, b };
    const merge = compile(engine, own => mergedWeight(own, scale, transposed), describeAll(tensors));
    weights.set(name, (await merge(tensors)) as T);
    merge.release();
    engine.release(before);
  }
  for (const tensor of Object.values(adapter.tensors)) engine.release(tensor);
  model.adapter = null;
}

function mergedWeight(
  { weight, a, b }: { readonly [name in keyof Specs]: Variable },
  scale: number,
  isTransposed: boolean,
): Variable {
  const inFloat32 = (t: Variable): Variable => (t.dtype === 'f32' ? t : typeCast(t, { dtype: 'f32' }));
  const change = multiply(matmul(inFloat32(b), inFloat32(a)), scale);
  const sum = add(inFloat32(weight), isTransposed ? transpose(change, [1, 0]) : change);
  return weight.dtype === 'f32' ? sum : typeCast(sum, { dtype: weight.dtype });
}
