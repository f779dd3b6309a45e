import { sameShape } from '@tilewise/core';
import { canOverwrite, type Primitive } from '@tilewise/core/primitive';
import { ownerOf, type Program, type ProgramValue } from '../ir/program/program.ts';
import { touched } from './memory-plan.ts';

/** Whether an output may be bound to the memory of an input; both are given by id. */
export type Overwrites = (output: number, input: number) => boolean;

/** Whether a primitive copies its input, which has no effect if input and output are the same tensor. */
export const isCopy = (primitive: Primitive): boolean =>
  primitive.kind === 'map' && primitive.value.kind === 'load' && primitive.value.index.length === 0;

/**
 * Which outputs of a program may use the memory of which inputs. No step that reads the input may follow the
 * first step that writes the output; if that step reads the input itself, it must write each element where it
 * read the element.
 */
export function overwritesOf({ values, steps }: Program): Overwrites {
  const firstWrite = new Map<number, number>();
  const lastRead = new Map<number, number>();
  const ownerAt = (value: number): ProgramValue => values[ownerOf(value, values)];
  for (const [n, step] of steps.entries()) {
    for (const own of touched(step).map(ownerAt)) {
      if (own.kind === 'input') lastRead.set(own.tensor, n);
      if (own.kind === 'output' && !firstWrite.has(own.tensor)) firstWrite.set(own.tensor, n);
    }
  }
  const isOf = (tensor: number, value: number): boolean => {
    const own = ownerAt(value);
    return 'tensor' in own && own.tensor === tensor;
  };
  const startOf = (value: ProgramValue): number => (value.kind === 'view' && value.offset) || 0;

  function isInPlace(at: number, output: number, input: number): boolean {
    const step = steps[at];
    if (step.kind !== 'primitive') return false;
    const { primitive, inputs, outputs } = step;
    const descs = inputs.map(value => values[value].desc);
    const [to] = outputs.filter(value => isOf(output, value)).map(value => values[value]);
    const isSame = (from: ProgramValue): boolean =>
      startOf(from) === startOf(to) &&
      from.desc.dtype === to.desc.dtype &&
      sameShape(from.desc.strides, to.desc.strides);
    return inputs.every(
      (value, n) =>
        !isOf(input, value) ||
        (isSame(values[value]) && (isCopy(primitive) || canOverwrite(primitive, descs, n, to.desc))),
    );
  }

  return (output, input) => {
    const [written, read] = [firstWrite.get(output) ?? -1, lastRead.get(input) ?? -1];
    return read < written || (read === written && isInPlace(written, output, input));
  };
}
