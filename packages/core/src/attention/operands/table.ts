import type {
  AttentionProblem,
  BackwardProblem,
  LengthsKind,
  OperandDesc,
  RaggedName,
} from '../problem/problem.ts';
import { broadcastLayout, contiguousLayout, gradientLayout, operandLayout, rowsLayout } from './layouts.ts';
import type { DTypeSet, OperandLayout, OperandName, OperandRow } from './operand.ts';

const floats: DTypeSet = { dtypes: ['f32', 'f16', 'bf16', 'f8e4m3', 'f8e5m2'], what: 'a float dtype' };
const f32: DTypeSet = { dtypes: ['f32'], what: 'f32' };
const integers: DTypeSet = { dtypes: ['i32', 'u32'], what: 'i32 or u32' };
const truths: DTypeSet = { dtypes: ['bool', 'u8'], what: 'bool (or u8)' };
const bytes: DTypeSet = { dtypes: ['u8'], what: 'u8' };

type Presence = (problem: AttentionProblem, backward: BackwardProblem | null) => boolean;
type Row = Omit<OperandRow, 'form'>;

const read: Pick<Row, 'forward' | 'backward'> = { forward: 'read', backward: 'read' };
const result: Row = { forward: 'write' };
const gradient: Row = { backward: 'write' };
const always: Presence = () => true;

const numberRow: OperandRow = { ...read, form: 'number' };

const tensorRow = (
  access: Row,
  dtypes: DTypeSet,
  layout: NonNullable<OperandRow['layout']>,
  packable = false,
): OperandRow => ({ ...access, form: 'tensor', dtypes, layout, packable });

/** q, k, v, o or a gradient of one of these. */
const stridedRow = (
  access: Row,
  name: RaggedName,
  desc: (problem: AttentionProblem, backward: BackwardProblem | null) => OperandDesc | undefined,
): OperandRow =>
  tensorRow(access, floats, (problem, backward) => {
    const given = desc(problem, backward);
    return given ? operandLayout(given, sideOf[name] === 'Q' ? 'q' : 'kv') : null;
  });

const rowsRow = (access: Row, present: Presence = always): OperandRow => ({
  ...access,
  form: 'rows',
  dtypes: f32,
  layout: (problem, backward) => (present(problem, backward) ? rowsLayout(problem) : null),
});

/** A contiguous vector. */
const vectorRow = (
  form: 'tensor' | 'list',
  access: Row,
  dtypes: DTypeSet,
  length: NonNullable<OperandRow['length']>,
  present: Presence,
): OperandRow => ({
  ...{ ...access, form, dtypes, length, packable: form === 'list' },
  layout: (problem, backward) =>
    present(problem, backward) ? contiguousLayout(dtypes.dtypes, [length(problem)]) : null,
});

const listRow = (
  dtypes: DTypeSet,
  length: NonNullable<OperandRow['length']>,
  present: Presence,
): OperandRow => vectorRow('list', read, dtypes, length, present);

/** The largest magnitude of something, as FP8 measures them. */
const amaxRow = (access: Row, present: Presence): OperandRow =>
  vectorRow('tensor', access, f32, () => 1, present);

const tableRow = (name: 'k' | 'v'): OperandRow => ({
  ...{ ...read, form: 'table', dtypes: integers, packable: true },
  layout: problem => {
    const page = problem[name].page;
    return page && { ...page.table, dtypes: integers.dtypes, footprint: null };
  },
});

/** Which lengths an operand follows. */
export const sideOf: Readonly<Record<RaggedName, 'Q' | 'Kv'>> = {
  ...{ q: 'Q', o: 'Q', dO: 'Q', dq: 'Q' },
  ...{ k: 'Kv', v: 'Kv', dk: 'Kv', dv: 'Kv' },
};

/** The operands that may have ragged offsets. */
export const raggedNames: readonly RaggedName[] = ['q', 'k', 'v', 'o', 'dO', 'dq', 'dk', 'dv'];

/** The operands of a problem that may have ragged offsets, by name. */
export function raggedOperands(
  { q, k, v, o }: AttentionProblem,
  backward: BackwardProblem | null,
): Readonly<Partial<Record<RaggedName, OperandDesc>>> {
  const { dO, dq, dk, dv } = backward ?? {};
  return { q, k, v, o, ...(dO && { dO }), ...(dq && { dq }), ...(dk && { dk }), ...(dv && { dv }) };
}

const lengths =
  (side: 'Q' | 'Kv', kind: LengthsKind): Presence =>
  problem =>
    problem[`lengths${side}`] === kind;

/** Cumulative lengths say how long sequences are, or where they start in some packed operand. */
const cumulative =
  (side: 'Q' | 'Kv'): Presence =>
  (problem, backward) =>
    problem[`lengths${side}`] === 'cumulative' ||
    Object.entries(raggedOperands(problem, backward)).some(
      ([name, { starts }]) => sideOf[name as RaggedName] === side && starts === 'cumulative',
    );

const raggedRow = (name: RaggedName): OperandRow =>
  listRow(
    integers,
    n => n.B + 1,
    (problem, backward) => raggedOperands(problem, backward)[name]?.starts === 'ragged',
  );

const cuPagesRow = (name: 'k' | 'v'): OperandRow =>
  listRow(
    integers,
    n => n.B + 1,
    problem => problem[name].page?.table.shape.length === 1,
  );

const perHead = (n: Pick<AttentionProblem, 'Hq'>): number => n.Hq;

/** Every operand and result of attention: the one place that knows what each is, which pass touches it, and where. */
export const operandTable: Readonly<Record<OperandName, OperandRow>> = /* @__PURE__ */ makeTable();

function makeTable(): Record<OperandName, OperandRow> {
  return {
    q: stridedRow(read, 'q', p => p.q),
    k: stridedRow(read, 'k', p => p.k),
    v: stridedRow(read, 'v', p => p.v),
    o: stridedRow({ forward: 'write', backward: 'read' }, 'o', p => p.o),
    lse: rowsRow({ forward: 'write', backward: 'read' }),
    dO: stridedRow({ backward: 'read' }, 'dO', (_, b) => b?.dO),
    dLse: rowsRow({ backward: 'read' }, (_, b) => b?.dLse === true),

    scale: numberRow,
    bias: tensorRow(read, floats, p => p.bias && broadcastLayout(p, p.bias, [p.bias.dtype]), true),
    alibi: listRow(f32, perHead, p => p.alibi),
    mask: tensorRow(read, truths, p => p.mask && broadcastLayout(p, p.mask, truths.dtypes), true),
    blockMask: tensorRow(
      read,
      bytes,
      p => p.blockMask && { ...broadcastLayout(p, p.blockMask, bytes.dtypes), footprint: null },
      true,
    ),
    sink: listRow(f32, perHead, p => p.sink),

    seqLensQ: listRow(integers, n => n.B, lengths('Q', 'lengths')),
    seqLensKv: listRow(integers, n => n.B, lengths('Kv', 'lengths')),
    cuSeqLensQ: listRow(integers, n => n.B + 1, cumulative('Q')),
    cuSeqLensKv: listRow(integers, n => n.B + 1, cumulative('Kv')),
    'raggedOffsets.q': raggedRow('q'),
    'raggedOffsets.k': raggedRow('k'),
    'raggedOffsets.v': raggedRow('v'),
    'raggedOffsets.o': raggedRow('o'),
    'raggedOffsets.dO': raggedRow('dO'),
    'raggedOffsets.dq': raggedRow('dq'),
    'raggedOffsets.dk': raggedRow('dk'),
    'raggedOffsets.dv': raggedRow('dv'),
    pageTableK: tableRow('k'),
    pageTableV: tableRow('v'),
    cuPagesK: cuPagesRow('k'),
    cuPagesV: cuPagesRow('v'),

    dropoutMask: tensorRow(
      { ...read, option: 'dropout.mask' },
      truths,
      p => (p.dropout?.kind === 'mask' ? broadcastLayout(p, p.dropout.mask, truths.dtypes) : null),
      true,
    ),
    'dropout.scale': numberRow,
    'dropout.seed': numberRow,
    'dropout.offset': numberRow,

    max: rowsRow(result, p => p.outputs.max),
    sumExp: rowsRow(result, p => p.outputs.sumExp),
    'outputs.dropoutMask': tensorRow(result, bytes, ({ B, Hq, Sq, Skv, outputs }): OperandLayout | null =>
      outputs.dropoutMask ? contiguousLayout(bytes.dtypes, [B, Hq, Sq, Skv]) : null,
    ),
    amaxS: amaxRow(result, p => p.outputs.amaxS),
    amaxO: amaxRow(result, p => p.outputs.amaxO),

    dq: stridedRow(gradient, 'dq', (_, b) => b?.dq),
    dk: stridedRow(gradient, 'dk', (_, b) => b?.dk),
    dv: stridedRow(gradient, 'dv', (_, b) => b?.dv),
    dbias: tensorRow(gradient, floats, p => p.bias && gradientLayout(p.bias)),
    dAlibi: vectorRow('tensor', gradient, f32, perHead, p => p.alibi),
    dsink: vectorRow('tensor', gradient, f32, perHead, p => p.sink),
    amaxDQ: amaxRow(gradient, (_, b) => b?.outputs.amaxDQ === true),
    amaxDK: amaxRow(gradient, (_, b) => b?.outputs.amaxDK === true),
    amaxDV: amaxRow(gradient, (_, b) => b?.outputs.amaxDV === true),
    amaxDP: amaxRow(gradient, (_, b) => b?.outputs.amaxDP === true),
  };
}

/**
 * How every tensor that a problem reads or writes lies in memory, by the name under which it is bound: those of the table
 * that the problem has, and the captured tensors, as `captures.NAME`.
 */
export function operandLayouts(
  problem: AttentionProblem | BackwardProblem,
  table: Readonly<Record<string, OperandRow>> = operandTable,
): Readonly<Record<string, OperandLayout>> {
  const [forward, backward] = 'forward' in problem ? [problem.forward, problem] : [problem, null];
  const pass = backward ? 'backward' : 'forward';
  const layouts: Record<string, OperandLayout> = {};
  for (const [name, row] of Object.entries(table)) {
    const layout = row[pass] && row.layout?.(forward, backward);
    if (layout) layouts[name] = layout;
  }
  for (const [name, { dtype, shape, strides }] of Object.entries(forward.captures))
    layouts[`captures.${name}`] = { dtypes: [dtype], shape, strides, footprint: null };
  return layouts;
}
