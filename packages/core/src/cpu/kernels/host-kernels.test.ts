import { readFile } from 'node:fs/promises';
import { expect, test, vi } from 'vitest';
import { compileKernels as compileSources } from '../../../assembly/compile.mjs';
import { bestVariant, createKernels, supportedVariants, withKernels } from './host-kernels.ts';
import type { Kernels } from './interface/kernels.ts';

test('the binaries are what the AssemblyScript sources compile to', { timeout: 60_000 }, async () => {
  for (const [file, text] of Object.entries(await compileSources())) {
    expect(await readFile(new URL(`./wasm/${file}`, import.meta.url), 'utf8'), file).toBe(text);
  }
});

test('a host with relaxed SIMD has every variant, and the fastest is chosen', () => {
  expect(supportedVariants()).toEqual(['wasm-relaxed-simd', 'wasm-simd', 'typescript']);
  expect(bestVariant()).toBe('wasm-relaxed-simd');
  for (const variant of supportedVariants()) expect(createKernels(variant).variant).toBe(variant);
});

test('a host that compiles nothing at once gets TypeScript', async () => {
  vi.resetModules();
  const fresh = await import('./host-kernels.ts');
  const refuse = vi.spyOn(WebAssembly, 'Module').mockImplementation(function refused() {
    throw new RangeError('WebAssembly.Compile is disallowed on the main thread');
  });
  try {
    expect(fresh.createKernels('wasm-simd').variant).toBe('typescript');
    await fresh.kernelModules.compile('wasm-simd');
    expect(fresh.createKernels('wasm-simd').variant).toBe('wasm-simd');
  } finally {
    refuse.mockRestore();
  }
});

test.each(supportedVariants())('%s: panels keep their contents when the memory grows', variant => {
  const { memory } = createKernels(variant);
  const small = memory.floats(10);
  small.values.fill(3);
  const large = memory.floats(2 ** 22);
  expect(memory.bytes).toBeGreaterThan(2 ** 24);
  expect([...small.values]).toEqual(new Array(10).fill(3));
  expect(large.values.length).toBe(2 ** 22);
  expect(memory.f32[small.at >> 2]).toBe(3);
});

test('a lack of memory throws a typed error', () => {
  const { memory } = createKernels('wasm-simd');
  expect(() => memory.floats(2 ** 31)).toThrow(expect.objectContaining({ code: 'OUT_OF_MEMORY' }));
});

test('kernels are lent again, except after a large problem or an error', () => {
  const lent: Kernels[] = [];
  const lend = (floats: number): void =>
    withKernels('wasm-simd', kernels => {
      lent.push(kernels);
      kernels.memory.reset();
      kernels.memory.scratch(floats);
    });
  lend(100);
  lend(2 ** 20);
  lend(2 ** 26);
  lend(100);
  expect(() => lend(2 ** 31)).toThrow();
  lend(100);
  expect(lent[1]).toBe(lent[0]);
  expect(lent[2]).toBe(lent[0]);
  expect(lent[3]).not.toBe(lent[0]);
  expect(lent[5]).not.toBe(lent[4]);
});
