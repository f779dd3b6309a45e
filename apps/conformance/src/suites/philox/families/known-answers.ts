import { philox2x64, philox4x64 } from '@tilewise/philox';
import { type Family, family } from '../family.ts';
import type { Generator } from '../generator.ts';
import { hex8, hex16, integer } from '../numerals.ts';

interface KnownAnswer {
  readonly alg: string;
  readonly rounds: number;
  readonly key: readonly string[];
  readonly counter: readonly string[];
  readonly out: readonly string[];
}

/** Known answers of the block functions, from Random123's kat_vectors. */
export const knownAnswers: Family = family<KnownAnswer>({
  title: 'block function',
  section: /./,
  fields: ['alg', 'rounds', 'key', 'counter', 'out'],
  check: async (record, generator) => {
    const got = await draw(record, generator);
    return Array.isArray(got) ? [{ what: 'out', got, want: record.out }] : got;
  },
});

async function draw(
  { alg, rounds, key, counter }: KnownAnswer,
  generator: Generator,
): Promise<string[] | { readonly unsupported: string }> {
  const [k, c] = [key.map(integer), counter.map(integer)];
  switch (alg) {
    case 'philox4x32':
      return (await generator.block4x32(c.map(Number), k.map(Number), rounds)).map(hex8);
    case 'philox2x32':
      return (await generator.block2x32(c.map(Number), Number(k[0]), rounds)).map(hex8);
    case 'philox4x64':
    case 'philox2x64':
      if (!generator.isHost) return { unsupported: `${alg} has no WGSL: WGSL has no 64-bit integers` };
      return alg === 'philox4x64'
        ? philox4x64([c[0], c[1], c[2], c[3]], [k[0], k[1]], rounds).map(hex16)
        : philox2x64([c[0], c[1]], k[0], rounds).map(hex16);
    default:
      return { unsupported: `there is no block function ${alg}` };
  }
}
