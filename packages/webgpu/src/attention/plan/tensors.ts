import { type AttentionProblem, type BackwardProblem, elementCount, elementsSpanned } from '@tilewise/core';
import {
  type Footprint,
  type OperandLayout,
  operandLayouts,
  rowShape,
  rowsFootprint,
} from '@tilewise/core/engine';
import type { TensorSizes } from '../../codegen/kernel-spec.ts';
import type { Capabilities } from '../../device/capabilities/capabilities.ts';
import { fp8ListLength } from '../config/fp8-steps.ts';
import type { KernelTools } from '../config/kernel-config.ts';
import { captureGradient } from '../config/tensor-names.ts';
import { partialSums } from '../kernels/backward/partial-sums.ts';
import { type ForwardShape, workspaceVectors } from '../kernels/forward/forward-shape.ts';
import { partialVectors } from '../kernels/forward/partials.ts';
import type { Tile } from '../tiles/tile.ts';

/** The tensors of a plan, by the names under which kernels bind them. */
export interface PlanTensors extends TensorSizes {
  /** The layouts of the caller's operands and results. */
  readonly layouts: Readonly<Record<string, OperandLayout>>;
}

/** The workspace of a plan: its elements, and those that the work on some rows touches. */
interface Workspace {
  readonly span: number;
  readonly footprint: Footprint;
}

/** The sizes of tensors with these layouts, and of the workspace. */
export function sizesOf(layouts: PlanTensors['layouts'], workspace: Workspace): TensorSizes {
  const spans: Record<string, number> = { workspace: workspace.span };
  const footprints: Record<string, Footprint> = { workspace: workspace.footprint };
  for (const [name, layout] of Object.entries(layouts)) {
    spans[name] = elementsSpanned(layout);
    if (layout.footprint) footprints[name] = layout.footprint;
  }
  return { spans, footprints };
}

/**
 * @param others the sizes of tensors that are not in the operand table: further regions of the workspace, and
 * gradients of captures.
 */
function planTensors(
  problem: AttentionProblem | BackwardProblem,
  { mxfp8 }: KernelTools,
  workspace: Workspace,
  others: Readonly<Record<string, number>> = {},
): PlanTensors {
  const forward = 'forward' in problem ? problem.forward : problem;
  const layouts = { ...operandLayouts(problem), ...(mxfp8 && operandLayouts(problem, mxfp8.operands)) };
  const { spans, footprints } = sizesOf(layouts, workspace);
  const regions = mxfp8?.regions(forward);
  return { layouts, footprints, spans: { ...spans, ...regions, ...others, fp8: fp8ListLength } };
}

/** The tensors of forward. The workspace holds the results of parts of the keys, in vec4s. */
export const forwardTensors = (
  problem: AttentionProblem,
  shape: ForwardShape,
  tools: KernelTools,
): PlanTensors =>
  planTensors(problem, tools, {
    span: workspaceVectors(problem, shape),
    footprint: rowsFootprint(problem, shape.parts * partialVectors(problem.Dv)),
  });

/**
 * The tensors of backward. The workspace holds two floats for each row, then the partial sums of kernels.
 * @param dq the tile of dQ.
 */
export function backwardTensors(
  problem: BackwardProblem,
  tools: KernelTools,
  dq: Tile,
  capabilities: Capabilities,
): PlanTensors {
  const { forward } = problem;
  const gradients = Object.entries(forward.captures).map(([name, { shape }]) => [
    captureGradient(name),
    elementCount(shape),
  ]);
  // Never empty, because kernels bind the workspace even if there are no queries.
  const span = Math.max(elementCount(rowShape(forward)), 1);
  return planTensors(
    problem,
    tools,
    { span, footprint: rowsFootprint(forward) },
    {
      [partialSums]: Math.max(
        ...[tools.captureGradients, tools.inputGradients].map(
          sums => sums?.vectors(problem, dq, capabilities) ?? 0,
        ),
      ),
      ...Object.fromEntries(gradients),
    },
  );
}
