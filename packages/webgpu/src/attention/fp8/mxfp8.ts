import {
  type AttentionProblem,
  type BlockScaleLayout,
  blockScaleShape,
  describeDense,
  elementCount,
  type OperandDesc,
} from '@tilewise/core';
import {
  checkDesc,
  type Mxfp8OperandName,
  mxfp8Operands,
  mxfp8OperandTable,
  mxfp8Shape,
} from '@tilewise/core/engine';
import { readBinding } from '../../codegen/formats/tensor-binding.ts';
import {
  invocationIndex,
  invocations,
  type KernelSpec,
  kernelSpec,
  renameTensors,
} from '../../codegen/kernel-spec.ts';
import { type ShaderPart, u32Uniforms } from '../../codegen/shader-part.ts';
import type { KernelConfig, Mxfp8Tools } from '../config/kernel-config.ts';
import { readOperand, writeOperand } from '../layout/operand.ts';
import { blockRoundingPart, roundBlocks } from './block-rounding.ts';

/*
 * MXFP8 by dequantisation: 8-bit values times a power of two are exact in bf16, so one kernel per operand
 * dequantises it into the workspace, and the kernels of every other problem run on the result. Only the
 * rounding of P and dS in these kernels is specific to MXFP8.
 */

const forwardNames = ['q', 'k', 'v'] as const;
const backwardNames = ['q', 'k', 'v', 'qT', 'kT', 'dO8', 'dOT'] as const;

const isBlocks = ({ fp8 }: AttentionProblem): boolean => fp8?.kind === 'blocks';
const region = (name: Mxfp8OperandName): string => `workspace.${name}`;
const scalesTensor = (name: Mxfp8OperandName): string => `mxfp8.${mxfp8Operands[name].scales}`;
/**
 * The name under which a quantised operand is bound; q, k and v keep the names that they have in the call.
 */
const valuesTensor = (name: Mxfp8OperandName): string => (mxfp8Operands[name].given ? `mxfp8.${name}` : name);

/** The tensors of dequantised problems' kernels that are regions of the workspace. */
const regions: Readonly<Record<string, string>> = {
  ...Object.fromEntries((['q', 'k', 'v', 'qT', 'kT', 'dOT'] as const).map(name => [name, region(name)])),
  dO: region('dO8'),
};

function dense(problem: AttentionProblem, name: Mxfp8OperandName, dtype: OperandDesc['dtype']): OperandDesc {
  return describeDense(name, checkDesc({ dtype, shape: mxfp8Shape(problem, name) }));
}

/** The problem with q, k and v dequantised in the workspace; null for a problem without block scales. */
function dequantisedProblem(problem: AttentionProblem): AttentionProblem | null {
  if (!isBlocks(problem)) return null;
  const { dtype } = problem.q;
  if (dtype !== 'f8e4m3' && dtype !== 'f8e5m2') throw new TypeError(`no block scales with ${dtype}`);
  return {
    ...problem,
    q: dense(problem, 'q', 'bf16'),
    k: dense(problem, 'k', 'bf16'),
    v: dense(problem, 'v', 'bf16'),
    fp8: { kind: 'dequantised', dtype },
  };
}

/** The kernels of problems with block scales. */
export const mxfp8Tools: Mxfp8Tools = {
  dequantisedProblem,
  // In the dequantised problem, dO is dO8.
  dequantisedBackward(problem) {
    const forward = dequantisedProblem(problem.forward);
    return forward && { ...problem, forward, dO: dense(forward, 'dO8', 'bf16') };
  },
  dequantiseKernels(problem, pass, config) {
    const { fp8 } = problem;
    if (fp8?.kind !== 'blocks') return [];
    const names = pass === 'forward' ? forwardNames : backwardNames;
    return names.map(name => dequantiseKernel(problem, name, fp8.layout, config));
  },
  onWorkspace: kernel => renameTensors(kernel, regions),
  roundedAlongPositions: problem => ({
    qT: dense(problem, 'qT', 'bf16'),
    kT: dense(problem, 'kT', 'bf16'),
    dOT: dense(problem, 'dOT', 'bf16'),
  }),
  operands: mxfp8OperandTable,
  regions(problem) {
    const names = isBlocks(problem) ? backwardNames : [];
    return Object.fromEntries(names.map(name => [region(name), elementCount(mxfp8Shape(problem, name))]));
  },
  blockRoundingPart,
  roundBlocks,
};

/** Dequantises an operand into the workspace; each lane converts four channels. */
function dequantiseKernel(
  problem: AttentionProblem,
  name: Mxfp8OperandName,
  layout: BlockScaleLayout,
  config: KernelConfig,
): KernelSpec {
  const { like, given } = mxfp8Operands[name];
  const values = given || like === 'dO' ? dense(problem, name, problem.q.dtype) : problem[like];
  const [B, H, S, D] = mxfp8Shape(problem, name);
  const vectors = Math.ceil(D / 4);
  const unaligned = new Set(config.unaligned.has(valuesTensor(name)) ? ['quantised'] : []);
  const kernel = kernelSpec({
    name: 'attention dequantise',
    ...invocations(B * H * S * vectors),
    parts: [
      { uniforms: u32Uniforms({ vectors, S, H, B }), code: 'struct Sequence {\n  b: u32,\n}' },
      scalesPart([B, H, S, D], name, layout),
      readOperand('quantised', values, { ...config, unaligned }),
      writeOperand('dequantised', dense(problem, name, 'bf16'), { ...config, unaligned: new Set() }),
    ],
    body: `
  let at = ${invocationIndex};
  let d = 4u * (at % P.vectors);
  let s = (at / P.vectors) % P.S;
  let head = at / (P.vectors * P.S);
  if (head >= P.B * P.H) {
    return;
  }
  let seq = Sequence(head / P.H);
  let h = head % P.H;
  let x = quantised_load4(quantised_row(seq, h, s), d);
  dequantised_store4(dequantised_row(seq, h, s), d, x * scales4(head, s, d));`,
  });
  return renameTensors(kernel, {
    ...{ quantised: valuesTensor(name), dequantised: region(name), scales: scalesTensor(name) },
  });
}

/**
 * `scales4(head, s, d) -> vec4f`: the scales of channels d to d + 3 of position s. If blocks run along
 * channels, the four scales are equal.
 */
function scalesPart(
  shape: readonly [number, number, number, number],
  name: Mxfp8OperandName,
  layout: BlockScaleLayout,
): ShaderPart {
  const { axis } = mxfp8Operands[name];
  const [, , rows, columns] = blockScaleShape(shape, axis, layout);
  const channels = axis === 'channels';
  const [row, column] = channels ? ['s', 'd / 32u'] : ['d', 's / 32u'];
  // The formula of core's `blockScaleIndex`.
  const index =
    layout === 'F8_128x4'
      ? `((${row} / 128u) * (P.scale_columns / 4u) + (${column}) / 4u) * 512u
    + (${row} % 32u) * 16u + ((${row} % 128u) / 32u) * 4u + (${column}) % 4u`
      : channels
        ? 's * P.scale_columns + d / 32u'
        : '(s / 32u) * P.scale_columns + d';
  // The code 0 stands for 2^-127, which is subnormal, and 255 for NaN.
  return {
    bindings: [readBinding('scales', { bytes: 1, scalarElement: 'u32' })],
    uniforms: u32Uniforms({
      scales_base: { offsetOf: 'scales' },
      scales_per_head: rows * columns,
      scale_columns: layout === 'F8_128x4' && !channels ? rows : columns,
    }),
    code: `fn scale_at(head: u32, s: u32, d: u32) -> f32 {
  let at = P.scales_base + head * P.scales_per_head + ${index};
  let code = (scales[at >> 2u] >> ((at & 3u) * 8u)) & 0xffu;
  return bitcast<f32>(select(select(code << 23u, 0x00400000u, code == 0u), 0x7fc00000u, code == 255u));
}

fn scales4(head: u32, s: u32, d: u32) -> vec4f {
  ${
    channels
      ? 'return vec4f(scale_at(head, s, d));'
      : `var x = vec4f();
  for (var c = 0u; c < min(4u, P.quantised_D - d); c++) {
    x[c] = scale_at(head, s, d + c);
  }
  return x;`
  }
}`,
  };
}
