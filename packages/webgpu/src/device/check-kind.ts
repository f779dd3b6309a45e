import { InvalidArgumentError } from '@tilewise/core';
import { describeValue } from '@tilewise/philox/errors';

/** The members that identify the objects of each kind. */
const members = {
  'a GpuContext': ['checkAlive'],
  'a GPUDevice': ['createBuffer'],
  'a GPUAdapter': ['requestDevice'],
  'a GPUBuffer': ['usage'],
  'a GPUBuffer, a slice of one or a GpuTensor': ['usage', 'buffer'],
  'a GpuTensor': ['byteOffset'],
  'a GPUCommandEncoder or GPUComputePassEncoder': ['copyBufferToBuffer', 'dispatchWorkgroups'],
  'a Tensor on the host': ['data'],
} as const;

/** @throws InvalidArgumentError if the argument is not an object of the kind, whatever its type says. */
export function checkKind(argument: string, value: unknown, kind: keyof typeof members): void {
  const isObject = typeof value === 'object' && value !== null;
  if (isObject && members[kind].some(member => member in value)) return;
  throw new InvalidArgumentError(argument, `must be ${kind}, got ${describeValue(value)}`);
}

/** @throws InvalidArgumentError if `ctx` is not a context, was destroyed, or has lost its device. */
export function checkContext(ctx: { checkAlive(): void }): void {
  checkKind('ctx', ctx, 'a GpuContext');
  ctx.checkAlive();
}
