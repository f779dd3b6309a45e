import { elementCount, type TensorDesc } from '@tilewise/core';
import type { PrimitiveStep, Program, ProgramValue, Step } from '../../ir/program/program.ts';
import { viewStrides } from '../../ir/program/views.ts';
import { usersOf } from './placed-step.ts';

/**
 * Computes the sum over a batch of matrix products, such as the gradient of a weight, as one product: Σ_b
 * A_b·B_b = (A_1 A_2 …)·(B_1; B_2; …).
 */
export function foldBatchSums(program: Program): Program {
  const values = [...program.values];
  const users = usersOf(program);
  const products = new Map<number, PrimitiveStep>();
  for (const step of program.steps)
    if (step.kind === 'primitive' && step.primitive.kind === 'matmul') products.set(step.outputs[0], step);
  const folded = new Set<Step>();
  const steps = program.steps.map(step => {
    if (step.kind !== 'primitive' || !isPlainSum(step)) return step;
    const [input] = step.inputs;
    const product = products.get(input);
    // The product that writes the batch and the sum must be its only users.
    if (!product || values[input].kind !== 'temporary' || users.get(input)?.size !== 2) return step;
    const made = foldedProduct(product, step, values);
    if (made) folded.add(product);
    return made ?? step;
  });
  return { values, steps: steps.filter(step => !folded.has(step)) };
}

/** Whether a step is the sum of one tensor over some dimensions. */
function isPlainSum({ primitive, inputs }: PrimitiveStep): boolean {
  if (primitive.kind !== 'reduce' || primitive.op !== 'sum' || inputs.length !== 1) return false;
  const { element, result } = primitive;
  return element.kind === 'load' && element.index.length === 0 && result.kind === 'load';
}

/**
 * The one product that equals the sum over a batch of products; null if strides cannot place the matrices
 * side by side.
 */
function foldedProduct(
  { primitive, inputs: [a, b] }: PrimitiveStep,
  { primitive: sum, outputs: [output] }: PrimitiveStep,
  values: ProgramValue[],
): PrimitiveStep | null {
  if (sum.kind !== 'reduce') return null;
  const batch = sum.domain.length - 2;
  const isWhole = sum.domain.every((n, d) => n === 1 || sum.axes.includes(d) === d < batch);
  const [A, B] = [values[a].desc, values[b].desc];
  const isBatched = [A, B].every(({ shape }) =>
    sum.domain.slice(0, batch).every((n, d) => shape.length === batch + 2 && shape[d] === n),
  );
  if (!isWhole || !isBatched) return null;
  const [M, N] = sum.domain.slice(-2);
  const rowsFirst = [batch, ...A.shape.keys()].filter((d, n, all) => all.indexOf(d) === n);
  const depth = elementCount(A.shape) / M;
  const wide = flattened(permutedDesc(A, rowsFirst), [M, depth]);
  const tall = flattened(B, [depth, N]);
  if (!wide || !tall) return null;
  const view = (value: number, desc: TensorDesc): number => {
    const own = values[value];
    const [of, offset] = own.kind === 'view' ? [own.of, own.offset] : [value, undefined];
    return values.push({ kind: 'view', of, desc, ...(offset && { offset }) }) - 1;
  };
  const { dtype, shape, strides } = values[output].desc;
  const target = { dtype, shape: shape.slice(-2), strides: strides.slice(-2) };
  return {
    ...{ kind: 'primitive', primitive },
    ...{ inputs: [view(a, wide), view(b, tall)], outputs: [view(output, target)] },
  };
}

function permutedDesc({ dtype, shape, strides }: TensorDesc, order: readonly number[]): TensorDesc {
  return { dtype, shape: order.map(d => shape[d]), strides: order.map(d => strides[d]) };
}

function flattened(desc: TensorDesc, shape: readonly number[]): TensorDesc | null {
  const strides = viewStrides(desc, shape);
  return strides && { dtype: desc.dtype, shape, strides };
}
