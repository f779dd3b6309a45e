/** The maximum number of tensors that a kernel reads and writes: the bindings that every device has. */
export const MAX_TENSORS = 8;

/** The maximum number of nodes in a fused expression. Longer ones gain nothing and compile slowly. */
export const MAX_NODES = 256;
