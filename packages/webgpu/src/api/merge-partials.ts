import {
  contiguousStrides,
  describeDense,
  type OperandDesc,
  type PartialAttention,
  type TensorDesc,
} from '@tilewise/core';
import {
  checkDesc,
  checkPartials,
  type OperandLayout,
  operandLayout,
  rowsFootprint,
} from '@tilewise/core/engine';
import { loadPartialKernel } from '../attention/kernels/forward/load-partial.ts';
import { type MergedRows, mergeKernel } from '../attention/kernels/forward/merge.ts';
import { partialVectors } from '../attention/kernels/forward/partials.ts';
import { rowAddressing } from '../attention/layout/row-results.ts';
import { sizesOf } from '../attention/plan/tensors.ts';
import { unlimitedBudget } from '../codegen/binding-pressure.ts';
import { renameTensors } from '../codegen/kernel-spec.ts';
import { type ShaderPart, u32Uniforms } from '../codegen/shader-part.ts';
import { checkContext } from '../device/check-kind.ts';
import { demandSupport } from '../device/support.ts';
import type { GpuContext } from '../runtime/context.ts';
import type { GpuTensor } from '../runtime/memory/gpu-tensor.ts';
import type { KernelPlan } from '../runtime/plan/kernel-plan.ts';
import { eagerCall } from './eager-attention.ts';
import { asGiven, type CallNumbers, makePlan } from './plan/plan.ts';
import { headSizeReasons } from './plan/support.ts';

/**
 * Merges attention over disjoint parts of the keys into attention over all keys, enqueued at once: o (B, Hq,
 * Sq, Dv) in the dtype of the parts and lse f32 (B, Hq, Sq), contiguous; packed (T, Hq, Dv) and (Hq, T). The
 * formula is that of `mergePartials` of `@tilewise/core`: a part that saw no key (lse = −∞) changes nothing,
 * and a sink must be given to one part only.
 * @param parts at least one, all of the same shape; o may have any strides, lse must be contiguous.
 * @throws InvalidArgumentError, InvalidShapeError, InvalidDTypeError or UnsupportedError before any work.
 */
export function mergePartials(
  ctx: GpuContext,
  parts: readonly PartialAttention<GpuTensor>[],
): PartialAttention<GpuTensor> {
  checkContext(ctx);
  const first = checkPartials(parts);
  const operands = Object.fromEntries(
    parts.flatMap((part, n) => (['o', 'lse'] as const).map(name => [`parts[${n}].${name}`, part[name]])),
  );
  for (const [name, tensor] of Object.entries(operands)) ctx.checkOwn(name, tensor);
  const result = checkDesc({ dtype: first.o.dtype, shape: first.o.shape });
  const rows = rowsOf(result);
  const layouts = parts.map(({ o }) => rowsOf(o));
  const results = [
    { name: 'o', desc: result, fill: null },
    { name: 'lse', desc: checkDesc({ dtype: 'f32', shape: first.lse.shape }), fill: null },
  ];
  const call = eagerCall(ctx, {
    key: ['merge', result, layouts],
    operands,
    contiguousNames: new Set(Object.keys(operands).filter(name => name.endsWith('.lse'))),
    results,
    dropout: null,
    tools: {},
    plan: unaligned => planMerge(ctx, rows, layouts, new Set(unaligned)),
    resultsOf: ({ o, lse }) => ({ o, lse }),
  });
  return ctx.run(call).results;
}

/** Each row is a query of a dense sequence. */
const denseRows: ShaderPart = {
  code: `struct Sequence {
  b: u32,
  length_q: u32,
}

fn sequence_at(b: u32) -> Sequence {
  return Sequence(b, P.Sq);
}`,
};

/** An operand o as (B, Hq, Sq, Dv); a packed o (T, Hq, Dv) becomes a batch of one sequence. */
function rowsOf({ dtype, shape, strides }: TensorDesc): OperandDesc {
  const isPacked = shape.length === 3;
  const order = isPacked ? [1, 0, 2] : [0, 1, 2, 3];
  return describeDense('o', {
    dtype,
    shape: [...(isPacked ? [1] : []), ...order.map(d => shape[d])],
    strides: [...(isPacked ? [0] : []), ...order.map(d => strides[d])],
  });
}

function planMerge(
  ctx: GpuContext,
  o: OperandDesc,
  given: readonly OperandDesc[],
  unaligned: ReadonlySet<string>,
): KernelPlan<CallNumbers> {
  const [B, Hq, Sq, Dv] = o.shape;
  const rows: MergedRows = {
    ...{ B, Hq, Sq, Dv, o, outputs: ['lse'], hasSink: false },
    parts: [{ uniforms: u32Uniforms({ Sq, Dv }) }, denseRows, rowAddressing({ q: o, Hq, Sq })],
  };
  demandSupport(headSizeReasons(Dv));
  const count = given.length;
  const each = { B, Hq, Sq, q: o };
  const lse = { dtypes: ['f32'], shape: [B, Hq, Sq], strides: contiguousStrides([B, Hq, Sq]) } as const;
  const layouts: Record<string, OperandLayout> = {
    o: operandLayout(o, 'q'),
    lse: { ...lse, footprint: rowsFootprint(each) },
  };
  const kernels = given.map((part, n) => {
    const names = { o: `parts[${n}].o`, lse: `parts[${n}].lse` };
    layouts[names.o] = operandLayout(part, 'q');
    layouts[names.lse] = layouts.lse;
    const access = { unaligned: new Set(unaligned.has(names.o) ? ['o'] : []) };
    return renameTensors(loadPartialKernel(rows, part, n, count, access), names);
  });
  const config = { unaligned: new Set<string>(), tools: {}, bindingBudget: unlimitedBudget };
  kernels.push(mergeKernel(rows, count, config));
  const partial = count * partialVectors(Dv);
  const workspace = { span: B * Hq * Sq * partial, footprint: rowsFootprint(each, partial) };
  return makePlan(ctx, { kernels, ...sizesOf(layouts, workspace) }, { dropout: null, scale: 1 }, asGiven);
}
