/** A tensor as plain data, contiguous in row-major order. Booleans are `u8`, 1 = true. */
export type RawTensor =
  | { readonly dtype: 'f32'; readonly shape: readonly number[]; readonly data: Float32Array }
  | { readonly dtype: 'i32'; readonly shape: readonly number[]; readonly data: Int32Array }
  | { readonly dtype: 'u8'; readonly shape: readonly number[]; readonly data: Uint8Array };

/** A tensor as stored in a file: `data` is base64 of the little-endian elements. */
export interface EncodedTensor {
  readonly dtype: string;
  readonly shape: readonly number[];
  readonly data: string;
}

const bytesPerElement = { f32: 4, i32: 4, u8: 1 } as const;

/**
 * Decodes a tensor of a file. Throws if the dtype is unknown or the length of the data does not match the
 * shape.
 */
export function decodeTensor({ dtype, shape, data }: EncodedTensor): RawTensor {
  if (dtype !== 'f32' && dtype !== 'i32' && dtype !== 'u8')
    throw new Error(`Unknown dtype ${dtype} in a vector file.`);
  if (!Array.isArray(shape) || typeof data !== 'string')
    throw new Error(`A ${dtype} tensor of a vector file has no shape or no data.`);
  const bytes = Uint8Array.from(atob(data), character => character.charCodeAt(0));
  const elements = shape.reduce((product, size) => product * size, 1);
  if (bytes.length !== elements * bytesPerElement[dtype]) {
    throw new Error(`A ${dtype} tensor of shape [${shape.join(', ')}] has ${bytes.length} bytes of data.`);
  }
  if (dtype === 'u8') return { dtype, shape, data: bytes };
  const view = new DataView(bytes.buffer);
  if (dtype === 'i32') {
    return {
      dtype,
      shape,
      data: Int32Array.from({ length: elements }, (_, i) => view.getInt32(4 * i, true)),
    };
  }
  return {
    dtype,
    shape,
    data: Float32Array.from({ length: elements }, (_, i) => view.getFloat32(4 * i, true)),
  };
}
