import { InvalidArgumentError } from '@tilewise/core';
import type { AliasFallback, KernelSpec } from '../../codegen/kernel-spec.ts';
import { type ByteRange, overlap } from '../../device/byte-range.ts';
import type { BoundTensor } from './bind-slice.ts';

/**
 * Whether some results of a kernel are so close together in one buffer that the kernel cannot bind all of
 * them.
 * @throws InvalidArgumentError if the bytes of two results overlap, unless the results are interleaved.
 */
export function shareResults(results: readonly BoundTensor[], { interleaved }: AliasFallback): boolean {
  const pairs = results.flatMap((a, n) => results.slice(n + 1).map(b => [a, b] as const));
  const meeting = pairs.filter(([a, b]) => overlap(a.resource, b.resource));
  const clash = meeting.find(([a, b]) => !interleaved && overlap(ownRange(a), ownRange(b)));
  if (clash) {
    const [a, b] = clash;
    throw new InvalidArgumentError(
      `buffers.${a.binding.name}`,
      `must not share bytes with buffers.${b.binding.name}`,
    );
  }
  return meeting.length > 0;
}

/**
 * Checks that a kernel writes to a buffer that it binds more than once only through disjoint ranges, and does
 * not read it, as WebGPU requires.
 * @throws InvalidArgumentError naming both tensors. The GPU would report the error later, and to nobody.
 */
export function checkAliasing({ name: kernel }: KernelSpec, tensors: readonly BoundTensor[]): void {
  for (const written of tensors.filter(({ binding }) => binding.access === 'read_write')) {
    for (const other of tensors) {
      if (other === written || other.resource.buffer !== written.resource.buffer) continue;
      const names = [written.binding.name, other.binding.name] as const;
      if (other.binding.access === 'read') {
        throw new InvalidArgumentError(
          `buffers.${names[0]}`,
          `must be in a different buffer from buffers.${names[1]}, which the kernel '${kernel}' reads`,
        );
      }
      if (overlap(written.resource, other.resource)) {
        throw new InvalidArgumentError(
          `buffers.${names[0]}`,
          `must not share bytes with buffers.${names[1]}, which the kernel '${kernel}' writes too; ` +
            'in one buffer, both must start at multiples of 256 bytes',
        );
      }
    }
  }
}

/** The bytes from the first to the last element. */
const ownRange = ({ resource: { buffer, offset }, skipped, bytes }: BoundTensor): ByteRange => ({
  buffer,
  offset: offset + skipped,
  size: bytes,
});
