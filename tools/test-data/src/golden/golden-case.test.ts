import { join } from 'node:path';
import { expect, test } from 'vitest';
import { fixturesDir } from '../data-folders.ts';
import { goldenCases, loadGolden } from './golden-case.ts';

const committed = join(fixturesDir(), 'attention');

test('every committed case has tensors of the shapes that its params say', () => {
  for (const name of goldenCases(committed)) {
    const { params, inputs, outputs } = loadGolden(name, committed);
    const { layout, B, Hq, Hk, Sq, Skv, Dqk, Dv } = params;
    if (layout === 'THD') continue;
    expect([inputs.q?.shape, inputs.k?.shape, inputs.v?.shape], name).toEqual([
      [B, Hq, Sq, Dqk],
      [B, Hk, Skv, Dqk],
      [B, Hk, Skv, Dv],
    ]);
    expect([outputs.o?.shape, outputs.lse?.shape, outputs.dq?.shape], name).toEqual([
      [B, Hq, Sq, Dv],
      [B, Hq, Sq],
      [B, Hq, Sq, Dqk],
    ]);
  }
});

test('fully masked rows have an lse of -inf', () => {
  for (const name of goldenCases(committed)) {
    const { params, outputs, deadRows } = loadGolden(name, committed);
    if (params.layout === 'THD') continue;
    const lse = outputs.lse?.data ?? new Float32Array();
    expect(lse.filter(value => value === -Infinity).length, name).toBe(deadRows);
  }
});

test('a case of one query and one key has o = v and lse = scale·q·k', () => {
  const { inputs, outputs, params } = loadGolden('tiny_1x1x1x1', committed);
  const [q, k, lse] = [inputs.q?.data[0], inputs.k?.data[0], outputs.lse?.data[0]];
  expect(outputs.o?.data).toEqual(inputs.v?.data);
  expect(lse).toBeCloseTo(params.scale * Number(q) * Number(k), 7);
});

test('a case can be read by its path, and an unknown name is an error', () => {
  expect(loadGolden(join(committed, '002_single_key.json')).name).toBe('single_key');
  expect(() => loadGolden('no_such_case', committed)).toThrow('There is no golden case "no_such_case"');
});
