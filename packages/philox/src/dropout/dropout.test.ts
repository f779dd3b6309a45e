import { loadPhilox, processorTime } from '@tilewise/test-data';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { InvalidArgumentError } from '../errors.ts';
import {
  createDropout,
  type DropoutMaskOptions,
  type DropoutOptions,
  dropoutMask,
  dropoutOffsetIncrement,
} from './dropout.ts';
import { dropoutSchemeNames } from './rules.ts';
import type { DropoutSchemeName } from './scheme.ts';
import { dropoutSchemes } from './schemes.ts';

interface MaskVector {
  readonly B: number;
  readonly H: number;
  readonly M: number;
  readonly N: number;
  readonly p: number;
  readonly seed: string;
  readonly offset: string;
  readonly keep_count: number;
  readonly mask_hex: string;
}

const torch = loadPhilox<{ cases: MaskVector[]; thresholds: Record<string, unknown>[] }>(
  'mem_eff_dropout_vectors',
);
const flash = loadPhilox<{ cases: MaskVector[]; thresholds: { p: number; p_keep_u8: number }[] }>(
  'fa2_dropout_vectors',
);
const onednn = loadPhilox<{ masks: (MaskVector & { threshold: string })[] }>('onednn_philox_vectors');

/** Masks that PyTorch has drawn on a GPU; those of FlashAttention-2 have `p_keep_u8`. */
const drawn = loadPhilox<{ cases: (MaskVector & { source: string; p_keep_u8?: number })[] }>(
  'pytorch_cuda_dropout_masks',
);

const vectors: { scheme: DropoutSchemeName; n: number; vector: MaskVector }[] = [
  ...torch.cases.map((vector, n) => ({ scheme: 'torch-efficient' as const, n, vector })),
  ...flash.cases.map((vector, n) => ({ scheme: 'flash-attention-2' as const, n, vector })),
  ...onednn.masks.map((vector, n) => ({ scheme: 'onednn' as const, n, vector })),
];
const schemes = Object.keys(dropoutSchemes) as DropoutSchemeName[];

function packBits(mask: Uint8Array): string {
  const bytes = new Uint8Array(Math.ceil(mask.length / 8));
  mask.forEach((keep, i) => {
    bytes[i >> 3] = (bytes[i >> 3] ?? 0) | (keep << (i & 7));
  });
  return Buffer.from(bytes).toString('hex');
}

const u64 = fc.bigInt({ min: 0n, max: 2n ** 64n - 1n });
const scheme = fc.constantFrom(...schemes);
const shape = fc.record({
  B: fc.integer({ min: 1, max: 2 }),
  H: fc.integer({ min: 1, max: 3 }),
  Sq: fc.integer({ min: 1, max: 20 }),
  Skv: fc.integer({ min: 1, max: 70 }),
});

describe('dropoutMask', () => {
  const expectMask = (
    { B, H, M, N, p, seed, offset, mask_hex, keep_count }: MaskVector,
    scheme: DropoutSchemeName,
  ): void => {
    const words = { seed: BigInt(`0x${seed}`), offset: BigInt(`0x${offset}`) };
    const mask = dropoutMask({ shape: [B, H, M, N], p, ...words, scheme });
    expect(packBits(mask)).toBe(mask_hex);
    expect(mask.reduce((sum, keep) => sum + keep, 0)).toBe(keep_count);
  };

  it.each(vectors)('is that of $scheme in vector $n', ({ scheme, vector }) => expectMask(vector, scheme));

  it.each(drawn.cases)('is the mask that PyTorch drew on a GPU: $source, $M × $N', vector =>
    expectMask(vector, vector.p_keep_u8 === undefined ? 'torch-efficient' : 'flash-attention-2'),
  );

  it('follows torch-efficient from offset 0 by default', () => {
    const mask = dropoutMask({ shape: [2, 3, 17, 33], p: 0.1, seed: 42 });
    expect(packBits(mask)).toBe(torch.cases[0]?.mask_hex);
  });

  it.each(schemes)('keeps 1 - p of the elements on average (%s)', name => {
    for (const p of [0.1, 0.5, 0.8]) {
      const mask = dropoutMask({ shape: [1, 2, 300, 500], p, seed: 7, offset: 4, scheme: name });
      const rate = mask.reduce((sum, keep) => sum + keep, 0) / mask.length;
      // flash-attention-2 keeps (⌊255·(1 − p)⌋ + 1)/256; five standard errors around the scheme's own
      // probability.
      const kept =
        name === 'flash-attention-2' ? (Math.floor(Math.fround(1 - Math.fround(p)) * 255) + 1) / 256 : 1 - p;
      expect(Math.abs(rate - kept)).toBeLessThan(5 * Math.sqrt((p * (1 - p)) / mask.length));
    }
  });

  it('drops everything at p = 1, except under flash-attention-2, which has no such mask', () => {
    for (const name of ['torch-efficient', 'onednn'] as const) {
      expect(dropoutMask({ shape: [1, 1, 32, 32], p: 1, seed: 1, scheme: name }).includes(1)).toBe(false);
    }
    for (const p of [1, 1 - 2 ** -40]) {
      const call = () => dropoutMask({ shape: [1, 1, 1, 1], p, seed: 1, scheme: 'flash-attention-2' });
      expect(call).toThrow(InvalidArgumentError);
      expect(call).toThrow(`p must round to an f32 below 1 for flash-attention-2, got ${p}`);
    }
  });

  it('keeps everything at p = 0', () => {
    for (const name of schemes) {
      expect(dropoutMask({ shape: [1, 1, 64, 64], p: 0, seed: 1, scheme: name }).includes(0)).toBe(false);
    }
  });

  it.each<[string, unknown, string, RegExp]>([
    ['no options', undefined, 'INVALID_ARGUMENT', /^options must be an object, got undefined$/],
    ['no shape', { p: 0.5, seed: 1 }, 'INVALID_ARGUMENT', /^shape must be \[B, H, Sq, Skv\]/],
    [
      'more elements than memory',
      { shape: [1, 1, 2 ** 20, 2 ** 20], p: 0.5, seed: 1 },
      'OUT_OF_MEMORY',
      /^no memory for a mask of 1099511627776 elements$/,
    ],
  ])('refuses %s', (_, options, code, message) => {
    const make = () => dropoutMask(options as DropoutMaskOptions);
    expect(make).toThrow(message);
    expect(make).toThrow(expect.objectContaining({ code }));
  });

  it('is empty for an empty attention matrix', () => {
    expect(dropoutMask({ shape: [2, 0, 3, 4], p: 0.5, seed: 1 })).toEqual(new Uint8Array(0));
    expect(dropoutMask({ shape: [2, 2, 3, 0], p: 0.5, seed: 1 })).toEqual(new Uint8Array(0));
  });

  it('locates packed sequences in the stream as PyTorch does', () => {
    const seed = 11n;
    const rowStrides = [7, 3];
    const [H, Sq, Skv] = [2, 5, 7];
    const mask = dropoutMask({ shape: [2, H, Sq, Skv], p: 0.5, seed, offset: 9n, rowStrides });
    const draw = (position: number) =>
      dropoutMask({ shape: [1, 1, 1, 1], p: 0.5, seed, offset: position })[0];
    for (const [b, keys] of rowStrides.entries()) {
      for (let h = 0; h < H; h++) {
        for (let i = 0; i < Sq; i++) {
          const row = mask.subarray(((b * H + h) * Sq + i) * Skv).subarray(0, Skv);
          const expected = Array.from({ length: Skv }, (_, n) =>
            n < keys ? draw(9 + (b * H + h) * Sq * Skv + i * keys + n) : 0,
          );
          expect([...row]).toEqual(expected);
        }
      }
    }
  });

  it('does not depend on packed lengths if the scheme does not', () => {
    for (const name of ['flash-attention-2', 'onednn'] as const) {
      const options = { shape: [2, 1, 4, 8], p: 0.5, seed: 3, offset: 1, scheme: name } as const;
      const dense = dropoutMask(options);
      const packed = dropoutMask({ ...options, rowStrides: [8, 5] });
      expect([...packed]).toEqual([...dense].map((keep, n) => (n >= 32 && n % 8 >= 5 ? 0 : keep)));
    }
  });
});

describe('createDropout', () => {
  it('decides single elements and any part of a row as the whole mask does', () => {
    fc.assert(
      fc.property(scheme, shape, u64, u64, fc.nat(), fc.nat(), (name, extents, seed, offset, from, to) => {
        const { B, H, Sq, Skv } = extents;
        const options = { p: 0.4, seed, offset, scheme: name };
        const mask = dropoutMask({ ...options, shape: [B, H, Sq, Skv] });
        const { keep, keepRow } = createDropout({ ...options, shape: extents });
        const j0 = from % (Skv + 1);
        const j1 = j0 + (to % (Skv - j0 + 1));
        const row = new Uint8Array(Skv + 4);
        for (let n = 0; n < B * H * Sq; n++) {
          const [b, h, i] = [Math.floor(n / (H * Sq)), Math.floor(n / Sq) % H, n % Sq];
          row.fill(9);
          keepRow(b, h, i, j0, j1, row, 2);
          const expected = new Uint8Array(Skv + 4).fill(9);
          expected.set(mask.subarray(n * Skv + j0, n * Skv + j1), 2);
          expect(row).toEqual(expected);
          if (j0 < Skv) expect(keep(b, h, i, j0)).toBe(mask[n * Skv + j0] === 1);
        }
      }),
      { numRuns: 60 },
    );
  });

  it('wraps torch-efficient positions at 2^64, in the middle of a row too', () => {
    const around = dropoutMask({ shape: [1, 1, 1, 40], p: 0.5, seed: 6, offset: 2n ** 64n - 13n });
    const start = dropoutMask({ shape: [1, 1, 1, 27], p: 0.5, seed: 6 });
    expect([...around.subarray(13)]).toEqual([...start]);
  });

  it('addresses elements past 2^32 in 64 bits', () => {
    const extents = { B: 1, H: 8, Sq: 65536, Skv: 65536 };
    const index = 5n * 2n ** 32n + 1234n * 65536n + 77n;
    const far = createDropout({ p: 0.5, seed: 8, offset: 3, shape: extents });
    const row = new Uint8Array(50);
    far.keepRow(0, 5, 1234, 77, 127, row);
    expect([...row]).toEqual([...dropoutMask({ shape: [1, 1, 1, 50], p: 0.5, seed: 8, offset: 3n + index })]);
    const word = createDropout({ p: 0.5, seed: 8, offset: 3, scheme: 'onednn', shape: extents });
    word.keepRow(0, 5, 1234, 77, 127, row);
    expect([...row]).toEqual(Array.from(row, (_, n) => (word.keep(0, 5, 1234, 77 + n) ? 1 : 0)));
    expect([...row]).not.toEqual([
      ...dropoutMask({ shape: [1, 1, 1235, 127], p: 0.5, seed: 8, offset: 3, scheme: 'onednn' }).subarray(
        -50,
      ),
    ]);
  });

  it.each(dropoutSchemeNames)('decides columns past 2^31 of a row at once (%s)', scheme => {
    const shape = { B: 1, H: 1, Sq: 1, Skv: 2 ** 32 };
    const { keep, keepRow } = createDropout({ p: 0.5, seed: 9, scheme, shape });
    const first = 2 ** 31 + 5;
    const row = new Uint8Array(60);
    keepRow(0, 0, 0, first, first + row.length, row);
    expect(Array.from(row, kept => kept === 1)).toEqual(Array.from(row, (_, n) => keep(0, 0, 0, first + n)));
  });

  it("scales by 1/(1 - p) as PyTorch's table has it, and by 0 where all is dropped", () => {
    const bits = (x: number) => new Uint32Array(new Float32Array([x]).buffer)[0]?.toString(16);
    for (const row of torch.thresholds) {
      const expected = row['scale_f32_bits 1/(1-p)'] ?? '0';
      const options = { p: Number(row.p), seed: 1, shape: { B: 1, H: 1, Sq: 1, Skv: 1 } };
      expect(bits(createDropout(options).scale)).toBe(expected);
    }
    const options = { seed: 1, shape: { B: 1, H: 1, Sq: 1, Skv: 1 } };
    for (const scheme of schemes) {
      const inverse = Math.fround(1 / Math.fround(1 - Math.fround(0.1)));
      expect(createDropout({ ...options, p: 0.1, scheme }).scale).toBe(inverse);
    }
    expect(createDropout({ ...options, p: 1, scheme: 'onednn' }).scale).toBe(0);
  });

  it('makes a mask without elements at once, however many rows it has', () => {
    const start = processorTime();
    expect(dropoutMask({ p: 0.5, seed: 1, shape: [2 ** 16, 2 ** 15, 1, 0] })).toHaveLength(0);
    expect(processorTime() - start).toBeLessThan(1000);
  });

  const valid: DropoutOptions = { p: 0.5, seed: 1, shape: { B: 2, H: 1, Sq: 4, Skv: 4 } };
  it.each<[string, string, DropoutOptions]>([
    ['p', 'must be a number in [0, 1], got 1.5', { ...valid, p: 1.5 }],
    ['p', 'must be a number in [0, 1], got NaN', { ...valid, p: Number.NaN }],
    ['seed', 'must be a bigint or a safe integer in [0, 2^64), got -1n', { ...valid, seed: -1n }],
    ['offset', 'must be a bigint or a safe integer in [0, 2^64), got 0.5', { ...valid, offset: 0.5 }],
    [
      'scheme',
      'must be one of torch-efficient, flash-attention-2, onednn, got "toString"',
      { ...valid, scheme: 'toString' as DropoutSchemeName },
    ],
    ['shape.Sq', 'must be a whole number, got -1', { ...valid, shape: { ...valid.shape, Sq: -1 } }],
    [
      'shape',
      'must have fewer than 2^53 elements, got 9007199254740992',
      { ...valid, shape: { B: 2 ** 20, H: 2 ** 20, Sq: 2 ** 13, Skv: 1 } },
    ],
    ['rowStrides', 'must have one entry per batch element (2), got 1', { ...valid, rowStrides: [4] }],
    ['rowStrides[1]', 'must be at most Skv (4), got 5', { ...valid, rowStrides: [4, 5] }],
    ['rowStrides[0]', 'must be a whole number, got undefined', { ...valid, rowStrides: new Array(2) }],
  ])('rejects a bad %s: %s', (argument, rule, options) => {
    expect(() => createDropout(options)).toThrow(InvalidArgumentError);
    expect(() => createDropout(options)).toThrow(`${argument} ${rule}`);
  });
});

describe('the rules of the schemes', () => {
  it.each(flash.thresholds)('keep a byte up to $p_keep_u8 at p = $p under flash-attention-2', vector => {
    expect(dropoutSchemes['flash-attention-2'].rule(vector.p).threshold).toBe(vector.p_keep_u8 + 1);
  });

  it.each(onednn.masks)('drop words up to $threshold at p = $p under onednn', ({ p, threshold }) => {
    expect(dropoutSchemes.onednn.rule(p).threshold).toBe(Number.parseInt(threshold, 16) + 1);
  });
});

describe('dropoutOffsetIncrement', () => {
  const extents = { B: 2, H: 3, Sq: 17, Skv: 33 };
  it("is the increment of PyTorch's generator", () => {
    expect(dropoutOffsetIncrement('torch-efficient', extents)).toBe(3368n);
    expect(dropoutOffsetIncrement('flash-attention-2', extents)).toBe(192n);
    expect(dropoutOffsetIncrement('onednn', extents)).toBe(1n);
  });

  it('rejects unknown schemes', () => {
    expect(() => dropoutOffsetIncrement('cudnn' as DropoutSchemeName, extents)).toThrow(
      'scheme must be one of',
    );
  });
});
