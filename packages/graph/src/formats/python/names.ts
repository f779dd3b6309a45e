import type { LogicalTensor } from '../../ir/tensor/logical-tensor.ts';

const keywords: readonly string[] =
  `False None True and as assert async await break class continue def del elif else except finally for from global if import in is
  lambda nonlocal not or pass raise return try while with yield`.split(/\s+/);

/** Packages that an exported program imports, and that a package of the same name would hide. */
const imported = ['jax', 'math', 'numpy', 'torch'];

/** Names that inputs cannot have in Python besides the keywords: names that a model uses itself. */
const reserved: readonly string[] =
  `self place math torch jax jnp int float replace parameters constants b s q k v
  absolute attention Attention attention_gradients Dropout greatest layer_norm least product rms_norm rotary saturated scatter_rows softmax
  take tensor_scatter`.split(/\s+/);

/** Returns a function that gives each tensor a unique name in Python. */
export function inputNames(): (tensor: LogicalTensor) => string {
  const taken = new Set<string>([...keywords, ...reserved]);
  return ({ id, name }) => {
    const plain = (name ?? '')
      .toLowerCase()
      .replace(/\W+/g, '_')
      .replace(/^_+|_+$/g, '');
    const start = /^[a-z]/.test(plain) && !/^[tx]\d+$/.test(plain) ? plain : `t${id}`;
    let found = start;
    while (taken.has(found)) found = `${found}_${id}`;
    taken.add(found);
    return found;
  };
}

/** Whether a Python package may have this name. */
export function isPackageName(name: string): boolean {
  return /^[a-z]\w*$/i.test(name) && ![...keywords, ...imported].includes(name);
}

/** A text as a string of Python, whose escapes include those of JSON. A file may bring any text as a name. */
export function quoted(text: string): string {
  return JSON.stringify(text);
}

/** A text as part of a comment, which ends with its line. */
export function commented(text: string): string {
  return text.replace(/[\s\p{Cc}]+/gu, ' ');
}
