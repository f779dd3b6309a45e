import type { LogicalTensor } from '../../ir/tensor/logical-tensor.ts';

/** Names that inputs cannot have in Python: keywords, and names that a model uses itself. */
const reserved: readonly string[] =
  `False None True and as assert async await break class continue def del elif else except finally for from global if import in is
  lambda nonlocal not or pass raise return try while with yield self place math torch jnp replace parameters constants b s q k v
  absolute attention Attention attention_gradients Dropout greatest layer_norm least product rms_norm rotary saturated scatter_rows softmax
  take tensor_scatter`.split(/\s+/);

/** Returns a function that gives each tensor a unique name in Python. */
export function inputNames(): (tensor: LogicalTensor) => string {
  const taken = new Set<string>(reserved);
  return ({ id, name }) => {
    const plain = (name ?? '')
      .toLowerCase()
      .replace(/\W+/g, '_')
      .replace(/^_+|_+$/g, '');
    const start = /^[a-z]/.test(plain) && !/^[tx]\d+$/.test(plain) ? plain : `t${id}`;
    const found = taken.has(start) ? `${start}_${id}` : start;
    taken.add(found);
    return found;
  };
}
