import {
  type AttentionProblem,
  checkPartials,
  contiguousStrides,
  isContiguous,
  normalise,
  type OperandDesc,
  type PartialAttention,
  type TensorDesc,
  UnsupportedError,
} from '@tilewise/core';
import { type KernelConfig, noTools } from '../attention/kernel-config.ts';
import { mergeKernel } from '../attention/kernels/forward/merge.ts';
import { partialsPart, partialVectors, rowVectorGrid } from '../attention/kernels/forward/partials.ts';
import { readOperand } from '../attention/layout/operand.ts';
import { lowest, rowAddressing, rowTensor } from '../attention/layout/row-results.ts';
import { sequencePart } from '../attention/layout/sequence.ts';
import { forwardFootprints } from '../attention/plan/footprints.ts';
import { tensorSpans } from '../attention/plan/spans.ts';
import { unlimitedBudget } from '../codegen/binding-pressure.ts';
import { type KernelSpec, kernelSpec, renameTensors } from '../codegen/kernel-spec.ts';
import { checkContext } from '../device/check-kind.ts';
import type { GpuContext } from '../runtime/context.ts';
import type { GpuTensor } from '../runtime/gpu-tensor.ts';
import { enqueue } from './enqueue.ts';
import { demandSupport, makePlan, type Plan } from './plan.ts';
import { forwardReasons, support } from './support.ts';

/**
 * Attention over all keys from attention over disjoint parts of them, enqueued at once: o (B, Hq, Sq, Dv) in the dtype of the
 * parts and lse f32 (B, Hq, Sq), contiguous; packed (T, Hq, Dv) and (Hq, T). The formula is that of `mergePartials` of
 * `@tilewise/core`: a part that saw no key (lse = −∞) changes nothing, and a sink belongs to one part only.
 * @param parts at least one, all of the same shapes; o of any strides, lse contiguous.
 * @throws InvalidArgumentError, InvalidShapeError, InvalidDTypeError or UnsupportedError before any work.
 */
export function mergePartials(
  ctx: GpuContext,
  parts: readonly PartialAttention<GpuTensor>[],
): PartialAttention<GpuTensor> {
  checkContext(ctx);
  const first = checkPartials(parts);
  const operands: Record<string, GpuTensor> = {};
  parts.forEach(({ o, lse }, n) => {
    const names = { o: `parts[${n}].o`, lse: `parts[${n}].lse` };
    operands[names.o] = ctx.checkOwn(names.o, o);
    operands[names.lse] = ctx.checkOwn(names.lse, lse);
    if (!isContiguous(lse.shape, lse.strides)) {
      throw new UnsupportedError('webgpu', [
        `${names.lse} must be contiguous on the GPU, got strides [${lse.strides}]`,
      ]);
    }
  });
  const contiguous = ({ dtype, shape }: TensorDesc): TensorDesc => ({
    dtype,
    shape,
    strides: contiguousStrides(shape),
  });
  const result = contiguous(first.o);
  const problem = rowsProblem(result);
  const layouts = parts.map(({ o }) => rowsProblem(o).o);
  const results = {
    o: { desc: result, fill: null },
    lse: { desc: contiguous(first.lse), fill: null },
  };
  const { o, lse } = enqueue(ctx, {
    key: ['merge', result, layouts],
    operands,
    results,
    dropout: null,
    tools: noTools,
    plan: unaligned => planMerge(ctx, problem, layouts, new Set(unaligned)),
  });
  return { o, lse };
}

/** The rows of o as those of a problem without keys; a packed o (T, Hq, Dv) is that of one sequence. */
function rowsProblem({ dtype, shape, strides }: TensorDesc): AttentionProblem {
  const isPacked = shape.length === 3;
  const order = isPacked ? [1, 0, 2] : [0, 1, 2, 3];
  const lead = isPacked ? [1] : [];
  const o = {
    dtype,
    shape: [...lead, ...order.map(d => shape[d])],
    strides: [...lead.map(() => 0), ...order.map(d => strides[d])],
  };
  const [B, , , Dv] = o.shape;
  const none = { dtype, shape: [B, 1, 0, Dv], strides: [0, 0, Dv, 1] };
  const { problem } = normalise<TensorDesc>({ q: o, k: none, v: none });
  return { ...problem, o: problem.q };
}

function planMerge(
  ctx: GpuContext,
  problem: AttentionProblem,
  layouts: readonly OperandDesc[],
  unaligned: ReadonlySet<string>,
): Plan {
  const rows = problem.B * problem.Hq * problem.Sq;
  const spans: Record<string, number> = {
    ...tensorSpans(problem),
    workspace: rows * layouts.length * partialVectors(problem.Dv),
  };
  const footprints = { ...forwardFootprints(problem, { parts: layouts.length }) };
  const kernels = layouts.map((layout, n) => {
    const names = { o: `parts[${n}].o`, lse: `parts[${n}].lse` };
    const part = { ...problem, o: layout };
    spans[names.o] = tensorSpans(part).o;
    spans[names.lse] = rows;
    const { o, lse } = forwardFootprints(part, { parts: layouts.length });
    Object.assign(footprints, { [names.o]: o, [names.lse]: lse });
    const config = {
      unaligned: new Set(unaligned.has(names.o) ? ['o'] : []),
      tools: noTools,
      bindingBudget: unlimitedBudget,
    };
    return renameTensors(partKernel(part, n, layouts.length, config), names);
  });
  kernels.push(
    mergeKernel(problem, layouts.length, {
      unaligned: new Set(),
      tools: noTools,
      bindingBudget: unlimitedBudget,
    }),
  );
  const planParts = { kernels, spans, footprints };
  const reasons = forwardReasons(problem);
  demandSupport(support(reasons.length > 0 ? reasons : ctx.planReasons(planParts)));
  return makePlan(ctx, planParts, problem);
}

const lanes = 64;

/** Puts a part into the workspace as if its softmax had the maximum lse and the sum 1; one without keys, the sum 0. */
function partKernel(
  problem: AttentionProblem,
  part: number,
  parts: number,
  config: KernelConfig,
): KernelSpec {
  const { Dv } = problem;
  const body = `
  let n = (group % P.tiles) * ${lanes}u + lane;
  let i = n / (P.partial_vectors - 1u);
  let vector = n % (P.partial_vectors - 1u);
  if (i >= P.Sq) {
    return;
  }
  let h = (group / P.tiles) % P.Hq;
  let seq = sequence_at(group / (P.tiles * P.Hq));
  let at = row_at(seq, h, i);
  let first = partial_at(at, P.part);
  let bits = lse[P.lse_base + at];
  let dead = bits == 0xff800000u;
  if (vector == 0u) {
    workspace[first] = select(vec4f(bitcast<f32>(bits), 1.0, 0.0, 0.0), vec4f(${lowest}, 0.0, 0.0, 0.0), dead);
  }
  // What the o of a part without keys holds is not looked at.
  workspace[first + 1u + vector] = select(o_load4(o_row(seq, h, i), 4u * vector), vec4f(), dead);`;
  return kernelSpec({
    name: 'attention part',
    groups: rowVectorGrid(problem, lanes),
    workgroupSize: lanes,
    parts: [
      {
        uniforms: [
          { name: 'tiles', type: 'u32', value: rowVectorGrid(problem, lanes).tiles },
          { name: 'part', type: 'u32', value: part },
        ],
      },
      ...sequencePart(problem, { o: problem.o }),
      partialsPart(Dv, parts, 'read_write'),
      readOperand('o', problem.o, config),
      rowAddressing(problem),
      rowTensor('lse', 'read', 'u32'),
    ],
    body,
  });
}
