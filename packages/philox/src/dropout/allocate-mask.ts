import { TilewiseError } from '../errors.ts';

/**
 * A mask in which all elements are dropped.
 *
 * @throws TilewiseError with code `OUT_OF_MEMORY`.
 */
export function allocateMask(elements: number): Uint8Array<ArrayBuffer> {
  try {
    return new Uint8Array(elements);
  } catch (cause) {
    throw new TilewiseError('OUT_OF_MEMORY', `no memory for a mask of ${elements} elements`, { cause });
  }
}
