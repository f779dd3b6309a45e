import { expect, test } from 'vitest';
import { GraphBuilder } from '../../testing/attention/attention-graph.ts';
import { toOnnx } from '../formats/onnx/index.ts';
import { graphCommand } from './command.ts';

/** One attention head of a transformer, followed by a projection. */
function model(): Uint8Array {
  const g = new GraphBuilder();
  const [q, k, v] = [1, 2, 3].map(() => g.input([1, 2, 8, 4]));
  const scores = g.op('MatMul', [q, k], { transpose_b: true });
  const o = g.op('MatMul', [g.op('SoftMax', [g.op('Multiply', [scores, g.scalar(0.5)])], { axis: -1 }), v]);
  g.op('MatMul', [o, g.input([4, 16])]);
  return toOnnx(g.graph);
}

async function run(args: readonly string[], files: Readonly<Record<string, Uint8Array>> = {}) {
  const lines: string[] = [];
  const code = await graphCommand(args, {
    print: text => lines.push(text),
    readFile: path => files[path],
  });
  return { code, text: lines.join('\n') };
}

test('prints attention with its options, the other operations, memory and work', async () => {
  const { code, text } = await run(['onnx', 'm.onnx'], { 'm.onnx': model() });
  expect(code).toBe(0);
  expect(text).toMatchInlineSnapshot(`
    "Operations after shape arithmetic: 3.
    Attention partitions: 1.
      B 1, Hq 2, Hk 2, Sq 8, Skv 8, Dqk 4, Dv 4, f32: 0.00205 MFLOP
    Operations outside attention: Multiply 1, MatMul 1.
    Their matrix products: 0.00205 MFLOP.
    Weights and constants: 0.00 MB. Intermediate results: 0.000576 MB."
  `);
});

test('says what is wrong with a file, and with a call', async () => {
  expect(await run(['onnx', 'm.onnx'], { 'm.onnx': new Uint8Array(3) })).toMatchObject({
    code: 1,
    text: expect.stringMatching(/^Cannot read m.onnx: .* is not a complete ONNX model/),
  });
  expect(await run(['onnx', 'missing.onnx'])).toEqual({ code: 1, text: 'There is no file missing.onnx.' });
  const misnamed = await run(['onnx', 'm.onnx', '--shape', 'x=1'], { 'm.onnx': model() });
  expect(misnamed.code).toBe(1);
  expect(misnamed.text).toContain("options.shapes has no 'x'; known names: t0, t1");
  for (const [args, fault] of [
    [[], 'Usage:'],
    [['run'], 'There is no command run.'],
    [['onnx'], 'Name a model.'],
    [['onnx', 'm.onnx', '--fast'], 'Unknown option --fast.'],
    [['onnx', '--fast', 'm.onnx'], 'Unknown option --fast.'],
    [['onnx', 'm.onnx', 'n.onnx'], 'Unexpected argument n.onnx: the model is m.onnx.'],
    [['onnx', '--shape', 'x=1'], 'Name a model.'],
    [['onnx', 'm.onnx', '--shape'], "--shape must be NAME=1,2,3, got ''."],
    [['onnx', 'm.onnx', '--shape', 'x'], "--shape must be NAME=1,2,3, got 'x'."],
  ] as const) {
    const { code, text } = await run(args);
    expect([code, text.split('\n')[0]]).toEqual([2, expect.stringContaining(fault)]);
    expect(text).toContain('Usage:');
  }
  expect(await run(['--help'])).toMatchObject({ code: 0, text: expect.stringMatching(/^Usage:/) });
});
