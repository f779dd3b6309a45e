import { InvalidArgumentError, InvalidDTypeError, InvalidShapeError } from '../errors.ts';
import { type DType, dtypeInfo, isDType } from '../tensor/dtype.ts';
import { Tensor, type TensorDesc } from '../tensor/tensor.ts';
import type { AttentionProblem, BackwardProblem, OperandDesc, Operands } from './problem.ts';
import { rowShape } from './row-shape.ts';

type Kind = 'argument' | 'shape' | 'dtype';

/** A rule of the attention problem. `broken` says what is wrong, or gives null when the rule holds. */
export interface Rule<P> {
  readonly argument: string;
  readonly kind: Kind;
  readonly broken: (problem: P) => string | null;
}

const errors = { argument: InvalidArgumentError, shape: InvalidShapeError, dtype: InvalidDTypeError };

function check<P>(rules: readonly Rule<P>[], problem: P): void {
  for (const { argument, kind, broken } of rules) {
    const wrong = broken(problem);
    if (wrong !== null) throw new errors[kind](argument, wrong);
  }
}

const isFloat = (dtype: DType): boolean => isDType(dtype) && dtypeInfo[dtype].kind === 'float';
const floatRule = (
  argument: string,
  dtypeOf: (p: AttentionProblem) => DType | undefined,
): Rule<AttentionProblem> => ({
  argument,
  kind: 'dtype',
  broken: p => {
    const dtype = dtypeOf(p);
    return dtype === undefined || isFloat(dtype) ? null : `must be a float dtype, got ${dtype}`;
  },
});
const isMask = (dtype: DType): boolean => dtype === 'bool' || dtype === 'u8';
const maskRule = (
  argument: string,
  dtypeOf: (p: AttentionProblem) => DType | undefined,
): Rule<AttentionProblem> => ({
  argument,
  kind: 'dtype',
  broken: p => {
    const dtype = dtypeOf(p);
    return dtype === undefined || isMask(dtype) ? null : `must be bool (or u8), got ${dtype}`;
  },
});
const positive = (n: number): boolean => Number.isInteger(n) && n >= 1;

/**
 * Every rule of a forward problem, in the order of the options. They follow from the mathematics or from how data lies in
 * memory; limits of one machine are the engine's and are said by its `checkSupport`.
 */
export const forwardRules: readonly Rule<AttentionProblem>[] = [
  floatRule('q', p => p.q.dtype),
  floatRule('k', p => p.k.dtype),
  floatRule('v', p => p.v.dtype),
  floatRule('outDType', p => p.o.dtype),
  {
    argument: 'q',
    kind: 'shape',
    broken: p =>
      positive(p.Hq) && positive(p.Dqk)
        ? null
        : `must have at least one head and one channel, got Hq = ${p.Hq}, Dqk = ${p.Dqk}`,
  },
  {
    argument: 'k',
    kind: 'shape',
    broken: p =>
      p.k.shape[3] === p.Dqk ? null : `must have the head size of q (${p.Dqk}), got ${p.k.shape[3]}`,
  },
  {
    argument: 'k',
    kind: 'shape',
    broken: p =>
      p.Hk >= 1 && p.Hq % p.Hk === 0
        ? null
        : `must have a number of heads that divides q's ${p.Hq}, got ${p.Hk}`,
  },
  {
    argument: 'v',
    kind: 'shape',
    broken: p =>
      p.Hv >= 1 && p.Hq % p.Hv === 0
        ? null
        : `must have a number of heads that divides q's ${p.Hq}, got ${p.Hv}`,
  },
  {
    argument: 'v',
    kind: 'shape',
    broken: p => (positive(p.Dv) ? null : `must have at least one channel, got Dv = ${p.Dv}`),
  },
  ...(['k', 'v'] as const).map(
    (name): Rule<AttentionProblem> => ({
      argument: name,
      kind: 'shape',
      broken: p =>
        p.packed || p[name].page || p[name].shape[0] === p.B
          ? null
          : `must have the batch size of q (${p.B}), got ${p[name].shape[0]}`,
    }),
  ),
  {
    argument: 'v',
    kind: 'shape',
    broken: p => {
      if (p.k.page || p.v.page) return null;
      const [keys, values] = [p.k.shape[2], p.v.shape[2]];
      return keys === values ? null : `must have as many positions as k (${keys}), got ${values}`;
    },
  },
  {
    argument: 'scale',
    kind: 'argument',
    broken: p => (Number.isFinite(p.scale) ? null : `must be a finite number, got ${p.scale}`),
  },
  {
    argument: 'softcap',
    kind: 'argument',
    broken: p =>
      p.softcap === null || (p.softcap > 0 && Number.isFinite(p.softcap))
        ? null
        : `must be a finite number > 0, got ${p.softcap}`,
  },
  floatRule('bias', p => p.bias?.dtype),
  maskRule('mask', p => p.mask?.dtype),
  maskRule('dropout.mask', p => (p.dropout?.kind === 'mask' ? p.dropout.mask.dtype : undefined)),
  {
    argument: 'blockMask',
    kind: 'dtype',
    broken: p =>
      p.blockMask === null || p.blockMask.dtype === 'u8' ? null : `must be u8, got ${p.blockMask.dtype}`,
  },
  {
    argument: 'maxSeqLenQ',
    kind: 'argument',
    broken: p => (Number.isInteger(p.Sq) && p.Sq >= 0 ? null : `must be an integer ≥ 0, got ${p.Sq}`),
  },
  {
    argument: 'maxSeqLenKv',
    kind: 'argument',
    broken: p => (Number.isInteger(p.Skv) && p.Skv >= 0 ? null : `must be an integer ≥ 0, got ${p.Skv}`),
  },
  ...(['k', 'v'] as const).flatMap((name): Rule<AttentionProblem>[] => pageRules(name)),
];

function pageRules(name: 'k' | 'v'): Rule<AttentionProblem>[] {
  const table = name === 'k' ? 'pageTableK' : 'pageTableV';
  const rule = (
    kind: Kind,
    argument: string,
    broken: (p: AttentionProblem, page: NonNullable<OperandDesc['page']>) => string | null,
  ): Rule<AttentionProblem> => ({
    argument,
    kind,
    broken: p => {
      const { page } = p[name];
      return page ? broken(p, page) : null;
    },
  });
  return [
    rule('argument', table, p => (p.packed ? 'cannot be combined with packed (cuSeqLens) tensors' : null)),
    rule('argument', 'seqLensKv', p =>
      p.lengthsKv === 'lengths'
        ? null
        : `must be given with ${table}: a page table does not say how long a sequence is`,
    ),
    rule('shape', name, (_, page) =>
      positive(page.size) && Number.isInteger(Math.log2(page.size))
        ? null
        : `must have a page size that is a power of two, got ${page.size}`,
    ),
    rule('shape', table, (p, page) => {
      const [rows, pages] = page.table.shape;
      const needed = Math.ceil(p.Skv / page.size);
      if (rows !== p.B) return `must have ${p.B} rows, got shape [${page.table.shape}]`;
      return pages >= needed ? null : `must have at least ${needed} pages for ${p.Skv} keys, got ${pages}`;
    }),
    rule('dtype', table, (_, page) =>
      page.table.dtype === 'i32' || page.table.dtype === 'u32'
        ? null
        : `must be i32 or u32, got ${page.table.dtype}`,
    ),
  ];
}

const sameShape = (a: readonly number[], b: readonly number[]): boolean =>
  a.length === b.length && a.every((n, i) => n === b[i]);

const shapeLikeO = (
  name: 'o' | 'dO',
  operand: (p: BackwardProblem) => OperandDesc,
): Rule<BackwardProblem>[] => [
  {
    argument: name,
    kind: 'shape',
    broken: p => {
      const { q } = p.forward;
      const expected = [q.shape[0], q.shape[1], q.shape[2], p.forward.Dv];
      const got = operand(p).shape;
      return sameShape(got, expected)
        ? null
        : `must have the shape of the output ([${expected}] as B, H, S, D), got [${got}]`;
    },
  },
  {
    argument: name,
    kind: 'dtype',
    broken: p => (isFloat(operand(p).dtype) ? null : `must be a float dtype, got ${operand(p).dtype}`),
  },
];

/** What backward adds to the forward rules. */
export const backwardRules: readonly Rule<BackwardProblem>[] = [
  ...shapeLikeO('o', p => p.forward.o),
  ...shapeLikeO('dO', p => p.dO),
  ...(['pageTableK', 'pageTableV'] as const).map(
    (table): Rule<BackwardProblem> => ({
      argument: table,
      kind: 'argument',
      broken: p =>
        (table === 'pageTableK' ? p.forward.k : p.forward.v).page
          ? 'cannot be given to backward: pages may be shared, so their gradient has no one place'
          : null,
    }),
  ),
  {
    argument: 'gradients',
    kind: 'argument',
    broken: ({ gradients, forward }) => {
      const present: Record<string, boolean> = {
        dq: true,
        dk: true,
        dv: true,
        dbias: forward.bias !== null,
        dsink: forward.sink,
        dAlibi: forward.alibi,
      };
      const bad = gradients.find(name => !present[name]);
      if (bad === undefined) return null;
      return bad in present
        ? `cannot hold ${bad}: its input was not given`
        : `must be among ${Object.keys(present).join(', ')}, got ${bad}`;
    },
  },
];

/**
 * Checks a forward problem.
 * @throws InvalidArgumentError, InvalidShapeError or InvalidDTypeError, naming the option, its value and the rule.
 */
export function validate(problem: AttentionProblem): void {
  check(forwardRules, problem);
}

/** Checks a backward problem (its forward part too) and the tensors that only backward has. */
export function validateBackward(
  problem: BackwardProblem,
  { lse, dLse }: { readonly lse: TensorDesc; readonly dLse?: TensorDesc | undefined },
): void {
  validate(problem.forward);
  check(backwardRules, problem);
  checkRows('lse', lse, problem.forward);
  if (dLse) checkRows('dLse', dLse, problem.forward);
}

function checkRows(argument: string, t: TensorDesc, forward: AttentionProblem): void {
  const expected = rowShape(forward);
  if (!sameShape(t.shape, expected))
    throw new InvalidShapeError(argument, `must have shape [${expected}], got [${t.shape}]`);
  if (t.dtype !== 'f32') throw new InvalidDTypeError(argument, `must be f32, got ${t.dtype}`);
}

const listDTypes: readonly (readonly [keyof Operands<unknown>, readonly DType[]])[] = [
  ['seqLensQ', ['i32', 'u32']],
  ['seqLensKv', ['i32', 'u32']],
  ['cuSeqLensQ', ['i32', 'u32']],
  ['cuSeqLensKv', ['i32', 'u32']],
  ['alibi', ['f32']],
  ['sink', ['f32']],
];

/**
 * Checks what only the data can tell: lengths within their extents, page numbers within the container. Tensors that are
 * not on the host cannot be read and are taken as they are.
 */
export function validateOperands<T extends TensorDesc>(
  problem: AttentionProblem,
  operands: Operands<T | Tensor>,
): void {
  for (const [name, allowed] of listDTypes) {
    const t = operands[name] as TensorDesc | undefined;
    if (t && !allowed.includes(t.dtype))
      throw new InvalidDTypeError(name, `must be ${allowed.join(' or ')}, got ${t.dtype}`);
  }
  checkLengths('seqLensQ', operands.seqLensQ, problem.Sq);
  checkLengths('seqLensKv', operands.seqLensKv, problem.Skv);
  checkCumulative('cuSeqLensQ', operands.cuSeqLensQ, problem.q.shape[2], problem.Sq);
  checkCumulative('cuSeqLensKv', operands.cuSeqLensKv, problem.k.shape[2], problem.Skv);
  checkPages('pageTableK', operands.pageTableK, problem.k, operands.seqLensKv);
  checkPages('pageTableV', operands.pageTableV, problem.v, operands.seqLensKv);
}

function checkLengths(argument: string, lengths: TensorDesc | undefined, extent: number): void {
  if (!(lengths instanceof Tensor)) return;
  for (const n of lengths.toFloat64()) {
    if (n < 0 || n > extent)
      throw new InvalidArgumentError(argument, `must hold lengths in [0, ${extent}], got ${n}`);
  }
}

function checkCumulative(
  argument: string,
  cumulative: TensorDesc | undefined,
  tokens: number,
  longest: number,
): void {
  if (!(cumulative instanceof Tensor)) return;
  const values = cumulative.toFloat64();
  if (values[0] !== 0) throw new InvalidArgumentError(argument, `must start with 0, got ${values[0]}`);
  for (let b = 0; b + 1 < values.length; b++) {
    const n = values[b + 1] - values[b];
    if (n < 0)
      throw new InvalidArgumentError(argument, `must not decrease, got ${values[b]} then ${values[b + 1]}`);
    if (n > longest)
      throw new InvalidArgumentError(
        argument,
        `holds a sequence of ${n}, longer than the stated maximum ${longest}`,
      );
  }
  const last = values[values.length - 1];
  if (last > tokens)
    throw new InvalidArgumentError(argument, `must end within the ${tokens} packed tokens, got ${last}`);
}

function checkPages(
  argument: string,
  table: TensorDesc | undefined,
  { page, shape }: OperandDesc,
  lengths: TensorDesc | undefined,
): void {
  if (!page || !(table instanceof Tensor) || !(lengths instanceof Tensor)) return;
  for (let b = 0; b < table.shape[0]; b++) {
    const used = Math.ceil(lengths.get(b) / page.size);
    for (let n = 0; n < used; n++) {
      const block = table.get(b, n);
      if (block < 0 || block >= shape[0]) {
        throw new InvalidArgumentError(
          argument,
          `must hold blocks in [0, ${shape[0]}) where keys are used, got ${block} for sequence ${b}, page ${n}`,
        );
      }
    }
  }
}
