import { sameShape } from '@tilewise/core';
import { add } from '@tilewise/core/expr';
import { input } from '@tilewise/core/primitive';
import type { Lowering, Value } from '../ir/program/lowering.ts';
import { defineOperations } from '../ir/schema/define.ts';
import type { GradientCall, InputGradient, Operation } from '../ir/schema/operation.ts';
import { resultRule } from '../ir/schema/result-rule.ts';
import type { ResolvedAttributes } from '../ir/schema/schema.ts';
import type { LogicalShape, LogicalTensor } from '../ir/tensor/logical-tensor.ts';
import { agree, broadcastShapes, broadcastTo, refuse } from '../ir/tensor/shape.ts';

export const matmulSchemas = {
  MatMul: {
    inputs: 'src:T weights:T bias?:T',
    outputs: 'dst:T1',
    attributes: {
      transpose_a: { type: 'bool', default: false },
      transpose_b: { type: 'bool', default: false },
      accumulation_mode: {
        type: 'string',
        default: 'strict',
        among: ['strict', 'relaxed', 'any', 'f32', 's32', 'f16'],
      },
    },
  },
} as const;

type Attributes = ResolvedAttributes<typeof matmulSchemas.MatMul.attributes>;

export const matmulOperations: readonly Operation[] = defineOperations(matmulSchemas, {
  /**
   * The matrix product over the last two dimensions; the other dimensions broadcast. A tensor of rank 1 is a
   * row if it is src and a column if it is weights.
   */
  MatMul: {
    constraint: ({ inputs: [src], outputs: [dst] }) => resultRule(src, dst, 'dst'),
    gradient: matmulGradient,
    infer: ({ attributes, inputs: [a, b, ...bias] }) => [
      broadcastTo(inferMatMul(attributes, a.shape, b.shape), bias),
    ],
    lower: (lowering, { attributes }) => {
      const [first, second, bias] = lowering.inputs;
      const [dst] = lowering.outputs;
      const a = asMatrix(lowering, first, 'row', attributes.transpose_a);
      const b = asMatrix(lowering, second, 'column', attributes.transpose_b);
      const product = bias ? lowering.temporary(dst.desc.shape) : dst;
      const lacks = { row: isVector(first), column: isVector(second) };
      lowering.matmul(a, b, withMatrixAxes(lowering, product, lacks));
      if (bias) lowering.map(add(input(0), input(1)), [product, bias], dst);
    },
  },
});

/**
 * dA = dC·Bᵀ and dB = Aᵀ·dC. The transposes are attributes of these products, and a vector is treated as a
 * matrix with one row or column.
 */
function matmulGradient(call: GradientCall<Attributes>): readonly (InputGradient | null)[] {
  const { builder, attributes, inputs, outputs, dy } = call;
  const [shapeA, shapeB] = inputs.map(t => builder.shapeOf(t));
  const [isRow, isColumn] = [shapeA.length === 1, shapeB.length === 1];
  const matrixA = isRow ? [1, ...shapeA] : shapeA;
  const matrixB = isColumn ? [...shapeB, 1] : shapeB;
  const ta = !isRow && attributes.transpose_a;
  const tb = !isColumn && attributes.transpose_b;
  const reshape = (t: LogicalTensor, from: readonly number[], to: readonly number[]): LogicalTensor =>
    sameShape(from, to) ? t : builder.reshape(t, to);

  const shapeC = builder.shapeOf(outputs[0]);
  const batch = shapeC.slice(0, shapeC.length - (isRow ? 0 : 1) - (isColumn ? 0 : 1));
  const matrixC = [...batch, matrixA.at(ta ? -1 : -2) ?? 1, matrixB.at(tb ? -2 : -1) ?? 1];
  const dC = reshape(builder.cast(dy, inputs[0].dtype), shapeC, matrixC);
  // A recomputed operand may be f32 although forward stored it in 16 bits.
  const operand = (n: number): LogicalTensor => builder.cast(builder.forward(inputs[n]), inputs[n].dtype);
  const a = (): LogicalTensor => reshape(operand(0), shapeA, matrixA);
  const b = (): LogicalTensor => reshape(operand(1), shapeB, matrixB);
  const product = (
    n: 0 | 1,
    x: LogicalTensor,
    y: LogicalTensor,
    transpose_a: boolean,
    transpose_b: boolean,
  ): LogicalTensor => {
    const [shape, matrix] = n === 0 ? [shapeA, matrixA] : [shapeB, matrixB];
    const dtype = builder.isInput(inputs[n]) ? inputs[n].dtype : 'f32';
    const full = builder.op('MatMul', [x, y], { transpose_a, transpose_b }, { dtype });
    return reshape(builder.reduceTo(full, [...batch, ...matrix.slice(-2)], matrix), matrix, shape);
  };
  return [
    () => (ta ? product(0, b(), dC, tb, true) : product(0, dC, b(), false, !tb)),
    () => (tb ? product(1, dC, a(), true, ta) : product(1, a(), dC, !ta, false)),
    inputs.length > 2 ? () => builder.reduceTo(dy, shapeC, builder.shapeOf(inputs[2])) : null,
  ];
}

function inferMatMul(attributes: Attributes, a: LogicalShape, b: LogicalShape): LogicalShape {
  if (a === null || b === null) return null;
  if (a.length === 0 || b.length === 0) refuse('takes no scalars');
  const left = a.length === 1 ? [1, a[0]] : swapped(a, attributes.transpose_a);
  const right = b.length === 1 ? [b[0], 1] : swapped(b, attributes.transpose_b);
  const [m, columns] = left.slice(-2);
  const [rows, n] = right.slice(-2);
  if (!agree([columns], [rows])) refuse(`cannot multiply [${a}] by [${b}]: ${columns} columns, ${rows} rows`);
  const batch = broadcastShapes(left.slice(0, -2), right.slice(0, -2)) ?? [];
  return [...batch, ...(a.length === 1 ? [] : [m]), ...(b.length === 1 ? [] : [n])];
}

function swapped(shape: readonly number[], swap: boolean): readonly number[] {
  const [m, n] = shape.slice(-2);
  return swap ? [...shape.slice(0, -2), n, m] : shape;
}

const isVector = ({ desc }: Value): boolean => desc.shape.length === 1;

/** An operand as a matrix: a vector is the row of the first operand, or the column of the second. */
function asMatrix(lowering: Lowering, value: Value, vectorAs: 'row' | 'column', swap: boolean): Value {
  const isRow = vectorAs === 'row';
  if (isVector(value)) return withMatrixAxes(lowering, value, { row: isRow, column: !isRow });
  return swap ? lowering.transposed(value) : value;
}

/** A tensor with an axis of rows or of columns, of extent 1, if it lacks this axis because of a vector. */
function withMatrixAxes(
  lowering: Lowering,
  tensor: Value,
  lacks: Readonly<Record<'row' | 'column', boolean>>,
): Value {
  if (!lacks.row && !lacks.column) return tensor;
  const insert = (list: readonly number[], filler: number): number[] => {
    const filled = [...list];
    if (lacks.column) filled.push(filler);
    if (lacks.row) filled.splice(-1, 0, filler);
    return filled;
  };
  const { shape, strides } = tensor.desc;
  return lowering.view(tensor, insert(shape, 1), insert(strides, 0));
}
