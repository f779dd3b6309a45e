import {
  type DropoutSchemeName,
  dropoutRules,
  philox4x32,
  toU64,
  type U32x4,
  type Uint,
} from '@tilewise/philox';

/** An element of a mask, and how the mask is drawn. */
export interface TracedElement {
  readonly scheme: DropoutSchemeName;
  readonly p: number;
  readonly seed: Uint;
  readonly offset: Uint;
  readonly H: number;
  readonly Sq: number;
  readonly Skv: number;
  readonly b: number;
  readonly h: number;
  readonly i: number;
  readonly j: number;
}

/** How one element was decided. */
export interface ElementTrace {
  readonly counter: U32x4;
  readonly key: readonly [number, number];
  /** The block after 0, 1, … rounds. */
  readonly rounds: readonly U32x4[];
  /**
   * How many of the block's 128 bits would differ after 0, 1, … rounds if the counter's lowest bit were
   * flipped.
   */
  readonly avalanche: readonly number[];
  /** The index of the word that decides, of four. */
  readonly lane: number;
  /** The number that is compared with the threshold: a word, or one byte of it. */
  readonly drawn: number;
  /** The index of the deciding byte, from the least significant; null if the whole word decides. */
  readonly byte: number | null;
  readonly threshold: number;
  readonly keep: boolean;
  /** How the drawn number must compare with the threshold for the element to be kept. */
  readonly comparison: '≥' | '<';
}

interface Address {
  readonly counter: U32x4;
  readonly rounds: number;
  readonly lane: number;
  readonly byte: number | null;
}

const u32 = (x: bigint): number => Number(BigInt.asUintN(32, x));

/** Where each convention finds an element's random number; the sources are named in `@tilewise/philox`. */
const addresses: Readonly<Record<DropoutSchemeName, (e: TracedElement) => Address>> = {
  'torch-efficient': e => {
    const position = BigInt.asUintN(64, BigInt(e.offset) + elementIndex(e));
    const block = position >> 2n;
    return {
      counter: [u32(block), u32(block >> 32n), 0, 0],
      rounds: 10,
      lane: Number(position & 3n),
      byte: null,
    };
  },
  onednn: e => {
    const index = elementIndex(e);
    const first = index - (index & 3n);
    const offset = BigInt(e.offset);
    return {
      counter: [u32(offset), u32(offset >> 32n), u32(first), u32(first >> 32n)],
      rounds: 10,
      lane: Number(index & 3n),
      byte: null,
    };
  },
  'flash-attention-2': ({ offset, b, h, H, i, j }) => {
    const low = BigInt(offset) + BigInt((b * H + h) * 32 + (i % 8) * 4 + Math.floor((j % 8) / 2));
    return {
      counter: [u32(low), u32(low >> 32n), i >> 4, j >> 5],
      rounds: 7,
      lane: Math.floor((j % 32) / 8),
      byte: (Math.floor(i / 8) % 2) * 2 + (j % 2),
    };
  },
};

/** Position of an element in the row-major mask (B, H, Sq, Skv). */
function elementIndex({ b, h, i, j, H, Sq, Skv }: TracedElement): bigint {
  return ((BigInt(b) * BigInt(H) + BigInt(h)) * BigInt(Sq) + BigInt(i)) * BigInt(Skv) + BigInt(j);
}

/** The number of bits in which two blocks differ. */
function differingBits(a: U32x4, b: U32x4): number {
  return a.reduce((sum, word, n) => {
    let bits = (word ^ (b[n] ?? 0)) >>> 0;
    let count = 0;
    for (; bits !== 0; bits >>>= 1) count += bits & 1;
    return sum + count;
  }, 0);
}

/** Whether words of the same Philox block decide two elements of a mask. */
export function sharesBlock(a: TracedElement, b: TracedElement): boolean {
  const [mine, others] = [a, b].map(element => addresses[element.scheme](element).counter);
  return mine !== undefined && others !== undefined && mine.every((word, n) => word === others[n]);
}

/** Follows one element of a dropout mask from its address to the decision. */
export function traceElement(element: TracedElement): ElementTrace {
  const { scheme, p, seed } = element;
  const { counter, rounds, lane, byte } = addresses[scheme](element);
  const key = toU64(seed, 'seed');
  const blocks = Array.from({ length: rounds + 1 }, (_, n) => philox4x32([...counter], [...key], n));
  const flipped = Array.from({ length: rounds + 1 }, (_, n) =>
    philox4x32([(counter[0] ^ 1) >>> 0, counter[1], counter[2], counter[3]], [...key], n),
  );
  const word = blocks.at(-1)?.[lane] ?? 0;
  const drawn = byte === null ? word : (word >>> (8 * byte)) & 255;
  const { threshold } = dropoutRules[scheme](p);
  const keep = byte === null ? drawn >= threshold : drawn < threshold;
  return {
    counter,
    key,
    rounds: blocks,
    avalanche: blocks.map((block, n) => differingBits(block, flipped[n] ?? block)),
    lane,
    byte,
    drawn,
    threshold,
    keep,
    comparison: byte === null ? '≥' : '<',
  };
}
