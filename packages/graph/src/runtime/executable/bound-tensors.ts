import type { Tensor } from '@tilewise/core';
import type { ProgramValue } from '../../ir/program/program.ts';

/** The tensors of a program, by the ids of logical tensors. */
export interface BoundTensors<T> {
  tensor(id: number): T;
  /** The bound tensor, if it is on the host. */
  host(id: number): Tensor | undefined;
}

/** The tensor that is bound to an input or output of a program. */
export function boundTo<T>(value: ProgramValue, bound: BoundTensors<T>): T {
  if ('tensor' in value) return bound.tensor(value.tensor);
  throw new Error(`no tensor for a ${value.kind} of the program`);
}
