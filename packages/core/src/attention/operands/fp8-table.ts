import { type BlockScaleLayout, blockScaleShape } from '../../mxfp8/block-scales.ts';
import type { DType } from '../../tensor/dtype/dtype-traits.ts';
import { fp8ScalarNames } from '../problem/fp8.ts';
import { isRounded, type Mxfp8OperandName, mxfp8Operands } from '../problem/mxfp8.ts';
import type { AttentionProblem } from '../problem/problem.ts';
import { contiguousLayout } from './layouts.ts';
import type { OperandLayout, OperandRow } from './operand.ts';

const f32: readonly DType[] = ['f32'];
const codes: readonly DType[] = ['u8'];
const f8: readonly DType[] = ['f8e4m3', 'f8e5m2'];

const scalarRow: OperandRow = {
  ...{ form: 'list', forward: 'read', backward: 'read', dtypes: f32, packable: true },
  length: () => 1,
};

/**
 * The scalars of the option `fp8`, such as `fp8.descaleQ`: f32 tensors of one element each, which an engine
 * may gather into one list.
 */
export const fp8OperandTable: Readonly<Record<string, OperandRow>> = /* @__PURE__ */ Object.fromEntries(
  fp8ScalarNames.map(name => [`fp8.${name}`, scalarRow]),
);

/**
 * The tensors of the option `mxfp8`, such as `mxfp8.descaleQ`: the block scales of each quantised operand,
 * and the roundings of q, k and dO that only backward takes.
 */
export const mxfp8OperandTable: Readonly<Record<string, OperandRow>> = /* @__PURE__ */ Object.fromEntries(
  (Object.keys(mxfp8Operands) as Mxfp8OperandName[]).flatMap(name => {
    const { scales, axis } = mxfp8Operands[name];
    const access: Pick<OperandRow, 'forward' | 'backward'> = isRounded(name)
      ? { backward: 'read' }
      : { forward: 'read', backward: 'read' };
    const row = (
      dtypes: readonly DType[],
      layout: (problem: AttentionProblem, scales: BlockScaleLayout) => OperandLayout,
    ): OperandRow => ({
      ...{ ...access, form: 'tensor', dtypes },
      layout: problem => (problem.fp8?.kind === 'blocks' ? layout(problem, problem.fp8.layout) : null),
    });
    const scalesRow = row(codes, (problem, scaleLayout) =>
      contiguousLayout(codes, blockScaleShape(mxfp8Shape(problem, name), axis, scaleLayout)),
    );
    const valuesRow = row(f8, problem => contiguousLayout([problem.q.dtype], mxfp8Shape(problem, name)));
    return [[`mxfp8.${scales}`, scalesRow], ...(isRounded(name) ? [[`mxfp8.${name}`, valuesRow]] : [])];
  }),
);

/** Shape (B, H, S, D) of a quantised operand. */
export function mxfp8Shape(
  { B, Hq, Hk, Hv, Sq, Skv, Dqk, Dv }: AttentionProblem,
  name: Mxfp8OperandName,
): readonly [number, number, number, number] {
  const shapes = {
    q: [B, Hq, Sq, Dqk],
    k: [B, Hk, Skv, Dqk],
    v: [B, Hv, Skv, Dv],
    dO: [B, Hq, Sq, Dv],
  } as const;
  return shapes[mxfp8Operands[name].like];
}
