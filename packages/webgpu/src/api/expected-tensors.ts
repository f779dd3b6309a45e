import {
  type AttentionProblem,
  type BackwardProblem,
  type BroadcastDesc,
  callerShape,
  contiguousStrides,
  type DType,
  type OperandDesc,
  rowShape,
  type Shape,
} from '@tilewise/core';
import { dropoutMaskOutput } from '../attention/kernels/forward/dropout-mask.ts';
import type { GradientDescs } from '../attention/plan/spans.ts';
import { captureTensor } from '../attention/score/captures.ts';
import type { ExpectedTensor } from '../runtime/plan/plan-tensors.ts';

type Expected = Record<string, ExpectedTensor>;

const floats: readonly DType[] = ['f32'];
const integers: readonly DType[] = ['i32', 'u32'];
const bytes: readonly DType[] = ['bool', 'u8'];

const inLine = (dtypes: readonly DType[], shape: Shape): ExpectedTensor => ({
  dtypes,
  shape,
  strides: contiguousStrides(shape),
});

const operand = (desc: OperandDesc): ExpectedTensor => {
  const [sb, sh, ss, sd] = desc.strides;
  return {
    dtypes: [desc.dtype],
    shape: callerShape(desc),
    strides: desc.starts === 'strided' ? [sb, sh, ss, sd] : [ss, sh, sd],
  };
};

const broadcast = (desc: BroadcastDesc | null, dtypes?: readonly DType[]): ExpectedTensor | null =>
  desc && {
    dtypes: dtypes ?? [desc.dtype],
    shape: desc.source,
    strides: desc.strides.slice(4 - desc.source.length),
  };

/** What each tensor of a forward problem is, by the name under which it is bound. */
export function expectedTensors(problem: AttentionProblem): Readonly<Record<string, ExpectedTensor>> {
  const { B, Hq, Sq, Skv, q, k, v, o, bias, mask, blockMask, dropout, captures } = problem;
  const rows = inLine(floats, rowShape(problem));
  const perHead = inLine(floats, [Hq]);
  const lengths = inLine(integers, [B]);
  const offsets = inLine(integers, [B + 1]);
  const table = ({ page }: OperandDesc): ExpectedTensor | null =>
    page && { ...page.table, dtypes: [page.table.dtype] };
  const expected: Record<string, ExpectedTensor | null> = {
    ...{ q: operand(q), k: operand(k), v: operand(v), o: operand(o) },
    ...{ lse: rows, max: rows, sumExp: rows, alibi: perHead, sink: perHead },
    bias: broadcast(bias),
    mask: broadcast(mask, bytes),
    blockMask: broadcast(blockMask),
    dropoutMask: broadcast(dropout?.kind === 'mask' ? dropout.mask : null, bytes),
    [dropoutMaskOutput]: inLine(['u8'], [B, Hq, Sq, Skv]),
    ...{ seqLensQ: lengths, seqLensKv: lengths, cuSeqLensQ: offsets, cuSeqLensKv: offsets },
    ...{ pageTableK: table(k), pageTableV: table(v), cuPagesK: offsets, cuPagesV: offsets },
  };
  for (const name of ['q', 'k', 'v', 'o', 'dO', 'dq', 'dk', 'dv'])
    expected[`raggedOffsets.${name}`] = offsets;
  for (const [name, desc] of Object.entries(captures))
    expected[captureTensor(name)] = { ...desc, dtypes: [desc.dtype] };
  return Object.fromEntries(Object.entries(expected).filter(([, one]) => one)) as Expected;
}

/** The same for backward. */
export function expectedBackwardTensors(
  { forward, dO }: BackwardProblem,
  { dq, dk, dv }: GradientDescs,
): Readonly<Record<string, ExpectedTensor>> {
  const { bias, Hq } = forward;
  const perHead = inLine(floats, [Hq]);
  return {
    ...expectedTensors(forward),
    ...{ dO: operand(dO), dq: operand(dq), dk: operand(dk), dv: operand(dv) },
    ...{ dLse: inLine(floats, rowShape(forward)), dAlibi: perHead, dsink: perHead },
    ...(bias ? { dbias: inLine([bias.dtype], bias.source) } : {}),
  };
}
