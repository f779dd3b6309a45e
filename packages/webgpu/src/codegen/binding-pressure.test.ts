import { expect, test } from 'vitest';
import { tensorsToGather } from './binding-pressure.ts';
import type { StorageBinding } from './shader-part.ts';

const binding = (name: string, gatherable = true): StorageBinding => ({
  ...{ name, variable: name, element: 'f32', access: 'read', elementBytes: 4, alignment: 4, gatherable },
});
const bindings = [binding('bias'), binding('seqLensQ'), binding('alibi'), binding('q', false)];
const gathered = (spans: Record<string, number>, upTo?: number): string[] => [
  ...tensorsToGather(bindings, { buffers: 3, spans, upTo }),
];

test('small tensors are gathered before large ones, and no more than necessary', () => {
  expect(gathered({ bias: 1e6, seqLensQ: 2, alibi: 8 })).toEqual(['seqLensQ', 'alibi']);
  expect(gathered({ bias: 1e6, seqLensQ: 2e6, alibi: 8 })).toEqual(['alibi', 'bias']);
  expect(gathered({ bias: 1e6, seqLensQ: 2, alibi: 8 }, 100)).toEqual(['seqLensQ', 'alibi']);
});

test('problems that differ in the sizes of small tensors gather the same tensors, so that they share kernels', () => {
  expect(gathered({ bias: 1e6, seqLensQ: 8, alibi: 2 })).toEqual(['seqLensQ', 'alibi']);
});
