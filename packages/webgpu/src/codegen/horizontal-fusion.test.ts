import { Tensor, type TensorDesc } from '@tilewise/core';
import { add, exp, mul } from '@tilewise/core/expr';
import { input, type Primitive } from '@tilewise/core/primitive';
import { openGpu } from '@tilewise/webgpu-host';
import { expect, test } from 'vitest';
import { kernelsOf as attentionKernels, representatives } from '../../testing/attention/variants.ts';
import { guaranteedCapabilities, type KernelSpec } from '../index.ts';
import { kernelsOf } from '../primitive/kernels-of.ts';
import { gemvTiles } from '../primitive/matmul/tiles/gemv-tiles.ts';
import { areAlike, fusedKernel, fusiblePart } from './horizontal-fusion.ts';
import { kernelSpec } from './kernel-spec.ts';

const of = (shape: readonly number[], dtype: TensorDesc['dtype'] = 'f32'): Tensor =>
  Tensor.zeros(shape, { dtype });

/** The kernels of a primitive for a device with what WebGPU guarantees. */
const kernelsFor = (primitive: Primitive, inputs: readonly Tensor[], outputs: readonly Tensor[]) =>
  kernelsOf(
    primitive,
    { inputs, outputs, unaligned: new Set(), capabilities: guaranteedCapabilities },
    gemvTiles(),
  ).kernels;

const matmul: Primitive = { kind: 'matmul' };
const sum: Primitive = { kind: 'map', value: add(input(0), exp(input(1))) };

/** The kernels fused into one, with the bindings of the first kernel, then those of the second. */
function together(...kernels: readonly KernelSpec[]): KernelSpec {
  const parts = kernels.map(kernel => {
    const part = fusiblePart(kernel);
    if (!part) throw new Error(`${kernel.name} cannot become a part of another kernel`);
    return part;
  });
  const bindings = kernels.flatMap(kernel => kernel.bindings);
  let next = 0;
  const placed = parts.map(part => ({ part, at: part.kernel.bindings.map(() => next++) }));
  return fusedKernel(placed, bindings, 2);
}

test('a fused kernel runs each of its kernels on its own workgroups', () => {
  const [kernel] = kernelsFor(sum, [of([70]), of([70])], [of([70])]);
  const fused = together(kernel, kernel);
  expect(fused.bindings).toHaveLength(6);
  expect(fused.uniforms.map(({ name }) => name)).toEqual([
    ...['first_group', 'end_group'],
    ...[0, 1].flatMap(k => kernel.uniforms.map(({ name }) => `k${k}_${name}`)),
  ]);
  expect(fused.wgsl).toContain(`  if (index < count1) {
    k1_run(P.k1_first_group + index, lane);`);
});

test('workgroup variables of equal types are shared', () => {
  const [kernel] = kernelsFor(matmul, [of([1, 64]), of([64, 32])], [of([1, 32])]);
  const variables = ({ wgsl }: KernelSpec): number => [...wgsl.matchAll(/var<workgroup>/g)].length;
  expect(variables(kernel)).toBe(1);
  expect(variables(together(kernel, kernel))).toBe(1);
});

test('kernels are not fused if their numbers of lanes or their workgroup variables differ', () => {
  const written = (workgroupSize: number, type?: string): KernelSpec =>
    kernelSpec({
      ...{ name: 'kernel', groups: 1, workgroupSize, parts: [] },
      ...(type && { declarations: `var<workgroup> own: ${type};` }),
      body: type ? 'own[lane] = 1u;' : '',
    });
  const alike = (...kernels: readonly KernelSpec[]): boolean => {
    const [a, b] = kernels.map(fusiblePart);
    return a !== null && b !== null && areAlike(a, b);
  };
  const [none, four, eight] = [undefined, 'array<u32, 4>', 'array<u32, 8>'].map(type => written(64, type));
  expect([alike(none, none), alike(none, four), alike(four, four)]).toEqual([true, true, true]);
  expect([alike(four, eight), alike(none, written(32))]).toEqual([false, false]);
});

test('a compiler accepts the fused text of kernels that may be fused', async () => {
  const { adapter } = await openGpu({ backend: 'null' });
  const device = await adapter.requestDevice();
  const half = (...shape: number[]): Tensor => of(shape, 'f16');
  const kernels = [
    ...representatives().flatMap(variant => attentionKernels(variant)),
    ...kernelsFor(sum, [of([7]), of([7])], [of([7])]),
    ...kernelsFor(sum, [half(7), half(7)], [half(7)]),
    ...kernelsFor({ kind: 'map', value: mul(input(0), input(0)) }, [of([3, 5]).permute(1, 0)], [of([5, 3])]),
    ...kernelsFor(matmul, [of([2, 64]), of([64, 32])], [of([2, 32])]),
    ...kernelsFor(matmul, [half(1, 64), half(32, 64).permute(1, 0)], [half(1, 32)]),
    ...kernelsFor({ kind: 'softmax', axis: 1, log: true, mode: 'none' }, [of([4, 9])], [of([4, 9])]),
    ...kernelsFor({ kind: 'tensor-scatter', axis: 1 }, [of([1, 2, 8]), of([1], 'i32')], [of([1, 9, 8])]),
  ];
  const parts = kernels.flatMap(kernel => fusiblePart(kernel) ?? []);
  // Tiles of subgroups, which take further parameters, are not among them.
  expect(parts.length).toBeGreaterThan(0.9 * kernels.length);
  const seen = new Set<string>();
  for (const [n, part] of parts.entries()) {
    const other = parts.slice(n + 1).find(later => areAlike(part, later)) ?? part;
    const { wgsl, name } = together(part.kernel, other.kernel);
    if (seen.has(wgsl)) continue;
    seen.add(wgsl);
    device.pushErrorScope('validation');
    const { messages } = await device.createShaderModule({ code: wgsl }).getCompilationInfo();
    await device.popErrorScope();
    const errors = messages.filter(({ type }) => type === 'error').map(({ message }) => message);
    expect(errors, `${name}: ${wgsl}`).toEqual([]);
  }
  expect(seen.size).toBeGreaterThan(30);
  device.destroy();
});
