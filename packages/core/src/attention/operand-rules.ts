import { InvalidArgumentError, InvalidDTypeError } from '../errors.ts';
import { lengthsFromCumulative } from '../layout/cumulative-lengths.ts';
import type { DType } from '../tensor/dtype.ts';
import { Tensor, type TensorDesc } from '../tensor/tensor.ts';
import type { AttentionProblem, OperandDesc, Operands } from './problem.ts';

const listDTypes: readonly (readonly [keyof Operands<unknown>, readonly DType[]])[] = [
  ['seqLensQ', ['i32', 'u32']],
  ['seqLensKv', ['i32', 'u32']],
  ['cuSeqLensQ', ['i32', 'u32']],
  ['cuSeqLensKv', ['i32', 'u32']],
  ['cuPagesK', ['i32', 'u32']],
  ['cuPagesV', ['i32', 'u32']],
  ['alibi', ['f32']],
  ['sink', ['f32']],
];

/**
 * Checks the dtypes of the operands that the problem does not describe.
 * @throws InvalidDTypeError naming the option.
 */
export function validateListDTypes(lists: Partial<Operands<TensorDesc>>): void {
  for (const [name, allowed] of listDTypes) {
    const t = lists[name] as TensorDesc | undefined;
    if (t && !allowed.includes(t.dtype))
      throw new InvalidDTypeError(name, `must be ${allowed.join(' or ')}, got ${t.dtype}`);
  }
}

/**
 * Checks what only the data can tell: lengths within their extents, page numbers within the container. Tensors that are
 * not on the host cannot be read and are taken as they are.
 * @throws InvalidArgumentError naming the option.
 */
export function validateOperands<T extends TensorDesc>(
  problem: AttentionProblem,
  operands: Operands<T | Tensor>,
): void {
  checkCumulative('cuSeqLensQ', operands.cuSeqLensQ, problem.q.shape[2], problem.Sq);
  checkCumulative('cuSeqLensKv', operands.cuSeqLensKv, problem.k.shape[2], problem.Skv);
  checkLengths('seqLensQ', operands.seqLensQ, problem.Sq, operands.cuSeqLensQ);
  checkLengths('seqLensKv', operands.seqLensKv, problem.Skv, operands.cuSeqLensKv);
  const { pageTableK, pageTableV, cuPagesK, cuPagesV, seqLensKv } = operands;
  checkPages('K', pageTableK, problem.k, cuPagesK, seqLensKv);
  checkPages('V', pageTableV, problem.v, cuPagesV, seqLensKv);
}

/** Lengths within the extent; of packed sequences within their own span, as the next one starts there. */
function checkLengths(
  argument: string,
  lengths: TensorDesc | undefined,
  extent: number,
  cumulative: TensorDesc | undefined,
): void {
  if (!(lengths instanceof Tensor)) return;
  lengths.toFloat64().forEach((n, b) => {
    const span = cumulative instanceof Tensor ? cumulative.get(b + 1) - cumulative.get(b) : extent;
    if (n < 0 || n > span)
      throw new InvalidArgumentError(
        argument,
        `must hold lengths in [0, ${span}], got ${n} for sequence ${b}`,
      );
  });
}

function checkCumulative(
  argument: string,
  cumulative: TensorDesc | undefined,
  tokens: number,
  longest: number,
): void {
  if (!(cumulative instanceof Tensor)) return;
  const lengths = lengthsFromCumulative(cumulative, argument);
  const tooLong = lengths.find(n => n > longest);
  if (tooLong !== undefined)
    throw new InvalidArgumentError(
      argument,
      `holds a sequence of ${tooLong}, longer than the stated maximum ${longest}`,
    );
  const last = cumulative.get(lengths.length);
  if (last > tokens)
    throw new InvalidArgumentError(argument, `must end within the ${tokens} packed tokens, got ${last}`);
}

function checkPages(
  name: 'K' | 'V',
  table: TensorDesc | undefined,
  { page, shape }: OperandDesc,
  cuPages: TensorDesc | undefined,
  lengths: TensorDesc | undefined,
): void {
  if (!page) return;
  const isPacked = page.table.shape.length === 1;
  if (isPacked && !(cuPages instanceof Tensor)) return;
  const counts =
    cuPages instanceof Tensor ? checkPageCounts(`cuPages${name}`, cuPages, page.table.shape[0]) : null;
  if (!(lengths instanceof Tensor)) return;
  let first = 0;
  for (let b = 0; b < lengths.shape[0]; b++) {
    const used = Math.ceil(lengths.get(b) / page.size);
    if (counts && counts[b] < used) {
      throw new InvalidArgumentError(
        `cuPages${name}`,
        `must give sequence ${b} at least ${used} pages for its ${lengths.get(b)} keys, got ${counts[b]}`,
      );
    }
    for (let n = 0; n < used && table instanceof Tensor; n++) {
      const block = isPacked ? table.get(first + n) : table.get(b, n);
      if (block < 0 || block >= shape[0]) {
        throw new InvalidArgumentError(
          `pageTable${name}`,
          `must hold blocks in [0, ${shape[0]}) where keys are used, got ${block} for sequence ${b}, page ${n}`,
        );
      }
    }
    first += counts?.[b] ?? 0;
  }
}

/** How many pages of a packed table each sequence has. */
function checkPageCounts(argument: string, cuPages: Tensor, pages: number): number[] {
  const counts = lengthsFromCumulative(cuPages, argument);
  const last = cuPages.get(counts.length);
  if (last > pages) {
    throw new InvalidArgumentError(argument, `must end within the ${pages} pages of the table, got ${last}`);
  }
  return counts;
}
