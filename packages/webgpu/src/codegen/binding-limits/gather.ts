import {
  invocationIndex,
  invocations,
  type KernelParts,
  type KernelSpec,
  kernelSpec,
  withFallbacks,
} from '../kernel-spec.ts';
import { gatheredBinding, gatheredTensor, type StorageBinding, u32Uniforms } from '../shader-part.ts';

/**
 * The kernels of a plan, preceded by the kernels that gather the tensors which they do not bind;
 * `workspace.gathered` is among the tensors.
 */
export interface GatheredKernels extends KernelParts {
  /** The offset of each gathered tensor in `workspace.gathered`, in words of 4 bytes. */
  readonly words: ReadonlyMap<string, number>;
}

/** Inserts a copying kernel at the start for each tensor that some kernel reads from `workspace.gathered`. */
export function withGathering(parts: KernelParts): GatheredKernels {
  const { kernels, spans } = parts;
  const tensors = new Map(
    withFallbacks(kernels).flatMap(({ gathered }) => gathered.map(binding => [binding.name, binding])),
  );
  const words = new Map<string, number>();
  const copies: KernelSpec[] = [];
  let end = 0;
  for (const [name, binding] of tensors) {
    const count = wordsOf(binding, spans[name] ?? 0);
    words.set(name, end);
    copies.push(gatherKernel(binding, count, end));
    end += count;
  }
  if (copies.length === 0) return { ...parts, words };
  return { ...parts, kernels: [...copies, ...kernels], spans: { ...spans, [gatheredTensor]: end }, words };
}

/** The number of words that a tensor touches, whatever its start within a word. */
function wordsOf({ elementBytes }: StorageBinding, elements: number): number {
  return Math.ceil((elements * elementBytes) / 4) + (elementBytes < 4 && elements > 0 ? 1 : 0);
}

/**
 * Copies a tensor's words unchanged to `workspace.gathered`, starting at word `to`; the last word may be
 * beyond the end of the buffer.
 */
function gatherKernel({ name, elementBytes }: StorageBinding, count: number, to: number): KernelSpec {
  const target_base = { wordOf: gatheredTensor };
  return kernelSpec({
    name: 'gather',
    ...invocations(count),
    parts: [
      {
        bindings: [
          { name, variable: 'source', element: 'u32', access: 'read', elementBytes, alignment: elementBytes },
          { ...gatheredBinding, variable: 'target_words', access: 'read_write' },
        ],
        uniforms: u32Uniforms({ count, source_base: { wordOf: name }, target_base, to }),
      },
    ],
    body: `
  let n = ${invocationIndex};
  if (n < min(P.count, arrayLength(&source) - P.source_base)) {
    target_words[P.target_base + P.to + n] = source[P.source_base + n];
  }`,
  });
}
