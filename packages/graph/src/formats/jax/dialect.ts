import type { DType } from '@tilewise/core';
import { quoted } from '../python/names.ts';
import type { Dialect } from '../python/tensors/dialect.ts';

const dtypes: Readonly<Record<DType, string>> = {
  ...{ f32: 'float32', f16: 'float16', bf16: 'bfloat16', f8e4m3: 'float8_e4m3fn', f8e5m2: 'float8_e5m2' },
  ...{ i32: 'int32', u32: 'uint32', i8: 'int8', u8: 'uint8', bool: 'bool_' },
};

const functions: Readonly<Record<string, string>> = {
  abs: 'absolute',
  erf: 'jax.scipy.special.erf',
  sigmoid: 'jax.nn.sigmoid',
};

/** The Python of JAX. */
export const jaxDialect: Dialect = {
  library: 'JAX',
  dropoutSchemes: ['onednn', 'torch-efficient'],
  module: 'jnp',
  element: (name, x) => `${functions[name] ?? `jnp.${name}`}(${bare(x)})`,
  dtype: dtype => `jnp.${dtypes[dtype]}`,
  cast: (x, dtype) => `${x}.astype(jnp.${dtypes[dtype]})`,
  full: (shape, number) => `jnp.full(${shape}, ${number})`,
  number: code => `jnp.asarray(${code})`,
  list: numbers => `jnp.array([${numbers.join(', ')}])`,
  range: count => `jnp.arange(${count})`,
  // 64-bit numbers are pairs of words, which need no conversion.
  scalar: x => x,
  expand: (x, shape) => `jnp.broadcast_to(${bare(x)}, (${shape},))`,
  permute: (x, order) => `${x}.transpose(${order.join(', ')})`,
  narrow: (x, axis, first, count) => `${x}[${':, '.repeat(axis)}${first}:${first + count}]`,
  reduce: (op, x, axes, keeps) => `${x}.${op}(${axes}${keeps ? ', keepdims=True' : ''})`,
  softmax: (x, axis, log) => `jax.nn.${log ? 'log_softmax' : 'softmax'}(${x}, axis=${axis})`,
  parameter: name => `parameters[${quoted(name)}]`,
  // A traced array cannot index a NumPy array.
  constant: name => `jnp.asarray(constants["${name}"])`,
  rescaled: (call, scale) => `replace(${call}, scale=${scale})`,
};

/** An expression without its outer parentheses. */
function bare(x: string): string {
  return /^\([^()]*\)$/.test(x) ? x.slice(1, -1) : x;
}
