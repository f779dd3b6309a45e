import type { Capabilities } from '../../device/capabilities/capabilities.ts';
import type { KernelSpec, TensorSizes } from '../kernel-spec.ts';
import { segmentName, tensorOf } from '../shader-part.ts';
import { bindingLimit, dispatchSplits } from './dispatch-splits.ts';

/**
 * Makes a kernel, which binds large tensors in segments if the device requires it.
 * @param make makes the kernel for a device that has `fewer` bindings less.
 */
export type InSegments = (
  make: (fewer: number) => KernelSpec,
  tensors: TensorSizes,
  capabilities: Capabilities,
) => KernelSpec;

/** More segments would leave no bindings for other tensors. */
const maxSegments = 4;

/**
 * Makes a kernel. If a single workgroup needs more of some tensor than can be bound at once, the kernel binds
 * the tensor several times, each time a different segment, in as few segments as possible. If it would need
 * too many segments, the kernel is left as it is, and its plan reports the problem.
 */
export const inSegments: InSegments = (make, tensors, capabilities) => {
  const limit = bindingLimit(capabilities);
  const alignment = capabilities.minStorageBufferOffsetAlignment;
  const bytes = Math.max(Math.floor((limit.bytes - limit.slack) / alignment), 1) * alignment;
  const counts = new Map<string, number>();
  const first = make(0);
  let kernel: KernelSpec | null = first;
  while (kernel) {
    const tooLarge = dispatchSplits(kernel, tensors, limit);
    if (typeof tooLarge !== 'string') return kernel;
    const binding = kernel.bindings.find(({ name }) => name === tooLarge);
    const tensor = binding ? tensorOf(binding) : tooLarge;
    const count = (counts.get(tensor) ?? 1) + 1;
    if (count > maxSegments || binding?.access !== 'read') break;
    counts.set(tensor, count);
    const added = [...counts.values()].reduce((sum, own) => sum + own - 1, 0);
    kernel = make(added);
    for (const [name, own] of counts) kernel &&= bindInSegments(kernel, name, own, bytes);
  }
  return first;
};

/**
 * Binds a tensor that a kernel reads `count` times, each time another segment; null if the kernel reads the
 * tensor in another way than by indexing its array. Indexing becomes the call of a function that finds the
 * segment. Kernels do not index local variables that have the name of a tensor.
 * @param bytes the size of a segment.
 */
function bindInSegments(kernel: KernelSpec, name: string, count: number, bytes: number): KernelSpec | null {
  const at = kernel.bindings.findIndex(binding => binding.name === name);
  const binding = kernel.bindings[at];
  if (!binding) return null;
  const { variable = name, element, elementBytes } = binding;
  const declare = (n: number, own: string): string =>
    `@group(0) @binding(${n + 1}) var<storage, read> ${own}: array<${element}>;`;
  const [before, after] = kernel.wgsl.split(declare(at, variable));
  const read = new RegExp(`\\b${variable}\\[((?:[^[\\]]|\\[[^[\\]]*])*)]`, 'g');
  let calls = after;
  // An index may contain another read of the array.
  for (let text = ''; text !== calls; ) {
    text = calls;
    calls = text.replace(read, `${variable}_segmented($1)`);
  }
  if (new RegExp(`\\b${variable}\\[|&${variable}\\b`).test(calls)) return null;

  const numbers = Array.from({ length: count }, (_, n) => (n === 0 ? at : kernel.bindings.length + n - 1));
  const variables = numbers.map((_, n) => (n === 0 ? variable : `${variable}_${n}`));
  const length = bytes / elementSize(element);
  const cases = variables.map((own, n) => {
    const value = `return ${own}[at${n === 0 ? '' : ` - ${n * length}u`}];`;
    return n === count - 1 ? `  ${value}` : `  if (at < ${(n + 1) * length}u) {\n    ${value}\n  }`;
  });
  const reader = `/** Element \`at\` of ${variable}, bound in segments. */
fn ${variable}_segmented(at: u32) -> ${element} {
${cases.join('\n')}
}`;
  const declared = [...variables.map((own, n) => declare(numbers[n], own)), reader].join('\n\n');
  const segments = variables.map((own, index) => ({
    ...{ ...binding, name: segmentName(name, index), variable: own },
    segment: { of: name, index, count, elements: bytes / elementBytes },
  }));
  return {
    ...kernel,
    wgsl: before + declared + calls,
    bindings: [...kernel.bindings.map(own => (own === binding ? segments[0] : own)), ...segments.slice(1)],
  };
}

/** The size in bytes of an element of an array, such as `u32`, `vec4f` or `vec2<f16>`. */
function elementSize(element: string): number {
  const [, lanes = '1'] = /^vec(\d)/.exec(element) ?? [];
  return Number(lanes) * (element.includes('f16') ? 2 : 4);
}
