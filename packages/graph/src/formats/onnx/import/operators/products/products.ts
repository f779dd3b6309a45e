import type { LogicalTensor } from '../../../../../ir/tensor/logical-tensor.ts';
import { broadcastShapes } from '../../../../../ir/tensor/shape.ts';
import { type NodeCall, type OnnxOperator, result, type SingleOperator } from '../../node-call.ts';
import { einsum } from './einsum.ts';

/** The shape of a matrix product, as in NumPy. */
export function productShape(call: NodeCall, a: readonly number[], b: readonly number[]): number[] {
  const [rows, inner] = a.length === 1 ? [1, a[0]] : a.slice(-2);
  const [depth, columns] = b.length === 1 ? [b[0], 1] : b.slice(-2);
  if (a.length === 0 || b.length === 0 || inner !== depth) call.fail(`cannot multiply [${a}] by [${b}]`);
  const batch = broadcastShapes(a.slice(0, -2), b.slice(0, -2)) ?? [];
  return [...batch, ...(a.length === 1 ? [] : [rows ?? 1]), ...(b.length === 1 ? [] : [columns ?? 1])];
}

const matmul: OnnxOperator = call => {
  const [a, b] = [call.input(0), call.input(1)];
  return result({ type: a.type, shape: productShape(call, a.shape, b.shape) }, () =>
    call.draft.op('MatMul', [a.tensor(), b.tensor()]),
  );
};

/** The attributes that say which matrices are transposed. */
const flagsOf = (call: NodeCall) => ({
  transpose_a: call.flag('transA', false),
  transpose_b: call.flag('transB', false),
});

/** alpha · A·B. */
function scaledProduct(
  call: NodeCall,
  operands: readonly [LogicalTensor, LogicalTensor],
  flags: ReturnType<typeof flagsOf>,
): LogicalTensor {
  return scaled(call, call.draft.op('MatMul', operands, flags), call.float('alpha', 1));
}

/** An operand of `FusedMatMul` as A·B needs it, and whether its last two dimensions are then transposed. */
interface FusedOperand {
  readonly shape: readonly number[];
  readonly tensor: () => LogicalTensor;
  readonly isTransposed: boolean;
}

/** Input n, whose first dimension is moved before the last one if the attribute `transBatch…` says so. */
function fusedOperand(call: NodeCall, n: 0 | 1): FusedOperand {
  const { shape, tensor } = call.input(n);
  const name = 'AB'.charAt(n);
  const last = shape.length - 1;
  // A tensor of rank 1 is already a row or a column, so it is not transposed.
  const isTransposed = call.flag(`trans${name}`, false) && last > 0;
  if (!call.flag(`transBatch${name}`, false) || last < 2) return { shape, tensor, isTransposed };
  const order = [...shape.keys()].slice(1, last).concat(0, last);
  const moved = (): LogicalTensor => call.draft.transpose(tensor(), order);
  return { shape: order.map(d => shape[d]), tensor: moved, isTransposed };
}

/** com.microsoft's alpha · A·B, where A and B may be transposed. */
export const fusedMatMul: OnnxOperator = call => {
  const [a, b] = [fusedOperand(call, 0), fusedOperand(call, 1)];
  const factorShape = ({ shape, isTransposed }: FusedOperand): number[] =>
    isTransposed ? [...shape.slice(0, -2), ...shape.slice(-2).reverse()] : [...shape];
  const shape = productShape(call, factorShape(a), factorShape(b));
  return result({ type: call.input(0).type, shape }, () =>
    scaledProduct(call, [a.tensor(), b.tensor()], {
      transpose_a: a.isTransposed,
      transpose_b: b.isTransposed,
    }),
  );
};

function scaled({ draft }: NodeCall, tensor: LogicalTensor, factor: number): LogicalTensor {
  return factor === 1 ? tensor : draft.op('Multiply', [tensor, draft.scalar(factor, tensor.dtype)]);
}

/** alpha · A·B + beta · C, with A and B transposed if the attributes say so. */
export const gemm: SingleOperator = call => {
  const [a, b] = [call.input(0), call.input(1)];
  const flags = flagsOf(call);
  const rows = a.shape[flags.transpose_a ? 1 : 0] ?? 0;
  const columns = b.shape[flags.transpose_b ? 0 : 1] ?? 0;
  return result({ type: a.type, shape: [rows, columns] }, () => {
    const product = scaledProduct(call, [a.tensor(), b.tensor()], flags);
    const beta = call.float('beta', 1);
    const c = call.optional(2);
    return c && beta !== 0 ? call.draft.op('Add', [product, scaled(call, c.tensor(), beta)]) : product;
  });
};

/** Matrix products. */
export const productOperators: Readonly<Record<string, OnnxOperator>> = {
  Einsum: einsum,
  FusedMatMul: fusedMatMul,
  Gemm: gemm,
  MatMul: matmul,
};
