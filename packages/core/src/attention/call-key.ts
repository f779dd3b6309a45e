import type { TensorDesc } from '../tensor/tensor-desc.ts';

/**
 * A text that two calls share only if the same rules hold for both: their tensors have the same names and
 * descriptions, and their options are equal.
 * @param isTensor whether a value is a tensor of the engine.
 * @returns null for a call with other values than tensors, with options other than numbers, strings and
 * booleans, or with a prototype, whose entries would be missed.
 */
export function callKey(
  tensors: object,
  options: object | undefined,
  isTensor: (value: unknown) => value is TensorDesc,
): string | null {
  let key = '';
  // Tensors and options that a prototype holds count, too, but are no entries.
  if ([tensors, options].some(own => own && Object.getPrototypeOf(own) !== Object.prototype)) return null;
  for (const [name, value] of Object.entries(options ?? { given: options })) {
    if (value === undefined) continue;
    if (typeof value !== 'boolean' && typeof value !== 'string' && !Number.isFinite(value)) return null;
    key += `;${name}=${JSON.stringify(value)}`;
  }
  for (const [name, tensor] of Object.entries(tensors ?? {}) as [string, unknown][]) {
    if (tensor === undefined) continue;
    if (!isTensor(tensor)) return null;
    key += `|${name}:${tensor.dtype}:${tensor.shape}:${tensor.strides}`;
  }
  return key;
}
