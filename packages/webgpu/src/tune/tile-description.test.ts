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
  forward: { through: 'matrix', own: 'queries', subgroups: 2, matrix },
  dq: { through: 'subgroup', own: 'queries', lanes: 32, group: 8 },
  dkdv: { tx: 16, ty: 16, depth: 4 },
};
const problemOf = (D: number, dtype: 'f16' | 'f32') => {
  const q = Tensor.zeros([1, 1, 32, D], { dtype });
  return normalise({ q, k: q, v: q }).problem;
};

test('tiles that were kept as JSON are tiles again', () => {
  const tiles = tilesFrom(JSON.parse(JSON.stringify(kept)))(problemOf(64, 'f16'), able);
  expect(tiles).toMatchObject({
    forward: { through: 'matrix', own: 'queries' },
    dq: kept.dq,
    dkdv: kept.dkdv,
  });
});

test.each<[string, string[], number, 'f16' | 'f32', Capabilities]>([
  ['f32 is not rounded to multiply it', ['dq', 'dkdv'], 64, 'f32', able],
  ['rows of large heads are not kept', ['dkdv'], 160, 'f16', able],
  ['a device without subgroups and with little memory computes none', [], 64, 'f16', guaranteedCapabilities],
])('what a tile is not for runs on the tiles of the table: %s', (_, roles, D, dtype, capabilities) => {
  expect(Object.keys(tilesFrom(kept)(problemOf(D, dtype), capabilities) ?? {})).toEqual(roles);
});

test.each<[string, unknown]>([
  ['descriptions', null],
  ['descriptions', { backward: { tx: 8, ty: 8, depth: 8 } }],
  ['descriptions.decode', { decode: { through: 'subgroup', own: 'queries', lanes: 8, group: 4 } }],
  ['descriptions.forward', { forward: null }],
  ['descriptions.forward', { forward: { tx: 8, ty: 0, depth: 8 } }],
  ['descriptions.forward', { forward: { tx: 8, ty: 8, depth: 8, rows: 5 } }],
  ['descriptions.forward', { forward: { tx: 8, ty: 8, depth: 8, arithmetic: 'f64' } }],
  ['descriptions.forward', { forward: { tx: 8, ty: 8, depth: 8, statistics: 'lane' } }],
  ['descriptions.forward', { forward: { through: 'air', tx: 8, ty: 8, depth: 8 } }],
  ['descriptions.dkdv', { dkdv: { through: 'subgroup', own: 'queries', lanes: 8, group: 4 } }],
  ['descriptions.dq', { dq: { through: 'subgroup', own: 'queries', lanes: 7, group: 4 } }],
  ['descriptions.dq', { dq: { through: 'subgroup', own: 'queries', lanes: 8, group: 5 } }],
  ['descriptions.dq', { dq: { through: 'matrix', own: 'queries', subgroups: 2 } }],
  [
    'descriptions.dq',
    { dq: { through: 'matrix', own: 'queries', subgroups: 2, matrix: { ...matrix, K: 7 } } },
  ],
])('%s that describe no tile are refused: %j', (argument, descriptions) => {
  expect(() => tilesFrom(descriptions as TileDescriptions)).toThrow(InvalidArgumentError);
  expect(() => tilesFrom(descriptions as TileDescriptions)).toThrow(argument);
});
