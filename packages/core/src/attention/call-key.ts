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
      let text: string;
      if (own === tensors) {
        if (!isTensor(value)) return null;
        text = descriptionOf(value);
      } else if (typeof value === 'string') text = `'${value.length}:${value}`;
      else if (typeof value === 'boolean' || Number.isFinite(value)) text = `${value}`;
      else return null;
      // The lengths keep names and strings with separators from looking like several entries.
      key += `${name.length}:${name}=${text};`;
    }
  }
  return key;
}

/** The descriptions of tensors, which never change. */
const descriptions = /* @__PURE__ */ new WeakMap<TensorDesc, string>();

function descriptionOf(tensor: TensorDesc): string {
  const known = descriptions.get(tensor);
  if (known !== undefined) return known;
  const text = `${tensor.dtype}[${tensor.shape}][${tensor.strides}]`;
  descriptions.set(tensor, text);
  return text;
}
