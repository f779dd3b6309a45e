import { InvalidArgumentError, type Tensor, type TensorDesc } from '@tilewise/core';
import type { ProgramValue } from '../../ir/program/program.ts';
import type { Checked } from '../bindings/bindings.ts';

/** The tensors of a program, by the ids of logical tensors. */
export interface BoundTensors<T> {
  tensor(id: number): T;
  /** The bound tensor, if it is on the host. */
  host(id: number): Tensor | undefined;
}

/**
 * The tensors of a program. A host tensor is uploaded only if a step needs the tensor; often its numbers
 * suffice.
 * @param results the tensors that are not bound, by id.
 */
export function boundTensors<T extends TensorDesc>(
  { onHost, onEngine }: Checked<T>,
  upload: (tensor: Tensor, id: number) => T,
  results: Readonly<Record<number, T>> = {},
): BoundTensors<T> {
  return {
    host: id => onHost.get(id),
    tensor(id) {
      const host = onHost.get(id);
      const known = onEngine.get(id) ?? results[id] ?? (host && upload(host, id));
      if (known === undefined) throw new InvalidArgumentError(`tensor ${id}`, 'is not bound');
      return known;
    },
  };
}

/** The tensor that is bound to an input or output of a program. */
export function boundTo<T>(value: ProgramValue, bound: BoundTensors<T>): T {
  if ('tensor' in value) return bound.tensor(value.tensor);
  throw new Error(`no tensor for a ${value.kind} of the program`);
}
