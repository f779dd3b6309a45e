import {
  jaxPhiloxBits,
  jaxPhiloxFoldIn,
  jaxPhiloxKey,
  jaxPhiloxSplit,
  tritonRand,
  tritonRandint4x,
  xlaRngBitGenerator,
} from '@tilewise/philox/interop';
import { type Comparison, type Family, family } from '../family.ts';
import { f32Bits, hex8, hex16, integer } from '../numerals.ts';

interface XlaRecord {
  readonly state_in: readonly string[];
  readonly n_u32: number;
  readonly out_u32: readonly string[];
  readonly state_out: readonly string[];
}

/** XLA's `RngBitGenerator`. */
export const xla: Family = family<XlaRecord>({
  title: "XLA's RngBitGenerator",
  section: /./,
  fields: ['state_in', 'n_u32', 'out_u32', 'state_out'],
  onHost: true,
  check: ({ state_in, n_u32, out_u32, state_out }) => {
    const { words, state } = xlaRngBitGenerator(state_in.map(integer), n_u32);
    return [
      { what: 'out_u32', got: Array.from(words, hex8), want: out_u32 },
      { what: 'state_out', got: state.map(hex16), want: state_out },
    ];
  },
});

interface TritonRecord {
  readonly seed: string;
  readonly offset: string;
  readonly randint4x: readonly string[];
  readonly rand_f32_bits: string;
}

/** Triton's `tl.randint4x` and `tl.rand`. */
export const triton: Family = family<TritonRecord>({
  title: "Triton's rand",
  section: /./,
  fields: ['seed', 'offset', 'randint4x', 'rand_f32_bits'],
  onHost: true,
  check: record => {
    const [seed, offset] = [integer(record.seed), integer(record.offset)];
    return [
      { what: 'randint4x', got: tritonRandint4x(seed, offset).map(hex8), want: record.randint4x },
      { what: 'rand_f32_bits', got: [f32Bits(tritonRand(seed, offset))], want: [record.rand_f32_bits] },
    ];
  },
});

interface JaxRecord {
  readonly seed: number;
  readonly key: readonly string[];
  readonly [draw: string]: unknown;
}

/** JAX's `philox4x32` implementation: the key, and the recorded draws, whose names contain their argument. */
export const jax: Family = family<JaxRecord>({
  title: "JAX's philox4x32",
  section: /jax/,
  fields: ['seed', 'key'],
  onHost: true,
  check: record => {
    const key = jaxPhiloxKey(record.seed);
    const comparisons: Comparison[] = [{ what: 'key', got: key.map(hex8), want: record.key }];
    for (const [name, want] of Object.entries(record)) {
      const argument = Number(/\d+$/.exec(name)?.[0]);
      if (name.startsWith('random_bits32_shape')) {
        const got = Array.from(jaxPhiloxBits(key, argument), hex8);
        comparisons.push({ what: name, got, want: want as string[] });
      } else if (name.startsWith('split')) {
        const got = jaxPhiloxSplit(key, argument).flat().map(hex8);
        comparisons.push({ what: name, got, want: (want as string[][]).flat() });
      } else if (name.startsWith('fold_in_')) {
        const got = jaxPhiloxFoldIn(key, argument).map(hex8);
        comparisons.push({ what: name, got, want: want as string[] });
      }
    }
    return comparisons;
  },
});
