import type { Operation } from '../ir/schema/operation.ts';
import type { attentionSchemas } from './attention/schema.ts';
import { attentionOperations } from './attention/sdpa.ts';
import { convolutionOperations, type convolutionSchemas } from './convolution.ts';
import { binaryOperations, type binarySchemas } from './elementwise/binary.ts';
import { comparisonOperations, type comparisonSchemas } from './elementwise/comparison.ts';
import { rotaryOperations, type rotarySchemas } from './elementwise/rotary.ts';
import { selectOperations, type selectSchemas } from './elementwise/select.ts';
import { type UnarySchemas, unaryOperations } from './elementwise/unary.ts';
import { concatOperations, type concatSchemas } from './indexing/concat.ts';
import { gatherOperations, type gatherSchemas } from './indexing/gather.ts';
import { gatherElementsOperations, type gatherElementsSchemas } from './indexing/gather-elements.ts';
import { sliceOperations, type sliceSchemas } from './indexing/slice.ts';
import { tensorScatterOperations, type tensorScatterSchemas } from './indexing/tensor-scatter.ts';
import { constantOperations, type constantSchemas } from './layout/constant.ts';
import { layoutOperations, type layoutSchemas } from './layout/layout.ts';
import { structureOperations, type structureSchemas } from './layout/structure.ts';
import { matmulOperations, type matmulSchemas } from './matmul.ts';
import { quantizeOperations, type quantizeSchemas } from './quantize.ts';
import { randomOperations, type randomSchemas } from './random.ts';
import { broadcastLikeOperations, type broadcastLikeSchemas } from './reduction/broadcast-like.ts';
import { crossEntropyOperations, type crossEntropySchemas } from './reduction/cross-entropy.ts';
import { normOperations, type normSchemas } from './reduction/norm.ts';
import { orderOperations, type orderSchemas } from './reduction/order.ts';
import { type ReduceSchemas, reduceOperations } from './reduction/reduce.ts';
import { type ReduceBackwardSchemas, reduceBackwardOperations } from './reduction/reduce-backward.ts';
import { softmaxOperations, type softmaxSchemas } from './reduction/softmax.ts';

/** The types of the schemas of all operations, by kind. */
export type OperationSchemas = typeof attentionSchemas &
  typeof binarySchemas &
  typeof selectSchemas &
  typeof constantSchemas &
  typeof gatherSchemas &
  typeof layoutSchemas &
  typeof convolutionSchemas &
  typeof comparisonSchemas &
  typeof rotarySchemas &
  typeof concatSchemas &
  typeof gatherElementsSchemas &
  typeof sliceSchemas &
  typeof tensorScatterSchemas &
  typeof orderSchemas &
  typeof structureSchemas &
  typeof matmulSchemas &
  typeof quantizeSchemas &
  typeof randomSchemas &
  typeof crossEntropySchemas &
  typeof normSchemas &
  typeof softmaxSchemas &
  typeof broadcastLikeSchemas &
  UnarySchemas &
  ReduceSchemas &
  ReduceBackwardSchemas;

/** The kind of an operation. */
export type OperationKind = keyof OperationSchemas;

/** All operations. */
export const operations: readonly Operation[] = [
  // To add an operation, add a row to a file in this folder, with a doc comment, which OPERATIONS.md repeats.
  // A new file needs a line here and in `OperationSchemas`.
  ...matmulOperations,
  ...binaryOperations,
  ...selectOperations,
  ...constantOperations,
  ...unaryOperations,
  ...softmaxOperations,
  ...reduceOperations,
  ...reduceBackwardOperations,
  ...broadcastLikeOperations,
  ...layoutOperations,
  ...randomOperations,
  ...quantizeOperations,
  ...normOperations,
  ...gatherOperations,
  ...crossEntropyOperations,
  ...attentionOperations,
  ...convolutionOperations,
  ...comparisonOperations,
  ...rotaryOperations,
  ...concatOperations,
  ...gatherElementsOperations,
  ...sliceOperations,
  ...tensorScatterOperations,
  ...orderOperations,
  ...structureOperations,
];

/** Every operation by its kind. */
export const operationsByKind: ReadonlyMap<string, Operation> = new Map(
  operations.map(operation => [operation.kind, operation]),
);

/** The operation of a kind; undefined for a kind that is not in the table. */
export function operationOf(kind: string): Operation | undefined {
  return operationsByKind.get(kind);
}
