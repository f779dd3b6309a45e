import type { Operation } from '../schema/operation.ts';
import { biasAdd } from './bias-add.ts';
import { binaryOperations } from './binary.ts';
import { constant } from './constant.ts';
import { crossEntropyOperations } from './cross-entropy.ts';
import { gatherOperations } from './gather.ts';
import { genIndex } from './gen-index.ts';
import { reorder, staticReshape, staticTranspose, typeCast } from './layout.ts';
import { matmul } from './matmul.ts';
import { normOperations } from './norm.ts';
import { quantizeOperations } from './quantize.ts';
import { dropout, rng } from './random.ts';
import { broadcastLike, reduceOperations } from './reduce.ts';
import { reduceBackwardOperations } from './reduce-backward.ts';
import { attentionOperations } from './sdpa.ts';
import { mask, selectOperation } from './select.ts';
import { logSoftmax, softmax, softmaxBackwardOperations } from './softmax.ts';
import { end, wildcard } from './structure.ts';
import { unaryOperations } from './unary.ts';

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
