import { describeValue, InvalidArgumentError, InvalidDTypeError, InvalidShapeError } from '../../errors.ts';
import { checkTensor } from '../../tensor/checks/check-tensor.ts';
import { dtypeText } from '../../tensor/checks/dtype-text.ts';
import { type HostArray, hostList } from '../../tensor/host-array.ts';
import type { TensorDesc } from '../../tensor/tensor.ts';
import { isList } from '../../tensor/tensor-desc.ts';
import { operandTable } from '../operands/table.ts';
import type { AttentionProblem, ListName, OperandDesc } from '../problem/problem.ts';
import type { SdpaOptions } from './options.ts';

/** The lists that a call gives, by name. */
export type Lists<T> = Readonly<Partial<Record<ListName, T>>>;

const listNames = /* @__PURE__ */ Object.keys(operandTable).filter(
  name => operandTable[name as ListName].form === 'list',
) as ListName[];

/**
 * The lists of a call (lengths, offsets, slopes, sinks). Arrays of numbers become host arrays. `alibi: true`
 * is left out, because the number of slopes is not known yet.
 * @throws InvalidArgumentError for a value that is not a list, and for numbers that the list's dtype cannot
 * represent.
 */
export function listOperands<T extends TensorDesc>(options: SdpaOptions<T>): Lists<T | HostArray> {
  const lists: Partial<Record<ListName, T | HostArray>> = {};
  for (const name of listNames) {
    const value = name.split('.').reduce<unknown>((at, key) => Object(at)[key], options);
    if (value === undefined || (name === 'alibi' && typeof value === 'boolean')) continue;
    lists[name] = isList(value) ? numbersOf(name, value as readonly number[]) : (value as T);
    checkTensor(name, lists[name], 'an array or a tensor');
  }
  return lists;
}

function numbersOf(name: ListName, values: readonly number[]): HostArray {
  const isFloat = operandTable[name].dtypes?.[0] === 'f32';
  // The values of a BigInt64Array are not numbers.
  const isValid = (x: number): boolean =>
    typeof x === 'number' && (isFloat ? Number.isFinite(Math.fround(x)) : (x | 0) === x);
  const at = values.findIndex(x => !isValid(x));
  if (at >= 0) {
    const what = isFloat ? 'finite numbers' : '32-bit integers';
    throw new InvalidArgumentError(name, `must hold ${what}, got ${describeValue(values[at])} at ${at}`);
  }
  return hostList(values, isFloat ? 'f32' : 'i32');
}

/**
 * Checks the dtype and length of each list against the operand table.
 * @throws InvalidDTypeError or InvalidShapeError for a list of another dtype or length.
 */
export function checkLists(lists: Lists<TensorDesc>, extents: Pick<AttentionProblem, 'B' | 'Hq'>): void {
  for (const name of listNames) {
    const { dtypes, length } = operandTable[name];
    const list = lists[name];
    if (!list || !dtypes) continue;
    if (!dtypes.includes(list.dtype)) throw new InvalidDTypeError(name, dtypeText(dtypes, list.dtype));
    if (list.shape.length !== 1 || list.shape[0] !== length?.(extents))
      throw new InvalidShapeError(name, `must have shape [${length?.(extents)}], got [${list.shape}]`);
  }
}

/**
 * Checks that a packed page table and the counts of its pages are given together.
 * @throws InvalidArgumentError if one is given without the other.
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
