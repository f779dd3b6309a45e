import { expect, test } from 'vitest';
import { Graph } from '../graph.ts';

const exp = (input: object, more: object = {}): string =>
  JSON.stringify({
    ...{ version: '3.12.0', engine_kind: 'cpu', fpmath_mode: 'strict' },
    graph: [
      {
        ...{ id: 0, name: 'e', kind: 'Exp' },
        inputs: [{ ...tensor(0), ...input }],
        outputs: [tensor(1)],
        ...more,
      },
    ],
  });

const tensor = (id: number) => ({
  ...{ id, dtype: 'f32', shape: [2, 3], stride: [3, 1] },
  ...{ layout_type: 'strided', property_type: 'variable' },
});

test.each<[string, string, RegExp]>([
  ['a fraction as an extent', exp({ shape: [1.5, 3] }), /shape must hold integers ≥ 0.*got \[1\.5,3\]/],
  ['a negative extent', exp({ shape: [-5, 3] }), /shape must hold integers ≥ 0.*got \[-5,3\]/],
  ['a negative stride', exp({ stride: [-3, 1] }), /strides must be one integer ≥ 0/],
  ['strides of another rank', exp({ stride: [1] }), /strides must be one integer ≥ 0/],
  ['more elements than can be counted', exp({ shape: [2 ** 40, 2 ** 40] }), /fewer than 2\^53 elements/],
  ['an unknown layout', exp({ layout_type: 'blocked' }), /layout must be one of strided, any, opaque, undef/],
  ['an unknown property', exp({ property_type: 7 }), /property must be one of/],
  [
    'an attribute of null',
    exp({}, { attrs: { axis: null } }),
    /attribute 'axis' of Exp 0 'e' must be \{ type, value \}/,
  ],
  [
    'an unknown type of attribute',
    exp({}, { attrs: { axis: { type: 'u8', value: 1 } } }),
    /must have one of the types bool/,
  ],
])('JSON with %s is refused', (_, json, message) => {
  expect(() => Graph.fromJSON(json)).toThrow(message);
  expect(() => Graph.fromJSON(json)).toThrow(
    expect.objectContaining({ code: expect.stringMatching(/^INVALID_/) }),
  );
});

test('after the largest possible id, a new tensor gets an unused one', () => {
  const g = new Graph();
  const largest = g.tensor({ id: Number.MAX_SAFE_INTEGER, dtype: 'f32' });
  const [a, b] = [g.tensor({ dtype: 'f32' }), g.tensor({ dtype: 'f32' })];
  expect(new Set([largest.id, a.id, b.id]).size).toBe(3);
  g.add({ kind: 'Exp', inputs: [a], outputs: [b], id: Number.MAX_SAFE_INTEGER });
  expect(g.op('Exp', { inputs: [b], outputs: [largest] }).id).toBe(0);
});

test('a misspelt option is named, with the one that was meant', () => {
  const g = new Graph();
  const t = g.tensor({ dtype: 'f32' });
  expect(() => g.op('Exp', { attr: {}, inputs: [t], outputs: [t] } as never)).toThrow(
    "options has no 'attr'; did you mean 'attrs'?",
  );
  expect(() => g.tensor({ dtyp: 'f32' } as never)).toThrow("options has no 'dtyp'; did you mean 'dtype'?");
  expect(() => g.finalize({ output: [t] } as never)).toThrow("did you mean 'outputs'?");
  expect(() => g.partitions({ polic: 'debug' } as never)).toThrow("did you mean 'policy'?");
});

test('a constant of more elements than memory holds is refused', () => {
  const g = new Graph();
  const attrs = { value: [0], shape: [1e9, 1e9] };
  expect(() => g.op('Constant', { attrs, inputs: [], outputs: [g.tensor({ dtype: 'f32' })] })).toThrow(
    /attribute 'shape' must have at most 268435456 elements/,
  );
});

test('an attribute of undefined is left out, and one of null refused', () => {
  const g = new Graph();
  const t = g.tensor({ dtype: 'f32' });
  const attrs = { axis: undefined, mode: 'none' as const };
  g.op('SoftMax', { attrs, inputs: [t], outputs: [g.tensor({ dtype: 'f32' })] });
  expect(g.toJSON().graph[0].attrs).toEqual({ mode: { type: 'string', value: 'none' } });
  expect(() =>
    g.op('SoftMax', { attrs: { axis: null as never }, inputs: [t], outputs: [g.tensor({ dtype: 'f32' })] }),
  ).toThrow("attribute 'axis' must be integer, got null");
});
