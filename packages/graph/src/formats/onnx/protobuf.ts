/** Encoded fields of protobuf messages: https://protobuf.dev/programming-guides/encoding. */
export type Fields = readonly Uint8Array[];

const text = /* @__PURE__ */ new TextEncoder();

function varint(value: number | bigint): number[] {
  const bytes: number[] = [];
  let rest = BigInt.asUintN(64, BigInt(value));
  while (rest >= 0x80n) {
    bytes.push(Number(rest & 0x7fn) | 0x80);
    rest >>= 7n;
  }
  return [...bytes, Number(rest)];
}

/** Encodes an integer; negative integers take 64 bits. */
export function integerField(field: number, value: number | bigint): Uint8Array {
  return Uint8Array.from([...varint(field << 3), ...varint(value)]);
}

/** Encodes a 32-bit float. */
export function floatField(field: number, value: number): Uint8Array {
  const bytes = new Uint8Array(4);
  new DataView(bytes.buffer).setFloat32(0, value, true);
  return joined([Uint8Array.from(varint((field << 3) | 5)), bytes]);
}

/** Encodes bytes or an encoded message. */
export function bytesField(field: number, bytes: Uint8Array): Uint8Array {
  return joined([Uint8Array.from([...varint((field << 3) | 2), ...varint(bytes.length)]), bytes]);
}

export function stringField(field: number, value: string): Uint8Array {
  return bytesField(field, text.encode(value));
}

/** Encodes a message inside a message. */
export function messageField(field: number, fields: Fields): Uint8Array {
  return bytesField(field, joined(fields));
}

/** Joins fields to the bytes of a message. */
export function joined(fields: Fields): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(fields.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of fields) {
    bytes.set(part, at);
    at += part.length;
  }
  return bytes;
}
