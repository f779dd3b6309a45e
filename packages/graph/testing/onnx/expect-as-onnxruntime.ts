import { cpuEngine } from '@tilewise/core/cpu';
import { expect } from 'vitest';
import { fromOnnx } from '../../src/formats/onnx/index.ts';
import { runOnnx } from '../compare/onnx-session.ts';
import { feedsOf, modelOf, type OperatorCase } from './operator-case.ts';

/** Expects that the CPU engine gives the shapes and, to four digits, the numbers of onnxruntime. */
export async function expectAsOnnxruntime(one: OperatorCase): Promise<void> {
  const feeds = feedsOf(one);
  const bytes = modelOf(one);
  const expected = await runOnnx(bytes, feeds);
  const model = await fromOnnx(bytes);
  const results = await model.run(cpuEngine(), feeds);
  for (const [name, wanted] of Object.entries(expected)) {
    expect(results[name].shape).toEqual([...wanted.shape]);
    const values = results[name].toFloat64();
    wanted.toFloat64().forEach((x, n) => {
      expect(values[n], `${name}[${n}]`).toBeCloseTo(x, 4);
    });
  }
  model.release();
}
