import { fp8AmaxNames, fp8ScalarNames } from '../../attention/problem/fp8.ts';
import type { AttentionProblem, Operands } from '../../attention/problem/problem.ts';
import { checkStorage } from '../../tensor/checks/check-storage.ts';
import { copyStrided } from '../../tensor/copy-strided.ts';
import { contiguousStrides, elementsSpanned } from '../../tensor/shape.ts';
import { Tensor } from '../../tensor/tensor.ts';
import { partOf } from '../kernels/memory/resident-tensors.ts';

/** Tensors by the names of plan bindings. */
type Tensors = Readonly<Record<string, Tensor>>;

/**
 * Converts tensors by the names of plan bindings to operands, in which the tensors that mods capture form one
 * record, those of the option `mxfp8` another, and the scalars of `fp8` a third.
 */
export function operandsOf({ fp8, ...tensors }: Tensors): Operands<Tensor> {
  const records = { captures: {} as Record<string, Tensor>, mxfp8: {} as Record<string, Tensor> };
  const operands: Record<string, Tensor> = {};
  for (const [name, tensor] of Object.entries(tensors)) {
    const record = (['captures', 'mxfp8'] as const).find(prefix => name.startsWith(`${prefix}.`));
    if (record) records[record][name.slice(record.length + 1)] = tensor;
    else if (!name.startsWith('outputs.') && !name.startsWith('dCaptures.')) operands[name] = tensor;
  }
  const scalars = fp8 && fp8ScalarNames.map((name, n) => [name, elementOf(fp8, n)] as const);
  return {
    ...(operands as unknown as Operands<Tensor>),
    ...Object.fromEntries(Object.entries(records).filter(([, record]) => Object.keys(record).length > 0)),
    ...(scalars && { fp8: Object.fromEntries(scalars) as NonNullable<Operands<Tensor>['fp8']> }),
  };
}

/** Element n of a dense list, as a list of one. */
function elementOf({ data, offset, dtype }: Tensor, n: number): Tensor {
  return Tensor.wrap(partOf(data, offset + n, offset + n + 1), { dtype, shape: [1] });
}

/**
 * Copies results to the tensors that were given for them, unless they are stored there already; largest
 * magnitudes go to the list of `fp8`.
 */
export function deliver(results: Readonly<Partial<Record<string, Tensor>>>, tensors: Tensors): void {
  const largest = (name: string): number => (fp8AmaxNames as readonly string[]).indexOf(name);
  const targets = Object.keys(results).map(name => (largest(name) < 0 ? name : 'fp8'));
  checkStorage(Object.fromEntries(targets.map(name => [name, tensors[name]])));
  for (const [name, result] of Object.entries(results)) {
    if (!result) continue;
    const n = largest(name);
    const to = n < 0 ? tensors[name] : elementOf(tensors.fp8, fp8ScalarNames.length + n);
    if (!to || to.data.buffer === result.data.buffer) continue;
    const { data, offset } = result;
    copyStrided(to.shape, { data, offset, strides: contiguousStrides(to.shape) }, to);
  }
}

/** Views of tensors, because a graph writes results to the same tensors in every run. */
const views = /* @__PURE__ */ new WeakMap<Tensor, Tensor>();

/** A view of a tensor whose storage starts with its first element. */
export function inPlace(tensor: Tensor): Tensor {
  const known = views.get(tensor);
  if (known) return known;
  const { data, offset, dtype, shape, strides } = tensor;
  const own = partOf(data, offset, offset + elementsSpanned({ shape, strides }));
  const view = Tensor.wrap(own, { dtype, shape, strides });
  views.set(tensor, view);
  return view;
}

/**
 * Zeroes the results that have gaps if a pass may leave rows of them unwritten. The pass itself zeroes
 * results without gaps.
 */
export function zeroUnwritten(
  { lengthsQ, lengthsKv, Sq }: AttentionProblem,
  results: Readonly<Partial<Record<string, Tensor>>>,
): void {
  if (lengthsQ === 'full' && lengthsKv === 'full' && Sq > 0) return;
  for (const result of Object.values(results)) {
    if (!result || result.isContiguous) continue;
    const strides = result.shape.map(() => 0);
    copyStrided(result.shape, { data: new Float32Array(1), offset: 0, strides }, result);
  }
}

/** The tensors that are given, with `f` applied to each. */
export function mapped<K extends string>(
  tensors: Readonly<Record<K, Tensor>>,
  f: (tensor: Tensor) => Tensor,
): Readonly<Record<K, Tensor>>;
export function mapped<K extends string>(
  tensors: Readonly<Partial<Record<K, Tensor>>>,
  f: (tensor: Tensor) => Tensor,
): Readonly<Partial<Record<K, Tensor>>>;
export function mapped<K extends string>(
  tensors: Readonly<Partial<Record<K, Tensor>>>,
  f: (tensor: Tensor) => Tensor,
): Readonly<Partial<Record<K, Tensor>>> {
  const given: Partial<Record<K, Tensor>> = {};
  for (const name of Object.keys(tensors) as K[]) {
    const tensor = tensors[name];
    if (tensor) given[name] = f(tensor);
  }
  return given;
}
