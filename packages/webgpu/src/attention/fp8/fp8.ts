import { type AttentionProblem, type Fp8ScalarName, fp8ScalarNames } from '@tilewise/core';
import { type Fp8StepName, formatPRange, fp8Readers, fp8Steps } from '@tilewise/core/engine';
import type { WgslPiece } from '@tilewise/philox/wgsl';
import { storageFormat } from '../../codegen/formats/storage-format.ts';
import { wordTensor } from '../../codegen/formats/tensor-binding.ts';
import { type KernelSpec, kernelSpec } from '../../codegen/kernel-spec.ts';
import { readElement } from '../../codegen/shader-part.ts';
import { statements } from '../../codegen/text.ts';
import { type AmaxName, amaxIndex, amaxNames, type Fp8Kernel } from '../config/fp8-steps.ts';
import type { Fp8Tools } from '../config/kernel-config.ts';
import { listPart } from '../layout/list.ts';
import { fp8OutputKernel } from './fp8-output.ts';

/** The list `fp8` in kernels that measure largest values. */
const atomics = /* @__PURE__ */ wordTensor('fp8', 'read_write', 'atomic<u32>');

/** The scale of P for operands that had block scales; their dS is rounded in blocks. */
const blockScaleS = { forward: 16, backward: 256 } as const;

/**
 * The FP8 arithmetic of a kernel that uses the steps `used` and measures the largest values `measured`: for
 * each step of `fp8Steps`, a function with its name after `fp8_`. The kernel binds the list `fp8` (f32: the
 * scalars in the order of `fp8ScalarNames`, then the largest values), for writing only if it measures
 * something. A maximum does not depend on the order of its operands, so atomics give the same result in every
 * run; the bits of floats ≥ 0 have the same order as the floats.
 */
function fp8Arithmetic(
  { fp8, q }: AttentionProblem,
  used: readonly Fp8StepName[],
  measured: readonly AmaxName[],
  pass: 'forward' | 'backward',
): Fp8Kernel {
  const dequantised = fp8?.kind === 'dequantised' ? fp8.dtype : null;
  const fixed = dequantised ? blockScaleS[pass] : null;
  const rounding = roundingOf({ fp8, q });
  const measures = measured.length > 0;
  const scalars = fixed ? {} : listPart('fp8', 'f32');
  const scalar = (name: Fp8ScalarName): string => {
    if (fixed) return name === 'scaleS' ? `${fixed}.0` : name === 'descaleS' ? `${1 / fixed}` : '1.0';
    const at = `P.fp8_base + ${fp8ScalarNames.indexOf(name)}u`;
    return measures ? `bitcast<f32>(atomicLoad(&fp8[${at}]))` : readElement('fp8', at);
  };
  const code = (name: Fp8StepName): string => {
    const { descales = [], amax, scale, rounds } = fp8Steps[name];
    const watched = amax !== undefined && measured.includes(amax);
    return `fn fp8_${name}(x: vec4f) -> vec4f {
  ${statements(
    `let y = ${['x', ...descales.map(scalar)].join(' * ')};`,
    watched && `${amax} = max(max(max(${amax}, abs(y.x)), abs(y.y)), max(abs(y.z), abs(y.w)));`,
    `let z = ${scale ? `y * ${scalar(scale)}` : 'y'};`,
    `return ${(fixed ? name === 'weight' : rounds) ? rounding.round4('z') : 'z'};`,
  )}
}`;
  };
  return {
    parts: [
      measures
        ? { ...atomics, bindings: atomics.bindings.map(own => ({ ...own, updates: !fixed })) }
        : scalars,
      {
        requires: rounding.requires,
        code: [...measured.map(name => `var<private> ${name}: f32 = 0.0;`), ...used.map(code)].join('\n\n'),
      },
    ],
    apply: (step, x) => `fp8_${step}(${x})`,
    finish: measured
      .map(name => `atomicMax(&fp8[P.fp8_base + ${amaxIndex(name)}u], bitcast<u32>(${name}));`)
      .join('\n'),
  };
}

/** How P and, in backward, dS are rounded: WGSL that maps one vec4f to another. */
function roundingOf({ fp8, q }: Pick<AttentionProblem, 'fp8' | 'q'>): {
  readonly round4: (value: string) => string;
  readonly requires: readonly WgslPiece[];
} {
  const formatP = fp8?.kind === 'scaled' ? fp8.formatP : undefined;
  const range = formatP && formatPRange[formatP.dtype];
  if (range) {
    const [least, largest] = range.map(n => `vec4f(${n}.0)`);
    const zero = `vec4f(${formatP.zeroPoint ?? 0}.0)`;
    return { round4: x => `clamp(round(${x} + ${zero}), ${least}, ${largest}) - ${zero}`, requires: [] };
  }
  const { dtype } = (fp8?.kind === 'dequantised' ? fp8 : formatP) ?? q;
  const { round4, requires } = storageFormat(dtype);
  return { round4: round4 ?? (x => x), requires };
}

/**
 * The kernels that set the measured largest values to 0 before other kernels update them; none if no value is
 * measured.
 */
function clearAmaxKernels(measured: readonly AmaxName[]): KernelSpec[] {
  if (measured.length === 0) return [];
  const clear = kernelSpec({
    name: 'attention amax clear',
    groups: 1,
    workgroupSize: amaxNames.length,
    parts: [atomics],
    body: `  atomicStore(&fp8[P.fp8_base + ${fp8ScalarNames.length}u + lane], 0u);`,
  });
  return [clear];
}

/** The kernels of FP8. */
export const fp8Tools: Fp8Tools = {
  readers: fp8Readers,
  arithmetic: fp8Arithmetic,
  clearAmaxKernels,
  outputKernel: fp8OutputKernel,
};
