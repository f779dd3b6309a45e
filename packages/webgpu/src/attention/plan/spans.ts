import type {
  AttentionProblem,
  BackwardProblem,
  BroadcastDesc,
  OperandDesc,
  PageDesc,
  RaggedName,
} from '@tilewise/core';
import { BLOCK_MASK_TILE, elementCount, maxOffset, rowShape } from '@tilewise/core';
import { fp8ListLength } from '../fp8-steps.ts';
import { type KernelTools, noTools } from '../kernel-config.ts';
import { captureGradient, captureTableVectors } from '../kernels/backward/capture-gradients.ts';
import { scoreInputVectors } from '../kernels/backward/dbias.ts';
import { partialSums } from '../kernels/backward/partial-sums.ts';
import { dropoutMaskOutput } from '../kernels/forward/dropout-mask.ts';
import { type ForwardShape, forwardShape, workspaceVectors } from '../kernels/forward/forward-shape.ts';
import { captureTensor } from '../score/captures.ts';

const spanOf = (shape: readonly number[], strides: readonly number[]): number =>
  elementCount(shape) === 0 ? 0 : maxOffset(shape, strides) + 1;

const tableSpan = ({ table: { shape, strides } }: PageDesc): number => spanOf(shape, strides);

const operandSpan = ({ shape, strides }: OperandDesc): number => spanOf(shape, strides);

/**
 * How many elements each tensor of a problem spans in memory, gaps included, by the name under which it is bound. Tensors
 * that the problem does not have are absent.
 */
export function tensorSpans(problem: AttentionProblem): Readonly<Record<string, number>> {
  const { B, Hq, Sq, Skv } = problem;
  const broadcastSpan = (desc: BroadcastDesc): number => spanOf([B, Hq, Sq, Skv], desc.strides);
  const rows = elementCount(rowShape(problem));
  const { dropout } = problem;
  return {
    q: operandSpan(problem.q),
    k: operandSpan(problem.k),
    v: operandSpan(problem.v),
    o: operandSpan(problem.o),
    lse: rows,
    max: rows,
    sumExp: rows,
    ...(problem.bias ? { bias: broadcastSpan(problem.bias) } : {}),
    ...(problem.mask ? { mask: broadcastSpan(problem.mask) } : {}),
    ...(problem.blockMask ? { blockMask: blockMaskSpan(problem, problem.blockMask) } : {}),
    ...(dropout?.kind === 'mask' ? { dropoutMask: broadcastSpan(dropout.mask) } : {}),
    [dropoutMaskOutput]: B * Hq * Sq * Skv,
    ...Object.fromEntries(
      Object.entries(problem.captures).map(([name, { shape, strides }]) => [
        captureTensor(name),
        spanOf(shape, strides),
      ]),
    ),
    fp8: fp8ListLength,
    alibi: Hq,
    sink: Hq,
    seqLensQ: B,
    seqLensKv: B,
    cuSeqLensQ: B + 1,
    cuSeqLensKv: B + 1,
    ...(problem.k.page ? { pageTableK: tableSpan(problem.k.page) } : {}),
    ...(problem.v.page ? { pageTableV: tableSpan(problem.v.page) } : {}),
    cuPagesK: B + 1,
    cuPagesV: B + 1,
    ...Object.fromEntries(raggedNames.map(name => [`raggedOffsets.${name}`, B + 1])),
  };
}

const raggedNames: readonly RaggedName[] = ['q', 'k', 'v', 'o', 'dO', 'dq', 'dk', 'dv'];

/** One byte for eight blocks of keys. */
function blockMaskSpan({ B, Hq, Sq, Skv }: AttentionProblem, { strides }: BroadcastDesc): number {
  const blocks = (S: number): number => Math.ceil(S / BLOCK_MASK_TILE);
  return spanOf([B, Hq, blocks(Sq), Math.ceil(blocks(Skv) / 8)], strides);
}

/** The same for forward; the workspace has what parts of the keys give, in vec4s. */
export function forwardTensorSpans(
  problem: AttentionProblem,
  shape: ForwardShape = forwardShape(problem),
  { mxfp8 }: KernelTools = noTools,
): Readonly<Record<string, number>> {
  return { ...tensorSpans(problem), ...mxfp8?.spans(problem), workspace: workspaceVectors(problem, shape) };
}

/** Layouts of the gradients by q, k and v. */
export interface GradientDescs {
  readonly dq: OperandDesc;
  readonly dk: OperandDesc;
  readonly dv: OperandDesc;
}

/** The same for backward; the workspace has two floats per row, then what kernels sum up in parts. */
export function backwardTensorSpans(
  problem: BackwardProblem,
  gradients: GradientDescs,
  { mxfp8 }: KernelTools = noTools,
): Readonly<Record<string, number>> {
  const { forward } = problem;
  const rows = elementCount(rowShape(forward));
  return {
    ...tensorSpans(forward),
    ...mxfp8?.spans(forward),
    dO: operandSpan(problem.dO),
    dLse: rows,
    // Never empty: kernels bind it also where there are no queries.
    workspace: Math.max(rows, 1),
    [partialSums]: Math.max(captureTableVectors(problem), scoreInputVectors(problem)),
    dq: operandSpan(gradients.dq),
    dk: operandSpan(gradients.dk),
    dv: operandSpan(gradients.dv),
    ...(forward.bias ? { dbias: elementCount(forward.bias.source) } : {}),
    dAlibi: forward.Hq,
    dsink: forward.Hq,
    ...Object.fromEntries(
      Object.entries(forward.captures).map(([name, { shape }]) => [
        captureGradient(name),
        elementCount(shape),
      ]),
    ),
  };
}

/** Whether two elements of a layout may lie in one place: some dimension steps by less than the dimensions inside it span. */
export function overlapsItself({ shape, strides }: OperandDesc): boolean {
  if (shape.includes(0)) return false;
  const dims = shape
    .map((extent, d) => ({ extent, stride: strides[d] ?? 0 }))
    .filter(({ extent }) => extent > 1);
  let span = 1;
  for (const { extent, stride } of dims.sort((a, b) => a.stride - b.stride)) {
    if (stride < span) return true;
    span += (extent - 1) * stride;
  }
  return false;
}
