import { TilewiseError } from '../errors.ts';
import { type DType, dtypeInfo, type TypedArray } from './dtype/dtype.ts';

/** Zeros of a dtype. @throws TilewiseError with code `OUT_OF_MEMORY`. */
export function allocate(dtype: DType, length: number): TypedArray {
  return allocateBy(dtypeInfo[dtype].allocate, length);
}

/** The array that `make` allocates. @throws TilewiseError with code `OUT_OF_MEMORY`. */
export function allocateBy<A>(make: (length: number) => A, length: number): A {
  try {
    return make(length);
  } catch (cause) {
    throw new TilewiseError('OUT_OF_MEMORY', `no memory for ${length} elements`, { cause });
  }
}
