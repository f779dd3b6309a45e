import { InvalidArgumentError } from '../../errors.ts';
import { lengthsFromCumulative } from '../../layout/cumulative-lengths.ts';
import { checkStorage } from '../../tensor/checks/check-storage.ts';
import { type HostArray, isHostArray, numberAt, numbersOf } from '../../tensor/host-array.ts';
import { elementsSpanned } from '../../tensor/shape.ts';
import type { TensorDesc } from '../../tensor/tensor.ts';
import { lengthsOnHost } from '../host/sequences.ts';
import { sideOf } from '../operands/table.ts';
import type {
  AttentionProblem,
  BackwardProblem,
  OperandDesc,
  Operands,
  RaggedName,
} from '../problem/problem.ts';

/**
 * Checks the data of a call: storage still exists, lengths are within their extents, sequences within their
 * tensors, and page numbers within the container. Tensors that are not on the host cannot be read and are not
 * checked.
 * @throws InvalidArgumentError naming the option.
 */
function validateOperands<T extends TensorDesc>(
  problem: AttentionProblem,
  operands: Operands<T | HostArray>,
): void {
  checkStorage(operands);
  const { q, k, v, o } = problem;
  validateSequences('Q', problem.Sq, operands, { q, o });
  validateSequences('Kv', problem.Skv, operands, { k, v });
  const lengths = k.page || v.page ? lengthsOnHost('Kv', problem, operands) : null;
  checkPages('K', k, operands, lengths);
  checkPages('V', v, operands, lengths);
  for (const [name, desc] of entries({ q, k, v })) checkRagged(name, desc, problem, operands);
  checkRagged('o', o, problem, operands, { written: true });
}

/**
 * Checks the data of a backward call.
 * @throws InvalidArgumentError naming the option.
 */
function validateBackwardOperands<T extends TensorDesc>(
  { forward, dO, dq, dk, dv }: BackwardProblem,
  operands: Operands<T | HostArray>,
): void {
  checkStorage(operands);
  const { q, k, v, o } = forward;
  validateSequences('Q', forward.Sq, operands, { q, o, dO, dq });
  validateSequences('Kv', forward.Skv, operands, { k, v, dk, dv });
  for (const [name, desc] of entries({ q, k, v, o, dO })) checkRagged(name, desc, forward, operands);
  for (const [name, desc] of entries({ dq, dk, dv }))
    checkRagged(name, desc, forward, operands, { written: true });
}

/** The checks that need the data of a call. */
export interface DataChecks {
  /** Checks the data of a forward call. */
  readonly validateOperands: typeof validateOperands;
  /** Checks the data of a backward call. */
  readonly validateBackwardOperands: typeof validateBackwardOperands;
}

/** The checks of the values of lists and tables, for engines that receive host tensors. */
export const dataChecks: DataChecks = { validateOperands, validateBackwardOperands };

type Descs = Readonly<Partial<Record<RaggedName, OperandDesc>>>;

function entries(descs: Descs): [RaggedName, OperandDesc][] {
  return Object.entries(descs) as [RaggedName, OperandDesc][];
}

/**
 * Checks the lists of a side against the operands that follow them: lengths, and where packed sequences
 * start.
 */
function validateSequences<T extends TensorDesc>(
  side: 'Q' | 'Kv',
  extent: number,
  lists: Operands<T | HostArray>,
  operands: Descs,
): void {
  const [lengths, cumulative] = [lists[`seqLens${side}`], lists[`cuSeqLens${side}`]];
  if (isHostArray(cumulative)) checkCumulative(`cuSeqLens${side}`, cumulative, operands, extent);
  if (!isHostArray(lengths)) return;
  numbersOf(lengths).forEach((n, b) => {
    // A packed sequence must not exceed its own span, because the next sequence starts there.
    const span = isHostArray(cumulative) ? numberAt(cumulative, b + 1) - numberAt(cumulative, b) : extent;
    if (n < 0 || n > span) {
      const rule = `must hold lengths in [0, ${span}], got ${n} for sequence ${b}`;
      throw new InvalidArgumentError(`seqLens${side}`, rule);
    }
  });
}

function checkCumulative(argument: string, cumulative: HostArray, operands: Descs, longest: number): void {
  const lengths = lengthsFromCumulative(cumulative, argument);
  const tooLong = lengths.find(n => n > longest);
  if (tooLong !== undefined) {
    const rule = `holds a sequence of ${tooLong}, longer than the maximum ${longest}`;
    throw new InvalidArgumentError(argument, rule);
  }
  const last = numberAt(cumulative, lengths.length);
  for (const [name, { starts, shape }] of entries(operands)) {
    if (starts === 'cumulative' && last > shape[2]) {
      const rule = `must end within the ${shape[2]} packed tokens of ${name}, got ${last}`;
      throw new InvalidArgumentError(argument, rule);
    }
  }
}

function checkPages<T extends TensorDesc>(
  name: 'K' | 'V',
  { page, shape }: OperandDesc,
  operands: Operands<T | HostArray>,
  lengths: readonly number[] | null,
): void {
  if (!page) return;
  const [table, cuPages] = [operands[`pageTable${name}`], operands[`cuPages${name}`]];
  const isPacked = page.table.shape.length === 1;
  if (isPacked && !isHostArray(cuPages)) return;
  const counts = isHostArray(cuPages)
    ? checkPageCounts(`cuPages${name}`, cuPages, page.table.shape[0])
    : null;
  if (!lengths) return;
  let first = 0;
  for (let b = 0; b < lengths.length; b++) {
    const used = Math.ceil(lengths[b] / page.size);
    if (counts && counts[b] < used) {
      throw new InvalidArgumentError(
        `cuPages${name}`,
        `must give sequence ${b} at least ${used} pages for its ${lengths[b]} keys, got ${counts[b]}`,
      );
    }
    for (let n = 0; n < used && isHostArray(table); n++) {
      const block = isPacked ? numberAt(table, first + n) : numberAt(table, b, n);
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

/** The number of pages of each sequence in a packed table. */
function checkPageCounts(argument: string, cuPages: HostArray, pages: number): number[] {
  const counts = lengthsFromCumulative(cuPages, argument);
  const last = numberAt(cuPages, counts.length);
  if (last > pages) {
    throw new InvalidArgumentError(argument, `must end within the ${pages} pages of the table, got ${last}`);
  }
  return counts;
}

/**
 * Checks the ragged offsets of one operand, if it has some on the host: they must not decrease. If the
 * lengths are on the host too, every sequence must lie within the tensor, and sequences that are written must
 * not overlap.
 * @throws InvalidArgumentError naming the option.
 */
function checkRagged<T extends TensorDesc>(
  name: RaggedName,
  desc: OperandDesc,
  problem: AttentionProblem,
  operands: Operands<T | HostArray>,
  { written = false }: { readonly written?: boolean } = {},
): void {
  const argument = `raggedOffsets.${name}` as const;
  const list = operands[argument];
  if (desc.starts !== 'ragged' || !isHostArray(list)) return;
  const offsets = numbersOf(list);
  if (offsets[0] < 0) throw new InvalidArgumentError(argument, `must not be negative, got ${offsets[0]}`);
  const fall = offsets.findIndex((offset, b) => b > 0 && offset < offsets[b - 1]);
  if (fall > 0) {
    const rule = `must not decrease, got ${offsets[fall - 1]} then ${offsets[fall]}`;
    throw new InvalidArgumentError(argument, rule);
  }
  const lengths = lengthsOnHost(sideOf[name], problem, operands);
  if (!lengths) return;
  const [, H, T, D] = desc.shape;
  const span = elementsSpanned(desc);
  const [, sh, ss, sd] = desc.strides;
  lengths.forEach((length, b) => {
    const start = offsets[b];
    const end = start + (length - 1) * ss + (H - 1) * sh + (D - 1) * sd + 1;
    // A tensor of one token has stride 0, which does not say where a second token would be.
    if (length > 0 && (length > T || end > span)) {
      throw new InvalidArgumentError(
        argument,
        `must leave room for each sequence within the ${span} elements of ${name}, got ${start} for ${length} tokens (sequence ${b})`,
      );
    }
    if (written && length > 0 && b + 1 < lengths.length && start + length * ss > offsets[b + 1]) {
      throw new InvalidArgumentError(
        argument,
        `must keep sequences apart, got ${start} then ${offsets[b + 1]} for ${length} tokens of ${ss} elements (sequence ${b})`,
      );
    }
  });
}
