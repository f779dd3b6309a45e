import { describe, expect, test } from 'vitest';
import { Tensor } from '../../tensor/tensor.ts';
import { CallTree } from './call-tree.ts';

const isTensor = (value: unknown): value is Tensor => value instanceof Tensor;
const newTree = () => new CallTree<string>(isTensor);
const q = Tensor.zeros([2, 3]);

describe('the entry of a call', () => {
  const tree = newTree();
  const entry = tree.entry({ q, k: q }, { causal: true, scale: 0.5 });

  test('is that of a call with other tensors of the same description', () => {
    const other = Tensor.zeros([2, 3]);
    expect(tree.entry({ q: other, k: q }, { causal: true, scale: 0.5 })).toBe(entry);
    expect(tree.entry({ q, k: q, v: undefined }, { causal: true, window: undefined, scale: 0.5 })).toBe(
      entry,
    );
  });

  test.each<[string, object, object]>([
    ['dtype', { q: Tensor.zeros([2, 3], { dtype: 'f16' }), k: q }, { causal: true, scale: 0.5 }],
    ['shape', { q: Tensor.zeros([3, 2]), k: q }, { causal: true, scale: 0.5 }],
    ['rank', { q: Tensor.zeros([2, 3, 1]), k: q }, { causal: true, scale: 0.5 }],
    ['strides', { q: Tensor.zeros([3, 2]).permute(1, 0), k: q }, { causal: true, scale: 0.5 }],
    ['tensor names', { q, v: q }, { causal: true, scale: 0.5 }],
    ['number of tensors', { q }, { causal: true, scale: 0.5 }],
    ['option names', { q, k: q }, { causal: true, softcap: 0.5 }],
    ['option values', { q, k: q }, { causal: true, scale: 0.25 }],
    ['types of option values', { q, k: q }, { causal: 'true', scale: 0.5 }],
    ['number of options', { q, k: q }, { causal: true }],
  ])('is not that of a call with another %s', (_, tensors, options) => {
    expect(tree.entry(tensors, options)).not.toBe(entry);
    expect(tree.entry(tensors, options)).toBe(tree.entry({ ...tensors }, { ...options }));
  });
});

test.each<[string, object, object | undefined]>([
  ['a tensor of another engine', { q: { dtype: 'f32', shape: [1], strides: [1] } }, {}],
  ['an object as an option', { q }, { window: { left: 1 } }],
  ['a function as an option', { q }, { mask: () => 0 }],
  ['options with a prototype', { q }, Object.create({ causal: true })],
  ['tensors with a prototype', Object.create({ q }), {}],
  ['options that are null', { q }, null as never],
])('a call with %s has no entry', (_, tensors, options) => {
  expect(newTree().entry(tensors, options)).toBe(null);
});

test('a tree forgets all calls when it becomes too large', () => {
  const tree = newTree();
  const first = tree.entry({ q }, {});
  if (first) first.value = 'known';
  for (let scale = 1; scale < 1000; scale++) tree.entry({ q }, { scale });
  expect(tree.entry({ q }, {})?.value).toBe('known');
  for (let scale = 1; scale < 20_000; scale++) tree.entry({ q }, { scale });
  expect(tree.entry({ q }, {})?.value).toBeUndefined();
});
