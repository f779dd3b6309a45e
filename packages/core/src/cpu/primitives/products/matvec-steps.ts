import { input, inputName } from '../../../primitive/element.ts';
import type { DType } from '../../../tensor/dtype/dtype.ts';
import type { Tensor, TensorDesc } from '../../../tensor/tensor.ts';
import type { Kernels } from '../../kernels/interface/kernels.ts';
import { formatOf } from '../../loops/format.ts';
import { type LoopPlan, planLoop } from '../../loops/plan/plan-loop.ts';
import { readable } from '../../operands/resident.ts';
import { storageCodes } from '../../operands/stored-lines.ts';
import { type Step, undividedStep } from '../../steps/step.ts';
import type { SharedFrom } from '../../team/sharing.ts';
import { taskKinds } from '../../team/tasks.ts';
import { loopStep } from '../loops/loop-step.ts';
import type { MatrixBatch, MatrixStrides } from './matrix-batch.ts';
import { partsOfSums } from './matvec.ts';

/** In multiplications, which take as long as B is read. */
const sharedFrom: SharedFrom = { awake: 2 ** 16, asleep: 2 ** 19 };
/** The maximum number of tasks per thread, so that threads end at about the same time. */
const TASKS_EACH = 4;
/**
 * Tasks begin at multiples of this number of columns. The kernels compute the columns after the last multiple
 * by other code, and so they are the same columns in any division.
 */
const COLUMNS = 64;

/** The steps of a product, for operands and the address of the result's first element. */
type StepsOfProduct = (kernels: Kernels, operands: readonly Tensor[], result: number) => readonly Step[];

/**
 * The steps of a product of few rows, see `hasFewRows`: each task computes some columns of all rows, or of a
 * part of their sums. Rows of A and C that are not contiguous f32 are copied before and after. Null if the
 * rows are not evenly spaced.
 */
export function matVecSteps(
  { batch, m, n, k, ...strides }: MatrixBatch,
  [a, b]: readonly TensorDesc[],
  c: TensorDesc,
): StepsOfProduct | null {
  if (batch.length > 0) return null;
  const isTransposed = strides.b.row === 1 && strides.b.column !== 1;
  const { parts, depth } = partsOfSums({ n, k }, isTransposed);
  const lines = (width: number): Matrix => ({ row: width, column: 1 });
  const isInPlace = ({ dtype }: TensorDesc, { column }: Matrix): boolean => dtype === 'f32' && column === 1;
  // Parts of the sums of several rows are added as one row.
  const fitsParts = parts === 1 || m === 1 || strides.c.row === n;
  const fromA = isInPlace(a, strides.a) ? null : copyPlan([m, k], a.dtype, strides.a, 'f32', lines(k));
  const toC =
    isInPlace(c, strides.c) && fitsParts ? null : copyPlan([m, n], 'f32', lines(n), c.dtype, strides.c);
  const code = storageCodes[b.dtype] ?? 0;

  return (kernels, [rows, matrix], result) => {
    const { memory } = kernels;
    const { BYTES_PER_ELEMENT: bytes } = matrix.data;
    const ld = bytes * (isTransposed ? strides.b.column : strides.b.row);
    const at = readable(memory, matrix);
    const x = fromA ? memory.scratch(m * k).at : readable(memory, rows);
    const ldx = 4 * (fromA ? k : strides.a.row);
    const total = toC ? memory.scratch(m * n).at : result;
    const sums = parts > 1 ? memory.scratch(parts * m * n).at : total;
    const ldSums = 4 * (parts > 1 || toC ? n : strides.c.row);
    const product: Step = {
      ...{ size: m * n * k, sharedFrom, isRepeatable: true },
      tasks(threads) {
        const count = threads === 1 ? 1 : Math.ceil((threads * (isTransposed ? TASKS_EACH : 1)) / parts);
        const width = Math.ceil(n / count / COLUMNS) * COLUMNS;
        const ranges = Math.ceil(n / width);
        return Array.from({ length: parts * ranges }, (_, task) => {
          const [part, j] = [Math.floor(task / ranges), (task % ranges) * width];
          const d = part * depth;
          const extents = [m, Math.min(width, n - j), Math.min(depth, k - d)];
          const from = at + bytes * (d * strides.b.row + j * strides.b.column);
          const to = sums + 4 * (part * m * n + j);
          return [
            ...[taskKinds.matVec, Number(isTransposed), code, ...extents],
            ...[x + 4 * d, ldx, from, ld, to, ldSums],
          ];
        });
      },
    };
    // The sum of the parts is the product of a row of ones with them.
    const adding = undividedStep(allocate => {
      const ones = allocate(parts);
      memory.f32.fill(1, ones >>> 2, (ones >>> 2) + parts);
      return [taskKinds.matVec, 0, 0, 1, m * n, parts, ones, 0, sums, 4 * m * n, total, 0];
    });
    return [
      ...(fromA ? [loopStep(fromA, kernels, x, [readable(memory, rows)])] : []),
      product,
      ...(parts > 1 ? [adding] : []),
      ...(toC ? [loopStep(toC, kernels, result, [total])] : []),
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
