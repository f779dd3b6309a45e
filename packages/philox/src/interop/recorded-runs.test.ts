import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { jaxPhiloxBits, jaxPhiloxFoldIn, jaxPhiloxKey, jaxPhiloxSplit } from './jax.ts';
import { tritonRand, tritonRandint4x } from './triton.ts';
import { xlaRngBitGenerator } from './xla.ts';

/** Integers are text. `testing/record-runs.py` wrote the file. */
interface Runs {
  readonly versions: { readonly jax: string; readonly triton: string };
  readonly jax: readonly {
    readonly seed: string;
    readonly key: string[];
    readonly bits: string[];
    readonly split: string[];
    readonly foldIn9: string[];
  }[];
  readonly xla: readonly { readonly state: string[]; readonly words: string[]; readonly next: string[] }[];
  readonly triton: readonly {
    readonly seed: string;
    readonly offset: string;
    readonly rounds: number;
    readonly words: string[];
    readonly uniforms: number[];
  }[];
}

const file = new URL('../../testing/recorded-runs.json', import.meta.url);
const runs: Runs = JSON.parse(readFileSync(file, 'utf8'));
const text = (integers: Iterable<number | bigint>): string[] => Array.from(integers, String);

describe(`JAX ${runs.versions.jax}`, () => {
  test.each(runs.jax)('has these philox4x32 keys and bits for seed $seed', run => {
    const key = jaxPhiloxKey(BigInt(run.seed));
    expect(text(key)).toEqual(run.key);
    expect(text(jaxPhiloxBits(key, run.bits.length))).toEqual(run.bits);
    expect(text(jaxPhiloxSplit(key, 3).flat())).toEqual(run.split);
    expect(text(jaxPhiloxFoldIn(key, 9))).toEqual(run.foldIn9);
  });

  test.each(runs.xla)('draws these words in XLA from state $state', run => {
    const { words, state } = xlaRngBitGenerator(run.state.map(BigInt), run.words.length);
    expect(text(words)).toEqual(run.words);
    expect(text(state)).toEqual(run.next);
  });
});

describe(`Triton ${runs.versions.triton}`, () => {
  test.each(runs.triton)('draws seed $seed from offset $offset in $rounds rounds', run => {
    const seed = BigInt(run.seed);
    const offsets = run.uniforms.map((_, n) => BigInt(run.offset) + BigInt(n));
    expect(text(offsets.flatMap(at => tritonRandint4x(seed, at, run.rounds)))).toEqual(run.words);
    expect(offsets.map(at => tritonRand(seed, at, run.rounds))).toEqual(run.uniforms);
  });
});
