import type { Operation } from '../ir/schema/operation.ts';
import { attentionOperations } from './attention/sdpa.ts';
import { biasAdd } from './elementwise/bias-add.ts';
import { binaryOperations } from './elementwise/binary.ts';
import { mask, selectOperation } from './elementwise/select.ts';
import { unaryOperations } from './elementwise/unary.ts';
import { constant } from './layout/constant.ts';
import { gatherOperations } from './layout/gather.ts';
import { genIndex } from './layout/gen-index.ts';
import { reorder, staticReshape, staticTranspose, typeCast } from './layout/layout.ts';
import { end, wildcard } from './layout/structure.ts';
import { matmul } from './matmul.ts';
import { quantizeOperations } from './quantize.ts';
import { dropout, rng } from './random.ts';
import { crossEntropyOperations } from './reduction/cross-entropy.ts';
import { normOperations } from './reduction/norm.ts';
import { broadcastLike, reduceOperations } from './reduction/reduce.ts';
import { reduceBackwardOperations } from './reduction/reduce-backward.ts';
import { logSoftmax, softmax, softmaxBackwardOperations } from './reduction/softmax.ts';

/** Every operation; adding one is a file and a line here. */
export const operations: readonly Operation[] = [
  matmul,
  biasAdd,
  ...binaryOperations,
  selectOperation,
  mask,
  genIndex,
  constant,
  ...unaryOperations,
  softmax,
  logSoftmax,
  ...softmaxBackwardOperations,
  ...reduceOperations,
  ...reduceBackwardOperations,
  broadcastLike,
  typeCast,
  reorder,
  staticTranspose,
  staticReshape,
  dropout,
  rng,
  ...quantizeOperations,
  ...normOperations,
  ...gatherOperations,
  ...crossEntropyOperations,
  ...attentionOperations,
  end,
  wildcard,
];

const byKind = new Map(operations.map(operation => [operation.kind, operation]));

/** The operation of a kind; undefined for one that there is not. */
export function operationOf(kind: string): Operation | undefined {
  return byKind.get(kind);
}
