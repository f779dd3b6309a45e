import { NumpyPhilox } from '@tilewise/philox/interop';
import { type Comparison, type Family, family } from '../family.ts';
import { f32Bits, hex8, hex16, hexFloat, integer } from '../numerals.ts';

const title = "NumPy's Philox";

const raw = (generator: NumpyPhilox, count: number): string[] =>
  Array.from({ length: count }, () => hex16(generator.nextRaw()));

interface KeyCounterRecord {
  readonly key_int_hex: string;
  readonly counter_int_hex: string;
  readonly random_raw: readonly string[];
}

/** `Philox(key=…, counter=…)`. */
export const numpyKeyCounter: Family = family<KeyCounterRecord>({
  title,
  section: /./,
  fields: ['key_int_hex', 'counter_int_hex', 'random_raw'],
  onHost: true,
  check: ({ key_int_hex, counter_int_hex, random_raw }) => {
    const generator = new NumpyPhilox({ key: integer(key_int_hex), counter: integer(counter_int_hex) });
    return [{ what: 'random_raw', got: raw(generator, random_raw.length), want: random_raw }];
  },
});

interface SeededRecord {
  /** Decimal. */
  readonly seed: string;
  readonly derived_key: readonly string[];
  readonly random_raw: readonly string[];
  readonly random_double?: readonly string[];
  readonly random_float32_bits?: readonly string[];
  readonly integers_u32_full_range?: readonly string[];
}

/** `Philox(seed)` through NumPy's SeedSequence, and the output of its generator. */
export const numpySeeded: Family = family<SeededRecord>({
  title,
  section: /./,
  fields: ['seed', 'derived_key', 'random_raw'],
  onHost: true,
  check: record => {
    const fresh = (): NumpyPhilox => new NumpyPhilox({ seed: BigInt(record.seed) });
    const { key } = fresh();
    const comparisons: Comparison[] = [
      {
        what: 'derived_key',
        got: [hex16(key & (2n ** 64n - 1n)), hex16(key >> 64n)],
        want: record.derived_key,
      },
      { what: 'random_raw', got: raw(fresh(), record.random_raw.length), want: record.random_raw },
    ];
    const { random_double: doubles, random_float32_bits: floats, integers_u32_full_range: words } = record;
    const draw = <X>(want: readonly string[], next: (generator: NumpyPhilox) => X): X[] => {
      const generator = fresh();
      return want.map(() => next(generator));
    };
    if (doubles) {
      const got = draw(doubles, generator => generator.nextDouble());
      comparisons.push({ what: 'random_double', got, want: doubles.map(hexFloat) });
    }
    if (floats) {
      const got = draw(floats, generator => f32Bits(generator.nextFloat()));
      comparisons.push({ what: 'random_float32_bits', got, want: floats });
    }
    if (words) {
      const got = draw(words, generator => hex8(generator.nextU32()));
      comparisons.push({ what: 'integers_u32_full_range', got, want: words });
    }
    return comparisons;
  },
});

/** A list of words under a name such as `key42_advance10`: `Philox(key=42)` after `advance(10)`. */
export const numpyAdvanced: Family = {
  title,
  matches: (section, record) => /^key\d+_advance\d+$/.test(section) && Array.isArray(record),
  check: async (section, record, generator) => {
    if (!generator.isHost) return { unsupported: `${title} has no WGSL: it runs on hosts only` };
    const [key, blocks] = (section.match(/\d+/g) ?? []).map(BigInt);
    const numpy = new NumpyPhilox({ key });
    numpy.advance(blocks);
    const want = record as readonly string[];
    return [{ what: 'random_raw', got: raw(numpy, want.length), want }];
  },
};

interface JumpedRecord {
  /** Four 64-bit words, the lowest first. */
  readonly counter: readonly string[];
  readonly random_raw: readonly string[];
}

/** A record under a name such as `key42_jumped`: `Philox(key=42).jumped()`. */
export const numpyJumped: Family = family<JumpedRecord>({
  title,
  section: /^key\d+_jumped$/,
  fields: ['counter', 'random_raw'],
  onHost: true,
  check: ({ counter, random_raw }, _, section) => {
    const numpy = new NumpyPhilox({ key: BigInt(section.match(/\d+/)?.[0] ?? 0) }).jumped();
    const words = counter.map((_word, n) => hex16(BigInt.asUintN(64, numpy.counter >> BigInt(64 * n))));
    return [
      { what: 'counter', got: words, want: counter },
      { what: 'random_raw', got: raw(numpy, random_raw.length), want: random_raw },
    ];
  },
});
