import { InvalidArgumentError, normalise, Tensor } from '@tilewise/core';
import { expect, test } from 'vitest';
import { type Capabilities, guaranteedCapabilities, type SubgroupMatrixConfig } from '../index.ts';
import { type TileDescriptions, tilesFrom } from './tile-description.ts';

const matrix: SubgroupMatrixConfig = { M: 16, N: 16, K: 16, component: 'f16' };
const able: Capabilities = {
  ...guaranteedCapabilities,
  maxComputeWorkgroupStorageSize: 49152,
  subgroupMinSize: 32,
  subgroupMaxSize: 32,
  subgroupMatrixConfigs: [matrix],
};
const kept: TileDescriptions = {
  forward: { kind: 'matrix', stationary: 'queries', subgroups: 2, matrix },
  dq: { kind: 'subgroup', stationary: 'queries', lanes: 32, group: 8 },
  dkdv: { tx: 16, ty: 16, headDimChunk: 4 },
};
const problemOf = (D: number, dtype: 'f16' | 'f32') => {
  const q = Tensor.zeros([1, 1, 32, D], { dtype });
  return normalise({ q, k: q, v: q }).problem;
};

test('tiles that were stored as JSON can be used again', () => {
  const tiles = tilesFrom(JSON.parse(JSON.stringify(kept)))(problemOf(64, 'f16'), able);
  const shapes = Object.entries(tiles ?? {}).map(([role, { shape }]) => [role, shape]);
  expect(Object.fromEntries(shapes)).toEqual(kept);
});

test.each<[string, string[], number, 'f16' | 'f32', Capabilities]>([
  ['f32 is not rounded to multiply it', ['dq', 'dkdv'], 64, 'f32', able],
  ['rows of large heads are not held', ['dkdv'], 160, 'f16', able],
  ['a device without subgroups and with little memory computes none', [], 64, 'f16', guaranteedCapabilities],
])(
  'a kernel that a tile does not fit runs on the tile of the table: %s',
  (_, roles, D, dtype, capabilities) => {
    expect(Object.keys(tilesFrom(kept)(problemOf(D, dtype), capabilities) ?? {})).toEqual(roles);
  },
);

test.each<[string, unknown]>([
  ['descriptions', null],
  ['descriptions', { backward: { tx: 8, ty: 8, headDimChunk: 8 } }],
  ['descriptions.decode', { decode: { kind: 'subgroup', stationary: 'queries', lanes: 8, group: 4 } }],
  ['descriptions.forward', { forward: null }],
  ['descriptions.forward', { forward: { tx: 8, ty: 0, headDimChunk: 8 } }],
  ['descriptions.forward', { forward: { tx: 8, ty: 8, headDimChunk: 8, rows: 5 } }],
  ['descriptions.forward', { forward: { tx: 8, ty: 8, headDimChunk: 8, arithmetic: 'f64' } }],
  ['descriptions.forward', { forward: { tx: 8, ty: 8, headDimChunk: 8, rowReduction: 'lane' } }],
  ['descriptions.forward', { forward: { tx: 8, ty: 8, headDimChunk: 8, subgroupSize: 12 } }],
  ['descriptions.forward', { forward: { tx: 8, ty: 8, headDimChunk: 8, subgroupSize: '8' } }],
  ['descriptions.forward', { forward: { kind: 'air', tx: 8, ty: 8, headDimChunk: 8 } }],
  ['descriptions.dkdv', { dkdv: { kind: 'subgroup', stationary: 'queries', lanes: 8, group: 4 } }],
  ['descriptions.dq', { dq: { kind: 'subgroup', stationary: 'queries', lanes: 7, group: 4 } }],
  ['descriptions.dq', { dq: { kind: 'subgroup', stationary: 'queries', lanes: 8, group: 5 } }],
  ['descriptions.dq', { dq: { kind: 'matrix', stationary: 'queries', subgroups: 2 } }],
  [
    'descriptions.dq',
    { dq: { kind: 'matrix', stationary: 'queries', subgroups: 2, matrix: { ...matrix, K: 7 } } },
  ],
])('%s that describe no tile are refused: %j', (argument, descriptions) => {
  expect(() => tilesFrom(descriptions as TileDescriptions)).toThrow(InvalidArgumentError);
  expect(() => tilesFrom(descriptions as TileDescriptions)).toThrow(argument);
});
