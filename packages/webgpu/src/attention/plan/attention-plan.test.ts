import { normalise, normaliseBackward, type SdpaBackwardOptions, Tensor } from '@tilewise/core';
import { describe, expect, test } from 'vitest';
import { kernelsOf, variants } from '../../../testing/attention/variants.ts';
import { allTools } from '../../api/tools/all-tools.ts';
import { dispatchSize } from '../../codegen/kernel-spec.ts';
import { type Capabilities, guaranteedCapabilities, type KernelSpec } from '../../index.ts';
import { planReasons } from '../../runtime/plan/plan-layout.ts';
import { defaultTile } from '../tiles/tile-table.ts';
import { backwardPlan } from './backward-plan.ts';
import { forwardPlan } from './forward-plan.ts';

interface Sizes {
  B?: number;
  Hq?: number;
  Hkv?: number;
  Sq?: number;
  Skv?: number;
  D?: number;
  dtype?: 'f32' | 'f16' | 'bf16';
}

function problems(
  { B = 1, Hq = 2, Hkv = 2, Sq = 40, Skv = 40, D = 8, dtype = 'f32' }: Sizes = {},
  options: SdpaBackwardOptions = {},
) {
  const tensor = (H: number, S: number) => Tensor.zeros([B, H, S, D], { dtype });
  const [q, k, o] = [tensor(Hq, Sq), tensor(Hkv, Skv), tensor(Hq, Sq)];
  const lse = Tensor.zeros([B, Hq, Sq]);
  const forward = normalise({ q, k, v: k }, options).problem;
  const backward = normaliseBackward({ q, k, v: k, o, lse, dO: o }, options).problem;
  return { forward, backward };
}

function kernels(sizes?: Sizes, options?: SdpaBackwardOptions, limits: Partial<Capabilities> = {}) {
  const { forward, backward } = problems(sizes, options);
  const { q, k, v } = forward;
  const target = { capabilities: { ...guaranteedCapabilities, ...limits } };
  return [
    ...forwardPlan(forward, { target, tools: allTools }).kernels,
    ...backwardPlan({ ...backward, dq: q, dk: k, dv: v }, { target, tools: allTools }).kernels,
  ];
}

const names = (all: readonly KernelSpec[]): string[] => all.map(({ name }) => name.replace('attention ', ''));
const texts = (all: readonly KernelSpec[]): string[] => all.map(({ wgsl }) => wgsl);
const code = (wgsl: string): string => wgsl.replace(/\/\/.*$/gm, '');

describe('the text of every variant', () => {
  const all = variants.flatMap(variant => kernelsOf(variant).map(({ wgsl }) => code(wgsl)));
  const found = (pattern: RegExp): string[] => [
    ...new Set(all.flatMap(text => [...text.matchAll(pattern)].map(([match]) => match))),
  ];

  test('initialises each variable of a function', () => {
    const declarations = found(/\bvar\s+[^;]*;/g);
    expect(declarations.length).toBeGreaterThan(20);
    expect(declarations.filter(one => !one.includes('='))).toEqual([]);
    // Compilers forget to zero such variables again in each turn of a loop.
    expect(found(/\bvar\s*<\s*(function|private)\b[^;]*;/g)).toEqual([]);
  });

  test('has finite f32 literals only', () => {
    const decimal = found(/(?<![\w.])\d+(\.\d*)?(e[+-]?\d+)?(?=[fh]?\b|[^\w.])/g);
    const hexadecimal = found(/0x[0-9a-f]*\.[0-9a-f]*p[+-]?\d+/g);
    expect(decimal.filter(literal => !Number.isFinite(Math.fround(Number(literal))))).toEqual([]);
    expect(hexadecimal).toEqual(['0x1.fffffep+127']);
    expect(found(/\/\s*0(\.0*)?[fu]?\b(?!\.|x)/g)).toEqual([]);
  });

  test('requires no optional feature', () => {
    expect(found(/\benable\b[^;]*;|\bsubgroup\w*|\bf16\b/g)).toEqual([]);
  });

  test('declares the storage of its bindings, in their order', () => {
    for (const variant of variants) {
      for (const { wgsl, bindings } of kernelsOf(variant)) {
        const declared = [...wgsl.matchAll(/@binding\((\d+)\) var<storage, (\w+)> \w+: array<(.*)>;/g)];
        expect(declared.map(([, n, access, element]) => ({ n, access, element }))).toEqual(
          bindings.map(({ access, element }, n) => ({ n: String(n + 1), access, element })),
        );
      }
    }
  });
});

describe('limits that WebGPU guarantees', () => {
  test('a tile fits into workgroup memory', () => {
    expect(defaultTile.workgroupMemory('forward', { Dqk: 64, Dv: 64 })).toBeLessThanOrEqual(
      guaranteedCapabilities.maxComputeWorkgroupStorageSize,
    );
  });

  test('plain attention needs at most eight storage buffers per kernel', () => {
    const plain = kernels();
    expect(names(plain)).toEqual(['forward', 'delta', 'dk dv', 'dq']);
    for (const { name, bindings } of plain) expect(bindings.length, name).toBeLessThanOrEqual(8);
  });

  const manyTensors = (S: number) => ({
    mask: Tensor.zeros([S, S], { dtype: 'bool' }),
    bias: Tensor.zeros([S, S]),
    ...{ seqLensQ: [7], seqLensKv: [7], alibi: [1, 1], sink: [0, 0] },
    outputs: { max: true, sumExp: true },
  });
  const bound = ({ bindings }: KernelSpec): number => bindings.length;

  test('a kernel with more tensors than the device binds reads its small ones from one binding', () => {
    const made = kernels({}, manyTensors(40));
    expect(names(made)).toEqual(['forward', 'delta', 'dk dv', 'dq', 'dbias', 'dAlibi', 'dsink']);
    expect(made.map(bound)).toEqual([8, 6, 8, 8, 8, 8, 5]);
    const [forward] = made;
    expect(forward.gathered.map(({ name }) => name)).toEqual([
      'seqLensQ',
      'seqLensKv',
      'bias',
      'alibi',
      'mask',
      'sink',
    ]);
    expect(forward.bindings.at(-1)).toMatchObject({ name: 'workspace.gathered', element: 'u32' });
  });

  test('on a device with enough bindings, each tensor has its own', () => {
    const made = kernels({}, manyTensors(40), { maxStorageBuffersPerShaderStage: 13 });
    expect(made.flatMap(({ gathered }) => gathered)).toEqual([]);
    expect(Math.max(...made.map(bound))).toBe(13);
  });

  test('dK and dV take a kernel each where one would need to copy large tensors', () => {
    const options = { ...manyTensors(300), gradients: ['dq', 'dk', 'dv'] } as const;
    const eight = kernels({ Sq: 300, Skv: 300 }, options, { maxStorageBuffersPerShaderStage: 8 });
    expect(names(eight)).toEqual(['forward', 'delta', 'dk', 'dv', 'dq']);
    expect(Math.max(...eight.map(bound))).toBe(8);
    const nine = kernels({ Sq: 300, Skv: 300 }, options, { maxStorageBuffersPerShaderStage: 10 });
    expect(names(nine)).toEqual(['forward', 'delta', 'dk dv', 'dq']);
  });

  test('a region of the workspace is bound like a region that is written next to it', () => {
    const made = kernels({}, manyTensors(40), { maxStorageBuffersPerShaderStage: 5 });
    const delta = made.find(({ name }) => name === 'attention delta');
    expect(delta?.bindings.slice(-2)).toMatchObject([
      { name: 'workspace', access: 'read_write' },
      { name: 'workspace.gathered', access: 'read_write' },
    ]);
  });

  test('the error for tensors that a device cannot bind names the kernels that need them', () => {
    const { forward } = problems({}, manyTensors(40));
    const capabilities = { ...guaranteedCapabilities, maxStorageBuffersPerShaderStage: 7 };
    const made = forwardPlan(forward, { target: { capabilities }, tools: allTools });
    expect(planReasons(made, capabilities)).toEqual([
      "the kernel 'attention forward' needs 8 storage buffers, and this device allows 7",
    ]);
  });

  test('no dimension of a dispatch exceeds 65,535, and there are enough groups', () => {
    for (const B of [1, 65535, 65536, 70001, 200_000]) {
      for (const { name, groups } of kernels({ B, Hq: 1, Hkv: 1, Sq: 1, Skv: 1 })) {
        const [x, y] = dispatchSize(groups);
        expect(groups, name).toBe(B);
        expect(Math.max(x, y), name).toBeLessThanOrEqual(65535);
        expect(x * y, name).toBeGreaterThanOrEqual(B);
        expect(x * y - B, name).toBeLessThan(65535);
      }
    }
  });

  test('an empty problem has no workgroups', () => {
    const [forward, delta, dkdv, dq] = kernels({ Sq: 0 });
    expect([forward, delta, dq].map(({ groups }) => groups)).toEqual([0, 0, 0]);
    expect(dkdv.groups).toBeGreaterThan(0);
  });
});

describe('problems of one structure share their kernels', () => {
  const plain = texts(kernels());

  test.each<[string, Sizes, SdpaBackwardOptions]>([
    ['lengths', { Sq: 33, Skv: 1000 }, {}],
    ['batch and heads', { B: 3, Hq: 12, Hkv: 4 }, {}],
    ['head sizes with as many vectors per lane', { D: 32 }, {}],
    ['scale', {}, { scale: -3 }],
    ['causal masks', {}, { causal: 'bottom-right' }],
    ['windows', {}, { window: { left: 2, right: 0 } }],
  ])('whatever their %s', (_, sizes, options) => {
    expect(texts(kernels(sizes, options))).toEqual(plain);
  });

  test('whatever the numbers of their options', () => {
    const textsWith = (softcap: number, p: number, seed: bigint, value: number) =>
      texts(kernels({}, { softcap, dropout: { p, seed }, alibi: [value, value], sink: [value, value] }));
    expect(textsWith(30, 0.5, 2n ** 60n, 4)).toEqual(textsWith(2, 0.1, 1n, -1));
  });

  test.each<[string, Sizes, SdpaBackwardOptions]>([
    ['dtype', { dtype: 'f16' }, {}],
    ['head size that cannot be moved in vectors', { D: 7 }, {}],
    ['number of vectors per lane', { D: 36 }, {}],
    ['softcap', {}, { softcap: 2 }],
    ['mask', {}, { mask: Tensor.zeros([1], { dtype: 'bool' }) }],
    ['lengths per sequence', {}, { seqLensKv: [3] }],
    ['dropout', {}, { dropout: { p: 0.5, seed: 1 } }],
  ])('but not those of another %s', (_, sizes, options) => {
    const [forward] = texts(kernels(sizes, options));
    expect(forward).not.toBe(plain[0]);
  });
});

describe('sums over many scores', () => {
  const groups = (sizes: Sizes, options: SdpaBackwardOptions) =>
    kernels(sizes, options)
      .filter(({ name }) => /dbias|dAlibi/.test(name))
      .map(({ name, groups: n }) => [name.replace('attention ', ''), n]);
  const long = { Hq: 2, Sq: 4096, Skv: 64 };

  test('are shared by many workgroups, and added up by a second kernel', () => {
    expect(groups(long, { alibi: [1, 1], gradients: ['dAlibi'] })).toEqual([
      ['dAlibi', 2 * 32],
      ['dAlibi sum', 1],
    ]);
    expect(groups(long, { bias: Tensor.zeros([64]), gradients: ['dbias'] })).toEqual([
      ['dbias', 2 * 64],
      ['dbias sum', 1],
    ]);
  });

  test('take one kernel where the result has as many tiles, or the problem few', () => {
    expect(groups(long, { bias: Tensor.zeros([2, 4096, 64]), gradients: ['dbias'] })).toEqual([
      ['dbias', 2 * 128 * 2],
    ]);
    expect(groups({}, { alibi: [1, 1], gradients: ['dAlibi'] })).toEqual([['dAlibi', 2]]);
  });
});

describe('only the kernels that the wanted gradients need', () => {
  test.each([
    [['dq'], ['delta', 'dq']],
    [['dk'], ['delta', 'dk']],
    [['dv'], ['delta', 'dv']],
    [
      ['dv', 'dk'],
      ['delta', 'dk dv'],
    ],
  ] as const)('%j', (gradients, expected) => {
    expect(names(kernels({}, { gradients }).slice(1))).toEqual(expected);
  });

  test('the gradients of score inputs', () => {
    const options = { bias: Tensor.zeros([40, 40]), sink: [0, 0], alibi: [1, 1] };
    expect(names(kernels({}, options).slice(1))).toEqual(
      expect.arrayContaining(['delta', 'dq', 'dbias', 'dsink', 'dAlibi']),
    );
  });
});
