import { InvalidArgumentError } from '../../errors.ts';
import { type HostArray, isHostArray, numbersOf } from '../../tensor/host-array.ts';
import { maxOffset } from '../../tensor/shape.ts';
import type { TensorDesc } from '../../tensor/tensor.ts';
import { lengthsOnHost } from '../host/lengths.ts';
import { sideOf } from '../operands/table.ts';
import type { AttentionProblem, OperandDesc, Operands, RaggedName } from '../problem/problem.ts';

/**
 * Checks the ragged offsets of one operand, where it has some on the host: they do not decrease, and, where the lengths are on
 * the host too, every sequence lies within the tensor, and those that are written do not run into each other.
 * @throws InvalidArgumentError naming the option.
 */
export function checkRagged<T extends TensorDesc>(
  name: RaggedName,
  desc: OperandDesc,
  problem: AttentionProblem,
  operands: Operands<T | HostArray>,
  { written = false }: { readonly written?: boolean } = {},
): void {
  const argument = `raggedOffsets.${name}` as const;
  const list = operands[argument];
  if (desc.starts !== 'ragged' || !isHostArray(list)) return;
  const offsets = numbersOf(list);
  if (offsets[0] < 0) throw new InvalidArgumentError(argument, `must not be negative, got ${offsets[0]}`);
  const fall = offsets.findIndex((offset, b) => b > 0 && offset < offsets[b - 1]);
  if (fall > 0) {
    throw new InvalidArgumentError(
      argument,
      `must not decrease, got ${offsets[fall - 1]} then ${offsets[fall]}`,
    );
  }
  const lengths = lengthsOnHost(sideOf[name], problem, operands);
  if (!lengths) return;
  const [, H, T, D] = desc.shape;
  const span = desc.shape.includes(0) ? 0 : maxOffset(desc.shape, desc.strides) + 1;
  const [, sh, ss, sd] = desc.strides;
  lengths.forEach((length, b) => {
    const start = offsets[b];
    const end = start + (length - 1) * ss + (H - 1) * sh + (D - 1) * sd + 1;
    // One token has stride 0: it says nothing about where a second one would be.
    if (length > 0 && (length > T || end > span)) {
      throw new InvalidArgumentError(
        argument,
        `must leave room for each sequence within the ${span} elements of ${name}, got ${start} for ${length} tokens (sequence ${b})`,
      );
    }
    if (written && length > 0 && b + 1 < lengths.length && start + length * ss > offsets[b + 1]) {
      throw new InvalidArgumentError(
        argument,
        `must keep sequences apart, got ${start} then ${offsets[b + 1]} for ${length} tokens of ${ss} elements (sequence ${b})`,
      );
    }
  });
}
