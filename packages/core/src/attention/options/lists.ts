import { describeValue, InvalidArgumentError, InvalidDTypeError, InvalidShapeError } from '../../errors.ts';
import { checkTensor } from '../../tensor/check-tensor.ts';
import { type HostArray, hostList } from '../../tensor/host-array.ts';
import type { TensorDesc } from '../../tensor/tensor.ts';
import type { OperandName, OperandRow } from '../operands/operand.ts';
import { operandTable, raggedNames } from '../operands/table.ts';
import type { SdpaBackwardOptions, SdpaOptions } from '../options/options.ts';
import type { AttentionProblem, OperandDesc, Operands } from '../problem/problem.ts';
import type { SequenceLists } from './sequences.ts';

/**
 * A small list (lengths, slopes, sinks) given as numbers or as a tensor: numbers become a host array.
 * @throws InvalidArgumentError for numbers that the dtype does not hold.
 */
export function listOperand<T extends TensorDesc>(
  argument: string,
  value: readonly number[] | T | undefined,
  dtype: 'i32' | 'f32',
): T | HostArray | undefined {
  if (value === undefined) return undefined;
  if (isNumberList(value)) {
    const isValid = dtype === 'i32' ? isI32 : Number.isFinite;
    const at = value.findIndex(x => !isValid(x));
    if (at >= 0) {
      throw new InvalidArgumentError(
        argument,
        `must hold ${dtype === 'i32' ? '32-bit integers' : 'finite numbers'}, got ${describeValue(value[at])} at ${at}`,
      );
    }
    return hostList(value, dtype);
  }
  checkTensor(argument, value);
  return value;
}

/** False of a bigint too, as a BigInt64Array holds them. */
function isI32(x: number): boolean {
  return Number.isInteger(x) && (x | 0) === x;
}

function isNumberList(value: unknown): value is readonly number[] {
  return Array.isArray(value) || (ArrayBuffer.isView(value) && !(value instanceof DataView));
}

/**
 * Lengths, cumulative lengths and ragged offsets of a call; those that are given.
 * @throws as `listOperand`.
 */
export function sequenceLists<T extends TensorDesc>(
  options: SdpaOptions<T> & Pick<SdpaBackwardOptions<T>, 'raggedOffsets'>,
): SequenceLists<T | HostArray> {
  const { raggedOffsets = {} } = options;
  const plain = (['seqLensQ', 'seqLensKv', 'cuSeqLensQ', 'cuSeqLensKv'] as const).map(
    name => [name, listOperand(name, options[name], 'i32')] as const,
  );
  const ragged = raggedNames.map(name => {
    const argument = `raggedOffsets.${name}` as const;
    return [argument, listOperand(argument, raggedOffsets[name], 'i32')] as const;
  });
  return Object.fromEntries([...plain, ...ragged].filter(([, list]) => list !== undefined));
}

type Extents = Pick<AttentionProblem, 'B' | 'Hq'>;

/** @throws InvalidDTypeError naming the list. */
export function checkListDTypes(lists: Partial<Operands<TensorDesc>>): void {
  for (const [name, { dtypes }, list] of given(lists)) {
    if (dtypes && !dtypes.dtypes.includes(list.dtype))
      throw new InvalidDTypeError(name, `must be ${dtypes.what}, got ${list.dtype}`);
  }
}

/** @throws InvalidShapeError for a list that is no vector of the length that it must have. */
export function checkListShapes(lists: Partial<Operands<TensorDesc>>, extents: Extents): void {
  for (const [name, row, { shape }] of given(lists)) {
    const length = row.length?.(extents);
    if (shape.length !== 1 || shape[0] !== length)
      throw new InvalidShapeError(name, `must have shape [${length}], got [${shape}]`);
  }
}

/** The lists of a call with their rows of the operand table, in the order of the table. */
function given(lists: Partial<Operands<TensorDesc>>): (readonly [OperandName, OperandRow, TensorDesc])[] {
  return (Object.keys(operandTable) as OperandName[]).flatMap(name => {
    const row = operandTable[name];
    const list = (lists as Readonly<Record<string, TensorDesc | undefined>>)[name];
    return row.form === 'list' && list ? [[name, row, list] as const] : [];
  });
}

/**
 * A packed page table and the counts of its pages come together.
 * @throws InvalidArgumentError when one is without the other.
 */
export function checkPageCounts(
  name: 'K' | 'V',
  { page }: OperandDesc,
  cuPages: TensorDesc | undefined,
): void {
  const isPacked = page?.table.shape.length === 1;
  if (isPacked === (cuPages !== undefined)) return;
  throw new InvalidArgumentError(
    `cuPages${name}`,
    isPacked
      ? `must be given: pageTable${name} has rank 1`
      : `is for a pageTable${name} of rank 1 (packed)${page ? `, got shape [${page.table.shape}]` : ''}`,
  );
}
