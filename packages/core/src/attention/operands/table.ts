import type { DType } from '../../tensor/dtype/dtype-traits.ts';
import type {
  AttentionProblem,
  BackwardProblem,
  BroadcastDesc,
  OperandDesc,
  RaggedName,
} from '../problem/problem.ts';
import { broadcastLayout, contiguousLayout, gradientLayout, operandLayout, rowsLayout } from './layouts.ts';
import type { OperandLayout, OperandName, OperandRow } from './operand.ts';

const floats: readonly DType[] = ['f32', 'f16', 'bf16', 'f8e4m3', 'f8e5m2'];
const f32: readonly DType[] = ['f32'];
const integers: readonly DType[] = ['i32', 'u32'];
const truths: readonly DType[] = ['bool', 'u8'];
const bytes: readonly DType[] = ['u8'];

type Access = Pick<OperandRow, 'forward' | 'backward'>;
type Of<R> = (problem: AttentionProblem, backward: BackwardProblem | null) => R;
type Length = NonNullable<OperandRow['length']>;

const input: Access = { forward: 'read', backward: 'read' };
const result: Access = { forward: 'write' };
const resultThenInput: Access = { forward: 'write', backward: 'read' };
const backwardInput: Access = { backward: 'read' };
const gradient: Access = { backward: 'write' };

const number: OperandRow = { ...input, form: 'number' };

const strided = (access: Access, side: 'q' | 'kv', desc: Of<OperandDesc | undefined>): OperandRow => ({
  ...{ ...access, form: 'tensor', dtypes: floats },
  layout(problem, backward) {
    const given = desc(problem, backward);
    return given ? operandLayout(given, side) : null;
  },
});

const broadcast = (
  dtypes: readonly DType[],
  desc: (problem: AttentionProblem) => BroadcastDesc | null,
): OperandRow => ({
  ...{ ...input, form: 'tensor', dtypes, packable: true },
  layout(problem) {
    const given = desc(problem);
    // Kernels are compiled for one float dtype, but read either dtype of booleans.
    return given && broadcastLayout(problem, given, dtypes === floats ? [given.dtype] : dtypes);
  },
});

const rows = (access: Access, present: Of<boolean> = () => true): OperandRow => ({
  ...{ ...access, form: 'rows', dtypes: f32 },
  layout: (problem, backward) => (present(problem, backward) ? rowsLayout(problem) : null),
});

const vector = (
  access: Access,
  dtypes: readonly DType[],
  length: Length,
  present: Of<boolean>,
): OperandRow => ({
  ...{ ...access, form: 'tensor', dtypes, length },
  layout: (problem, backward) =>
    present(problem, backward) ? contiguousLayout(dtypes, [length(problem)]) : null,
});

const list = (dtypes: readonly DType[], length: Length, present: Of<boolean>): OperandRow => ({
  ...vector(input, dtypes, length, present),
  ...{ form: 'list', packable: true },
});

const pageTable = (name: 'k' | 'v'): OperandRow => ({
  ...{ ...input, form: 'table', dtypes: integers, packable: true },
  layout: ({ [name]: { page } }) => page && { ...page.table, dtypes: integers, footprint: null },
});

const perSequence: Length = n => n.B;
const offsets: Length = n => n.B + 1;
const perHead: Length = n => n.Hq;
const one: Length = () => 1;

/** The side whose sequence lengths an operand follows. */
export const sideOf: Readonly<Record<RaggedName, 'Q' | 'Kv'>> = {
  ...{ q: 'Q', k: 'Kv', v: 'Kv', o: 'Q' },
  ...{ dO: 'Q', dq: 'Q', dk: 'Kv', dv: 'Kv' },
};

/** The operands that may have ragged offsets. */
export const raggedNames = /* @__PURE__ */ Object.keys(sideOf) as readonly RaggedName[];

/** The operand of a problem by name; undefined for backward's operands in a forward problem. */
function operandOf(
  name: RaggedName,
  forward: AttentionProblem,
  backward: BackwardProblem | null,
): OperandDesc | undefined {
  return name === 'q' || name === 'k' || name === 'v' || name === 'o' ? forward[name] : backward?.[name];
}

/** Cumulative lengths say how long sequences are, or where they start in a packed operand. */
const hasCumulative =
  (side: 'Q' | 'Kv'): Of<boolean> =>
  (problem, backward) =>
    problem[`lengths${side}`] === 'cumulative' ||
    raggedNames.some(
      name => sideOf[name] === side && operandOf(name, problem, backward)?.starts === 'cumulative',
    );

const raggedOffsets = (name: RaggedName): OperandRow =>
  list(integers, offsets, (problem, backward) => operandOf(name, problem, backward)?.starts === 'ragged');

const cuPages = (name: 'k' | 'v'): OperandRow =>
  list(integers, offsets, problem => problem[name].page?.table.shape.length === 1);

/**
 * Every operand and result of attention. This table is the only place that says what each is, which pass
 * reads or writes it, and how it is laid out.
 */
export const operandTable: Readonly<Record<OperandName, OperandRow>> = /* @__PURE__ */ ((): Record<
  OperandName,
  OperandRow
> => ({
  /** Queries: (B, Hq, Sq, Dqk), or (T, Hq, Dqk) when packed or ragged. */
  q: strided(input, 'q', p => p.q),
  /** Keys: (B, Hk, Skv, Dqk), (T, Hk, Dqk) when packed or ragged, (blocks, Hk, page size, Dqk) when paged. */
  k: strided(input, 'kv', p => p.k),
  /** Values: (B, Hv, Skv, Dv), (T, Hv, Dv) when packed or ragged, (blocks, Hv, page size, Dv) when paged. */
  v: strided(input, 'kv', p => p.v),
  /** Output: (B, Hq, Sq, Dv), or (T, Hq, Dv) when packed or ragged. */
  o: strided(resultThenInput, 'q', p => p.o),
  /** Natural logarithm of the sum of e^score over each row: (B, Hq, Sq), or (Hq, T) when q is packed. */
  lse: rows(resultThenInput),
  /** Gradient of the loss with respect to o, in the shape of o. */
  dO: strided(backwardInput, 'q', (_, b) => b?.dO),
  /** Gradient of the loss with respect to lse, in the shape of lse; 0 if not given. */
  dLse: rows(backwardInput, (_, b) => b?.dLse === true),

  /** The factor that multiplies q·k. */
  scale: number,
  /** Broadcast to (B, Hq, Sq, Skv), added to the scores; −∞ masks. */
  bias: broadcast(floats, p => p.bias),
  /** ALiBi slopes, one for each query head. */
  alibi: list(f32, perHead, p => p.alibi),
  /** Broadcast to (B, Hq, Sq, Skv): 1 if the query may see the key. */
  mask: broadcast(truths, p => p.mask),
  /** (1|B, 1|Hq, ⌈Sq/128⌉, ⌈⌈Skv/128⌉/8⌉): one bit for each tile of 128×128 scores. */
  blockMask: {
    ...broadcast(bytes, p => p.blockMask),
    layout: p => p.blockMask && { ...broadcastLayout(p, p.blockMask, bytes), footprint: null },
  },
  /** One logit per query head, which joins the softmax of the head's rows but has no value. */
  sink: list(f32, perHead, p => p.sink),

  /** The numbers of queries and keys that exist in each sequence. */
  seqLensQ: list(integers, perSequence, p => p.lengthsQ === 'lengths'),
  seqLensKv: list(integers, perSequence, p => p.lengthsKv === 'lengths'),
  /** Where sequences start in the packed operands of a side, and where the last one ends. */
  cuSeqLensQ: list(integers, offsets, hasCumulative('Q')),
  cuSeqLensKv: list(integers, offsets, hasCumulative('Kv')),
  /** Where each sequence starts in an operand (T, H, D), in elements. */
  'raggedOffsets.q': raggedOffsets('q'),
  'raggedOffsets.k': raggedOffsets('k'),
  'raggedOffsets.v': raggedOffsets('v'),
  'raggedOffsets.o': raggedOffsets('o'),
  'raggedOffsets.dO': raggedOffsets('dO'),
  'raggedOffsets.dq': raggedOffsets('dq'),
  'raggedOffsets.dk': raggedOffsets('dk'),
  'raggedOffsets.dv': raggedOffsets('dv'),
  /** (B, pages), or (pages) when packed: the block that holds each page of a sequence. */
  pageTableK: pageTable('k'),
  pageTableV: pageTable('v'),
  /** Where the pages of each sequence start in a packed page table. */
  cuPagesK: cuPages('k'),
  cuPagesV: cuPages('v'),

  /** Broadcast to (B, Hq, Sq, Skv): 1 if a probability is kept. */
  dropoutMask: {
    ...broadcast(truths, p => (p.dropout?.kind === 'mask' ? p.dropout.mask : null)),
    option: 'dropout.mask',
  },
  /** The factor that multiplies the kept probabilities. */
  'dropout.scale': number,
  /** 64-bit seed and offset of the Philox generator. */
  'dropout.seed': number,
  'dropout.offset': number,

  /** The largest score of each row, and the sum of e^(score − max) over the row, in the shape of lse. */
  max: rows(result, p => p.outputs.max),
  sumExp: rows(result, p => p.outputs.sumExp),
  /** (B, Hq, Sq, Skv): 1 if a probability was kept. */
  'outputs.dropoutMask': {
    ...{ ...result, form: 'tensor', dtypes: bytes },
    layout: ({ B, Hq, Sq, Skv, outputs }) =>
      outputs.dropoutMask ? contiguousLayout(bytes, [B, Hq, Sq, Skv]) : null,
  },
  /** The largest dropout(P) and |o|, before scaleS and scaleO of `fp8`. */
  amaxS: vector(result, f32, one, p => p.outputs.amaxS),
  amaxO: vector(result, f32, one, p => p.outputs.amaxO),

  /** Gradients, each in the shape of its operand. */
  dq: strided(gradient, 'q', (_, b) => b?.dq),
  dk: strided(gradient, 'kv', (_, b) => b?.dk),
  dv: strided(gradient, 'kv', (_, b) => b?.dv),
  dbias: { ...gradient, form: 'tensor', dtypes: floats, layout: p => p.bias && gradientLayout(p.bias) },
  dAlibi: vector(gradient, f32, perHead, p => p.alibi),
  dsink: vector(gradient, f32, perHead, p => p.sink),
  /** The largest |dq|, |dk|, |dv| and |dS|, before their scales of `fp8`. */
  amaxDQ: vector(gradient, f32, one, (_, b) => b?.outputs.amaxDQ === true),
  amaxDK: vector(gradient, f32, one, (_, b) => b?.outputs.amaxDK === true),
  amaxDV: vector(gradient, f32, one, (_, b) => b?.outputs.amaxDV === true),
  amaxDP: vector(gradient, f32, one, (_, b) => b?.outputs.amaxDP === true),
}))();

/**
 * The memory layout of every tensor that a problem reads or writes, by the name of its binding: the entries
 * of the table that the problem has, and the captured tensors as `captures.NAME`.
 */
export function operandLayouts(
  problem: AttentionProblem | BackwardProblem,
  table: Readonly<Record<string, OperandRow>> = operandTable,
): Readonly<Record<string, OperandLayout>> {
  const [forward, backward] = 'forward' in problem ? [problem.forward, problem] : [problem, null];
  const layouts: Record<string, OperandLayout> = {};
  for (const [name, row] of Object.entries(table)) {
    const layout = row[backward ? 'backward' : 'forward'] && row.layout?.(forward, backward);
    if (layout) layouts[name] = layout;
  }
  for (const [name, { dtype, shape, strides }] of Object.entries(forward.captures))
    layouts[`captures.${name}`] = { dtypes: [dtype], shape, strides, footprint: null };
  return layouts;
}
