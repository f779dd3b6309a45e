import { normalise, normaliseBackward, type SdpaBackwardOptions, Tensor } from '@tilewise/core';
import { add, load, mul, scoreMod, sub } from '@tilewise/core/expr';
import { expect, test } from 'vitest';
import { allTools } from '../../api/tools/all-tools.ts';
import { guaranteedCapabilities, type KernelSpec, type TileSelector } from '../../index.ts';
import { matrixTile } from '../../subpaths/matrix.ts';
import { subgroupTile } from '../../subpaths/tiles.ts';
import { backwardPlan } from './backward-plan.ts';
import { forwardPlan } from './forward-plan.ts';

/** A problem with these heads and queries, and with 64 channels. */
interface Call {
  readonly heads?: readonly [Hq: number, Hk: number];
  readonly Sq?: number;
  readonly Skv?: number;
  readonly dtype?: 'f32' | 'f16' | 'f8e4m3';
  readonly options?: SdpaBackwardOptions<Tensor>;
  readonly tiles?: TileSelector;
}

/** All kernels of a call, forward and backward, for a device with only what WebGPU guarantees. */
function kernelsOf({
  heads: [Hq, Hk] = [2, 2],
  Sq = 128,
  Skv = 128,
  dtype,
  options,
  tiles,
}: Call): KernelSpec[] {
  const [q, k] = [Tensor.zeros([1, Hq, Sq, 64], { dtype }), Tensor.zeros([1, Hk, Skv, 64], { dtype })];
  const lse = Tensor.zeros([1, Hq, Sq]);
  const forward = normalise({ q, k, v: k }, options).problem;
  const backward = normaliseBackward({ q, k, v: k, o: q, lse, dO: q }, options).problem;
  const able = {
    ...guaranteedCapabilities,
    ...{ subgroupMinSize: 32, subgroupMaxSize: 32, maxComputeWorkgroupStorageSize: 65536 },
    ...{ features: ['shader-f16', 'subgroups'], subgroupMatrixConfigs: [matrix] },
  };
  const on = { target: { capabilities: tiles ? able : guaranteedCapabilities, tiles }, tools: allTools };
  return [...forwardPlan(forward, on).kernels, ...backwardPlan(backward, on).kernels];
}

const matrix = { M: 16, N: 16, K: 16, component: 'f16' } as const;
const rows = { lanes: 8, group: 8 } as const;
const decode = { heads: [8, 2], Sq: 1, Skv: 4096 } as const;
const byDistance = scoreMod(({ score, q, kv }) => add(score, load('distance', [add(sub(q, kv), 128)])), {
  distance: Tensor.zeros([256]),
});
const relative = scoreMod(({ score, q, kv }) => add(score, mul(0.5, sub(kv, q))));

test.each<[file: string, kernel: string, call: Call]>([
  ['forward', 'forward', {}],
  ['forward-causal-dropout', 'forward', { options: { causal: true, dropout: { p: 0.1, seed: 1 } } }],
  [
    'forward-bias-mask-f16',
    'forward',
    {
      dtype: 'f16',
      options: { bias: Tensor.zeros([128, 128]), mask: Tensor.zeros([128], { dtype: 'bool' }) },
    },
  ],
  ['forward-score-mod', 'forward', { options: { scoreMod: relative } }],
  [
    'forward-subgroup',
    'forward',
    {
      tiles: () => ({ forward: subgroupTile({ stationary: 'queries', ...rows }) }),
    },
  ],
  [
    'forward-matrix',
    'forward',
    {
      dtype: 'f16',
      tiles: () => ({ forward: matrixTile({ stationary: 'queries', subgroups: 4, matrix }) }),
    },
  ],
  ['forward-fp8', 'fp8 output', { dtype: 'f8e4m3', options: { fp8: { descaleQ: 1, scaleS: 256 } } }],
  ['decode-gqa-part', 'forward part', decode],
  ['decode-gqa-merge', 'merge', decode],
  ['backward-delta', 'delta', {}],
  ['backward-dq', 'dq', {}],
  ['backward-dk-dv', 'dk dv', {}],
  [
    'backward-dq-subgroup',
    'dq',
    {
      tiles: () => ({ dq: subgroupTile({ stationary: 'queries', lanes: 8, group: 4 }) }),
    },
  ],
  ['backward-dcaptures', 'dCaptures', { options: { scoreMod: byDistance } }],
  ['backward-dbias', 'dbias', { options: { bias: Tensor.zeros([128, 128]), gradients: ['dbias'] } }],
])('wgsl/%s.wgsl is the text of the kernel; vitest -u updates the file', async (file, name, call) => {
  const kernel = kernelsOf(call).find(made => made.name === `attention ${name}`);
  await expect(kernel?.wgsl).toMatchFileSnapshot(`../../../wgsl/${file}.wgsl`);
});

// Dawn wraps a matrix load or store in a bounds check unless its offset is a constant.
test('matrices have constant offsets within arrays, except weights', () => {
  const tiles: TileSelector = () => ({
    forward: matrixTile({ stationary: 'queries', heldRows: 32, subgroups: 4, matrix }),
    dq: matrixTile({ stationary: 'queries', subgroups: 4, matrix }),
    dkdv: matrixTile({ stationary: 'keys', subgroups: 4, matrix }),
  });
  const kernels = kernelsOf({ dtype: 'f16', tiles }).filter(({ wgsl }) => wgsl.includes('subgroupMatrix'));
  expect(kernels.map(({ name }) => name)).toEqual(['attention forward', 'attention dk dv', 'attention dq']);
  for (const { wgsl } of kernels) {
    const places = [...wgsl.matchAll(/subgroupMatrix(?:Load|Store)<.*>\(&(\w+)(?:\[subgroup\])?, ([^,]*),/g)];
    const computed = places.filter(([, , offset]) => !/^\d+u$/.test(offset)).map(([, array]) => array);
    expect(places).toHaveLength(wgsl.match(/subgroupMatrix(?:Load|Store)</g)?.length ?? 0);
    expect(new Set(computed)).toEqual(new Set(['weights']));
  }
});

// Software adapters inline these functions, so each further call would take them as long to compile as the
// first.
test('kernels on workgroup tiles call the stages of scores in one place', () => {
  const bias = Tensor.zeros([128, 128]);
  const options = {
    bias,
    scoreMod: relative,
    dropout: { p: 0.1, seed: 1 },
    gradients: ['dq', 'dk', 'dv', 'dbias'],
  } as const;
  const calls = kernelsOf({ options }).map(({ name, wgsl }) => [
    name,
    ...['score4', 'dropout4'].map(called => wgsl.split(`${called}(seq, `).length - 1),
  ]);
  expect(calls).toEqual([
    ['attention forward', 1, 1],
    ['attention delta', 0, 0],
    ['attention dk dv', 1, 1],
    ['attention dq', 1, 1],
    ['attention dbias', 1, 1],
  ]);
});

test('no loop that reads workgroup memory has constant ends, which would have compilers unroll it', () => {
  const memory = /(staged|weights|row_partial)\[/;
  const unrollable = /for \(var (\w+) = \d+u; \1 < \d+u; \1\+\+\) \{([^{}]*)\}/g;
  for (const { name, wgsl } of [...kernelsOf({}), ...kernelsOf(decode)]) {
    const found = [...wgsl.matchAll(unrollable)].filter(([, , body]) => memory.test(body));
    expect(found.map(([text]) => `${name}: ${text}`)).toEqual([]);
  }
});
