import { describe, expect, it } from 'vitest';
import { InvalidArgumentError } from '../errors.ts';
import {
  bernoulliUniforms,
  composeWgsl,
  type DropoutUniforms,
  dropoutMaskKernel,
  dropoutMaskUniformWords,
  dropoutPieces,
  dropoutUniforms,
  dropoutUniformWords,
  dropoutWgsl,
  fillKernel,
  fillUniformWords,
  mulhiWgsl,
  philox4x32Wgsl,
  u64Wgsl,
} from './index.ts';

const shape = { Sq: 70_000, Skv: 66_000 };

describe('composeWgsl', () => {
  it('contains every declaration once, before its users', () => {
    const code = composeWgsl(philox4x32Wgsl(10), u64Wgsl, philox4x32Wgsl(10), philox4x32Wgsl(7));
    expect(code.match(/fn \w+/g)).toEqual([
      'fn u32_mulhi',
      'fn philox4x32_10',
      'fn u64_add',
      'fn u64_add_u32',
      'fn u32_mul_wide',
      'fn u64_mul_u32',
      'fn u64_quarter',
      'fn philox4x32_7',
    ]);
  });
});

describe('the sources', () => {
  const sources = [
    ...Object.values(dropoutPieces).map(piece => composeWgsl(piece)),
    ...(['u32', 'uniform', 'normal', 'bernoulli'] as const).map(
      distribution => fillKernel({ distribution }).code,
    ),
  ];

  it('initialise every variable and enable no feature', () => {
    for (const code of sources) {
      expect(code.match(/^\s*var \w+(: \w+)?;/m)).toBeNull();
      expect(code).not.toMatch(/\b(enable|requires|f16|subgroup)/);
    }
  });

  it('convert no random word to a float outside the exact uniform', () => {
    for (const scheme of Object.keys(dropoutPieces) as (keyof typeof dropoutPieces)[]) {
      expect(dropoutWgsl(scheme)).not.toContain('f32(');
    }
    expect(mulhiWgsl.code).not.toContain('f32');
  });

  it('carry the number of rounds in the name and in the loop', () => {
    expect(philox4x32Wgsl(7).code).toContain('round < 7u');
    expect(() => philox4x32Wgsl(0)).toThrow('rounds must be a whole number from 1 to 1024, got 0');
  });
});

describe('dropoutUniforms', () => {
  it('splits the 64-bit fields and narrows p once', () => {
    const uniforms = dropoutUniforms({ p: 0.1, seed: 2n ** 40n + 5n, offset: 7, shape });
    expect(uniforms).toEqual({
      seed: [5, 256],
      offset: [7, 0],
      headStride: [(70_000 * 66_000) % 2 ** 32, 1],
      rowStride: 66_000,
      threshold: 0x199999b0,
      keepNone: 0,
      scale: Math.fround(1 / (1 - Math.fround(0.1))),
    });
  });

  it('has a flag for thresholds beyond 32 bits', () => {
    for (const scheme of ['torch-efficient', 'onednn'] as const) {
      const uniforms = dropoutUniforms({ scheme, p: 1, seed: 1, shape });
      expect(uniforms).toMatchObject({ threshold: 0xffffffff, keepNone: 1, scale: 0 });
    }
    expect(bernoulliUniforms(1)).toEqual({ threshold: 0xffffffff, always: 1 });
    expect(bernoulliUniforms(0)).toEqual({ threshold: 0, always: 0 });
  });

  it('packs into ten words, the last one the f32 scale', () => {
    const words = dropoutUniformWords(
      dropoutUniforms({ p: 0.5, seed: 1n + 2n ** 33n, offset: 3n + 2n ** 34n, shape: { Sq: 3, Skv: 5 } }),
    );
    expect([...words]).toEqual([1, 2, 3, 4, 15, 0, 5, 0x80000081, 0, 0x40000000]);
  });

  it('rejects values that do not fit', () => {
    const source = { p: 0.5, seed: 1 };
    expect(() => dropoutUniforms({ ...source, shape: { Sq: 1, Skv: 2 ** 32 } })).toThrow('shape.Skv must be');
    expect(() =>
      dropoutMaskUniformWords({ ...source, shape: { B: 64, H: 1, Sq: 2 ** 16, Skv: 2 ** 16 } }),
    ).toThrow('shape must have fewer than 2^32 elements, got 274877906944');
    const options = { ...source, shape } as unknown as DropoutUniforms;
    expect(() => dropoutUniformWords(options)).toThrow('uniforms must be the result of dropoutUniforms');
    expect(() => dropoutWgsl('cudnn' as 'onednn')).toThrow(InvalidArgumentError);
    expect(() => dropoutMaskKernel({ scheme: 'cudnn' as 'onednn' })).toThrow('scheme must be one of');
    expect(() => dropoutMaskKernel({ scheme: 'onednn', workgroupSize: 0 })).toThrow(
      'workgroupSize must be a whole number between 1 and 256, got 0',
    );
    expect(() => fillKernel({ distribution: 'gamma' as 'u32' })).toThrow('distribution must be one of');
    expect(() => fillUniformWords({ seed: 1, count: -1 })).toThrow('count must be');
  });
});
