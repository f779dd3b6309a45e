/**
 * Parses an integer in the format of the files: hexadecimal digits, with or without `0x`, or a JSON number.
 */
export function integer(numeral: string | number): bigint {
  return typeof numeral === 'number' ? BigInt(numeral) : BigInt(`0x${numeral.replace(/^0x/i, '')}`);
}

/**
 * Whether two values are the same word or the same text: a file may write digits in upper case, or a word as
 * a JSON number.
 */
export function isSame(got: string | number, want: string | number | undefined): boolean {
  if (got === want || want === undefined) return got === want;
  const isHex = (value: string | number) => typeof value === 'number' || /^(0x)?[\da-f]+$/i.test(value);
  if (typeof got === 'number' || !isHex(got) || !isHex(want)) return false;
  return integer(got) === integer(want);
}

/** A 32-bit word in the format of the files: eight hexadecimal digits. */
export function hex8(word: number): string {
  return (word >>> 0).toString(16).padStart(8, '0');
}

/** A 64-bit word in the format of the files: sixteen hexadecimal digits. */
export function hex16(word: bigint): string {
  return word.toString(16).padStart(16, '0');
}

/** The bits of an f32, in the format of the files. */
export function f32Bits(value: number): string {
  const view = new DataView(new ArrayBuffer(4));
  view.setFloat32(0, value);
  return hex8(view.getUint32(0));
}

/** Parses a C99 hexadecimal float such as `0x1.ccf2d9115c140p-7`, exactly. */
export function hexFloat(text: string): number {
  const parts = /^0x(\d)(?:\.([0-9a-f]*))?p([+-]\d+)$/.exec(text);
  if (!parts) throw new Error(`'${text}' is not a hexadecimal float`);
  const [, whole, fraction = '', exponent] = parts;
  return Number.parseInt(whole + fraction, 16) * 2 ** (Number(exponent) - 4 * fraction.length);
}

/** A mask as bytes in hexadecimal: element i is bit i mod 8, the lowest first, of byte ⌊i / 8⌋. */
export function packBits(mask: Uint8Array): string[] {
  const bytes = new Uint8Array(Math.ceil(mask.length / 8));
  mask.forEach((keep, i) => {
    bytes[i >> 3] |= keep << (i & 7);
  });
  return Array.from(bytes, byte => byte.toString(16).padStart(2, '0'));
}

/** The bytes of a string of hexadecimal digits, two digits each. */
export function hexBytes(digits: string): string[] {
  return digits.match(/../g) ?? [];
}
