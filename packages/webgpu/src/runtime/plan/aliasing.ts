import { elementCount, elementsSpanned, InvalidArgumentError } from '@tilewise/core';
import type { AliasFallback, KernelSpec } from '../../codegen/kernel-spec.ts';
import { type ByteRange, overlap } from '../../device/byte-range.ts';
import type { BoundTensor } from './bind-slice.ts';
import type { ExpectedTensor } from './plan-tensors.ts';

/**
 * Whether some results of a kernel are so close together in one buffer that the kernel cannot bind all of
 * them.
 * @throws InvalidArgumentError if the bytes of two results overlap, unless the results are interleaved.
 */
export function shareResults(results: readonly BoundTensor[], { interleaved }: AliasFallback): boolean {
  const pairs = results.flatMap((a, n) => results.slice(n + 1).map(b => [a, b] as const));
  const meeting = pairs.filter(([a, b]) => overlap(a.resource, b.resource));
  const clash = meeting.find(([a, b]) => !interleaved && overlap(ownRange(a), ownRange(b)));
  if (clash) refuse(...clash, 'not share bytes with');
  return meeting.length > 0;
}

/**
 * Checks that a kernel writes to a buffer that it binds more than once only through disjoint ranges, and does
 * not read it, as WebGPU requires; and that none of its tensors contains bytes of another one that an earlier
 * kernel has written. Of two tensors with gaps, which may be interleaved, only the starts are compared.
 * @param earlier the tensors that earlier kernels wrote, to which those of this kernel are added.
 * @param layouts the layouts of tensors that may have gaps.
 * @throws InvalidArgumentError naming both tensors. The GPU would report the first error later and to no
 * caller, and never the second.
 */
export function checkAliasing(
  { name }: KernelSpec,
  tensors: readonly BoundTensor[],
  earlier: BoundTensor[] = [],
  layouts: Readonly<Record<string, ExpectedTensor>> = {},
): void {
  const hasGaps = ({ binding }: BoundTensor): boolean => {
    const layout = layouts[binding.name];
    return layout && elementsSpanned(layout) > elementCount(layout.shape);
  };
  const shareBytes = (a: BoundTensor, b: BoundTensor): boolean =>
    hasGaps(a) && hasGaps(b) ? startOf(a) === startOf(b) : overlap(ownRange(a), ownRange(b));
  const own = tensors.filter(({ binding }) => binding.access === 'read_write');
  const kernel = `, which the kernel '${name}'`;
  for (const written of [...earlier, ...own]) {
    for (const other of tensors) {
      if (other.binding.name === written.binding.name || other.resource.buffer !== written.resource.buffer)
        continue;
      if (!own.includes(written)) {
        if (shareBytes(other, written))
          refuse(written, other, 'not share bytes with', `${kernel} uses later`);
      } else if (other.binding.access === 'read') {
        refuse(written, other, 'be in a different buffer from', `${kernel} reads`);
      } else if (overlap(written.resource, other.resource)) {
        const rule = ' writes too; start both at multiples of 256 bytes';
        refuse(written, other, 'not share bytes with', kernel + rule);
      }
    }
  }
  earlier.push(...own);
}

function refuse(written: BoundTensor, other: BoundTensor, rule: string, reason = ''): never {
  throw new InvalidArgumentError(
    `buffers.${written.binding.name}`,
    `must ${rule} buffers.${other.binding.name}${reason}`,
  );
}

/** The byte at which the whole tensor starts in its buffer. */
const startOf = ({ resource, skipped }: BoundTensor): number => resource.offset + skipped;

/** The bytes from the first to the last element. */
const ownRange = (tensor: BoundTensor): ByteRange => ({
  buffer: tensor.resource.buffer,
  offset: startOf(tensor),
  size: tensor.bytes,
});
