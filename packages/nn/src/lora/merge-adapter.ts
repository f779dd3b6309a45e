import { InvalidArgumentError, type TensorDesc } from '@tilewise/core';
import { add, compile, matmul, multiply, type Specs, transpose, type Variable } from '@tilewise/graph/ops';
import { inDType, inFloat32 } from '../architectures/transformer/scope.ts';
import { loraNames, loraScale } from '../model/adapter.ts';
import { checkModel, describeAll, type Model } from '../model/model.ts';
import { releasedOnError } from '../model/upload.ts';

/**
 * Adds an adapter to the weights of its layers, W + scale·B·A, and removes it: the model computes the same
 * results without the adapter's products. 16-bit weights are rounded. All new weights are computed before the
 * first one is replaced, so after an error the model is unchanged.
 * @throws InvalidArgumentError for a model without an adapter, and for an imported model with an adapter of a
 * layer that has no weight of its own, such as a tied head.
 */
export async function mergeAdapter<T extends TensorDesc>(model: Model<T>): Promise<void> {
  checkModel(model);
  const { engine, adapter, weights, layers } = model;
  if (!adapter) throw new InvalidArgumentError('model', 'has no adapter');
  const scale = loraScale(adapter.config);
  const merged = new Map<string, T>();
  await releasedOnError(engine, merged, async () => {
    for (const [layer, { transposed }] of layers.linear) {
      const name = `${layer}.weight`;
      const weight = weights.get(name);
      const [a, b] = loraNames(layer).map(own => adapter.tensors[own]);
      if (!a || !b) continue;
      // The weight of an imported layer may belong to another layer, or be a constant of the graph.
      if (!weight) throw new InvalidArgumentError('model', `has no weight '${name}' of its own`);
      const tensors = { weight, a, b };
      const merge = compile(engine, own => mergedWeight(own, scale, transposed), describeAll(tensors));
      try {
        merged.set(name, (await merge(tensors)) as T);
      } finally {
        merge.release();
      }
    }
  });
  const replaced = [...merged.keys()].map(name => weights.get(name) as T);
  model.releaseReplaced([...replaced, ...Object.values(adapter.tensors)]);
  for (const [name, tensor] of merged) weights.set(name, tensor);
  model.adapter = null;
  model.updateMemory();
}

function mergedWeight(
  { weight, a, b }: { readonly [name in keyof Specs]: Variable },
  scale: number,
  isTransposed: boolean,
): Variable {
  const change = multiply(matmul(inFloat32(b), inFloat32(a)), scale);
  const sum = add(inFloat32(weight), isTransposed ? transpose(change, [1, 0]) : change);
  return inDType(sum, weight.dtype);
}
