import { expect, test } from 'vitest';
import { cpuEngine } from '../cpu/index.ts';
import { encodeSafetensors, writeSafetensors } from './safetensors.ts';
import { Tensor } from './tensor.ts';

function transferred(): Tensor {
  const t = Tensor.from([1, 2, 3], [3]);
  structuredClone(t.data.buffer, { transfer: [t.data.buffer as ArrayBuffer] });
  return t;
}

function released(): Tensor {
  const engine = cpuEngine({ threads: 1 });
  const t = engine.upload(Tensor.from([1, 2, 3], [3]));
  engine.release(t);
  return t;
}

test.each([
  ['transferred', transferred],
  ['released', released],
])('a tensor whose storage was %s is refused before the first chunk', (_, lost) => {
  const tensors = new Map([
    ['a', Tensor.from([1], [1])],
    ['b', lost()],
  ]);
  const error = expect.objectContaining({ code: 'INVALID_ARGUMENT', argument: 'tensors.b' });
  expect(() => writeSafetensors(tensors).next()).toThrow(error);
  expect(() => encodeSafetensors(tensors)).toThrow(error);
});
