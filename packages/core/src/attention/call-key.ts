import type { TensorDesc } from '../tensor/tensor-desc.ts';

/**
 * A text that two calls share only if the same rules hold for both: their tensors have the same names and
 * descriptions, and their options are equal.
 * @param isTensor whether a value is a tensor of the engine.
 * @returns null if the inputs hold anything but tensors, if the options hold anything but numbers, strings
 * and booleans, or if either object has a prototype, whose entries would be missed.
 */
export function callKey(
  tensors: object,
  options: object | undefined = {},
  isTensor: (value: unknown) => value is TensorDesc,
): string | null {
  let key = '';
  for (const own of [tensors, options]) {
    if (!own || Object.getPrototypeOf(own) !== Object.prototype) return null;
    for (const [name, value] of Object.entries(own)) {
      if (value === undefined) continue;
      const isPlain = typeof value === 'boolean' || typeof value === 'string' || Number.isFinite(value);
      if (own === tensors ? !isTensor(value) : !isPlain) return null;
      const { dtype, shape, strides } = value;
      key += JSON.stringify(isPlain ? [name, value] : [name, dtype, shape, strides]);
    }
  }
  return key;
}
