import { input, inputName } from '../../../primitive/element.ts';
import type { DType } from '../../../tensor/dtype/dtype.ts';
import type { Tensor, TensorDesc } from '../../../tensor/tensor.ts';
import type { Kernels } from '../../kernels/interface/kernels.ts';
import { formatOf } from '../../loops/format.ts';
import { type LoopPlan, planLoop } from '../../loops/plan/plan-loop.ts';
import { readable } from '../../operands/resident.ts';
import { storageCodes } from '../../operands/stored-lines.ts';
import type { Step } from '../../steps/step.ts';
import type { SharedFrom } from '../../team/sharing.ts';
import { taskKinds } from '../../team/tasks.ts';
import { loopStep } from '../loops/loop-step.ts';
import type { MatrixBatch, MatrixStrides } from './matrix-batch.ts';

/** In multiplications, which take as long as B is read. */
const sharedFrom: SharedFrom = { awake: 2 ** 16, asleep: 2 ** 19 };
/**
 * The maximum number of tasks per thread, so that threads end at about the same time. If the rows of B are
 * contiguous, a task reads a part of each row, and the memory is read fastest in long parts.
 */
const TASKS_EACH = { columns: 4, rows: 1 } as const;
/**
 * Tasks begin at multiples of this number of columns. The kernels compute the columns after the last multiple
 * by other code, and so they are the same columns in any division.
 */
const COLUMNS = 64;

/** The steps of a product, for operands and the address of the result's first element. */
type StepsOfProduct = (kernels: Kernels, operands: readonly Tensor[], result: number) => readonly Step[];

/**
 * The steps of a product of few rows, see `hasFewRows`: each task computes some columns of all rows. Rows of
 * A and C that are not contiguous f32 are copied before and after. Null if the rows are not evenly spaced.
 */
export function matVecSteps(
  { batch, m, n, k, ...strides }: MatrixBatch,
  [a, b]: readonly TensorDesc[],
  c: TensorDesc,
): StepsOfProduct | null {
  if (batch.length > 0) return null;
  const isInPlace = ({ dtype }: TensorDesc, of: Matrix): boolean => dtype === 'f32' && of.column === 1;
  const lines = (width: number): Matrix => ({ row: width, column: 1 });
  const fromA = isInPlace(a, strides.a) ? null : copyPlan([m, k], a.dtype, strides.a, 'f32', lines(k));
  const toC = isInPlace(c, strides.c) ? null : copyPlan([m, n], 'f32', lines(n), c.dtype, strides.c);
  const isTransposed = strides.b.row === 1 && strides.b.column !== 1;
  const code = storageCodes[b.dtype] ?? 0;

  return (kernels, [rows, matrix], result) => {
    const { memory } = kernels;
    const { BYTES_PER_ELEMENT: bytes } = matrix.data;
    const ld = bytes * (isTransposed ? strides.b.column : strides.b.row);
    const [at, step] = [readable(memory, matrix), isTransposed ? ld : bytes];
    const x = fromA ? memory.scratch(m * k).at : readable(memory, rows);
    const to = toC ? memory.scratch(m * n).at : result;
    const ldx = 4 * (fromA ? k : strides.a.row);
    const ldTo = 4 * (toC ? n : strides.c.row);
    const product: Step = {
      ...{ size: m * n * k, sharedFrom, isRepeatable: true },
      tasks(threads) {
        const count = threads === 1 ? 1 : threads * TASKS_EACH[isTransposed ? 'columns' : 'rows'];
        const width = Math.ceil(n / count / COLUMNS) * COLUMNS;
        return Array.from({ length: Math.ceil(n / width) }, (_, task) => {
          const j = task * width;
          const extents = [m, Math.min(width, n - j), k];
          return [
            ...[taskKinds.matVec, Number(isTransposed), code, ...extents, x, ldx],
            ...[at + j * step, ld, to + 4 * j, ldTo],
          ];
        });
      },
    };
    return [
      ...(fromA ? [loopStep(fromA, kernels, x, [readable(memory, rows)])] : []),
      product,
      ...(toC ? [loopStep(toC, kernels, result, [to])] : []),
    ];
  };
}

type Matrix = Pick<MatrixStrides, 'row' | 'column'>;

/** The loop that copies a matrix to another dtype and other strides. */
function copyPlan(
  shape: readonly number[],
  dtype: DType,
  from: Matrix,
  toDtype: DType,
  to: Matrix,
): LoopPlan {
  const source = { name: inputName(0), format: formatOf(dtype), shape, strides: [from.row, from.column] };
  const target = { format: formatOf(toDtype) ?? 'f32', strides: [to.row, to.column] };
  const plan = planLoop(input(0), [source], shape, { kind: 'store', ...target });
  if (!plan) throw new Error(`no loop copies ${dtype} to ${toDtype}`);
  return plan;
}
