import type { DType } from '@tilewise/core';
import { quoted } from '../python/names.ts';
import type { Dialect } from '../python/tensors/dialect.ts';

const dtypes: Readonly<Record<DType, string>> = {
  ...{ f32: 'float32', f16: 'float16', bf16: 'bfloat16', f8e4m3: 'float8_e4m3fn', f8e5m2: 'float8_e5m2' },
  // PyTorch has no arithmetic on uint32.
  ...{ i32: 'int32', u32: 'int64', i8: 'int8', u8: 'uint8', bool: 'bool' },
};

const reductions = { sum: 'sum', max: 'amax', min: 'amin' } as const;

/** The Python of PyTorch. */
export const torchDialect: Dialect = {
  library: 'PyTorch',
  dropoutSchemes: ['onednn', 'torch-efficient', 'flash-attention-2'],
  module: 'torch',
  element: (name, x) => `${x}.${name}()`,
  dtype: dtype => `torch.${dtypes[dtype]}`,
  cast: (x, dtype) =>
    dtype === 'f32' ? `${x}.float()` : dtype === 'i32' ? `${x}.int()` : `${x}.to(torch.${dtypes[dtype]})`,
  full: (shape, number) => `torch.full(${shape}, ${number}, device=place.device)`,
  number: code => `torch.tensor(${code})`,
  list: (numbers, like = 'place') => `torch.tensor([${numbers.join(', ')}], device=${like}.device)`,
  range: count => `torch.arange(${count}, device=place.device)`,
  scalar: (x, type) => `${type}(${x})`,
  expand: (x, shape) => `${x}.expand(${shape})`,
  permute: (x, order) => `${x}.permute(${order.join(', ')})`,
  narrow: (x, axis, first, count) => `${x}.narrow(${axis}, ${first}, ${count})`,
  reduce: (op, x, axes, keeps) => `${x}.${reductions[op]}(${axes}${keeps ? ', keepdim=True' : ''})`,
  softmax: (x, axis, log) => `torch.${log ? 'log_softmax' : 'softmax'}(${x}, ${axis})`,
  parameter: name => `self.get_parameter(${quoted(name)})`,
  constant: name => `self.${name}`,
  rescaled: (call, scale) => `replace(${call}, scale=${scale})`,
};
