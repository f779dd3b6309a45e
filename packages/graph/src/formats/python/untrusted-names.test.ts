import { Tensor } from '@tilewise/core';
import { expect, test } from 'vitest';
import { Graph } from '../../graph.ts';
import { toJax } from '../jax/index.ts';
import { toTorch } from '../torch/index.ts';

/** |w·x| with names that a file may bring. */
function named(name: string) {
  const g = new Graph();
  const tensor = () => g.tensor({ dtype: 'f32', shape: [2], name });
  const [x, w, product, y] = [tensor(), tensor(), tensor(), tensor()];
  g.op('Multiply', { inputs: [w, x], outputs: [product], name });
  g.op('Abs', { inputs: [product], outputs: [y], name });
  return { g: g.finalize(), w };
}

const exports = [
  ['PyTorch', toTorch],
  ['JAX', toJax],
] as const;

test.each(exports)('names of operations and parameters cannot add code to a program for %s', (_, write) => {
  const evil = 'w")\nprint("""evil"""); (\r\u0000"\\';
  const { g, w } = named(evil);
  const files = write(g, {
    parameters: { [evil]: w.id },
    weights: new Map([[evil, Tensor.from([1, 2], [2])]]),
  });
  const model = String(files['exported/model.py']);
  // Outside of comments and strings, nothing calls what the name calls.
  const code = model.replaceAll(/"(?:[^"\\\n]|\\.)*"/g, '""').replaceAll(/#.*/g, '');
  expect(model).toContain(JSON.stringify(evil));
  expect(code).not.toContain('print(');
  expect(model).not.toMatch(/[\r\0]/);
});

test.each(exports)('a package for %s cannot have a name that Python or its imports use', (_, write) => {
  const { g } = named('x');
  for (const name of ['class', 'None', 'torch', 'jax', 'numpy'])
    expect(() => write(g, { name })).toThrow(`options.name must be letters, digits and underscores`);
  expect(() => write(g, { name: '' })).toThrow("got ''");
  expect(Object.keys(write(g, { name: 'classes' }))).toContain('classes/model.py');
});

test.each(exports)(
  'inputs of a program for %s have distinct names, which the program does not use',
  (_, write) => {
    const g = new Graph();
    const inputs = ['q1_2', 'q1', 'q1', 'jax', 'int', 'float'].map(name =>
      g.tensor({ dtype: 'f32', shape: [2], name }),
    );
    const y = g.tensor({ dtype: 'f32' });
    g.op('Concat', { attrs: { axis: 0 }, inputs, outputs: [y] });
    const model = String(write(g.finalize())['exported/model.py']);
    const names = /def forward\(([^)]*)\)/.exec(model)?.[1].split(', ').slice(-6);
    expect(names).toEqual(['q1_2', 'q1', 'q1_2_2', 'jax_3', 'int_4', 'float_5']);
  },
);
