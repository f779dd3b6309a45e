import type { AttentionProblemId } from './attention/attention-problems.ts';
import type { MatrixProblemId } from './matrix/matrix-problems.ts';
import type { SoftmaxProblemId } from './softmax/softmax-problems.ts';

/** The exercises of all machines, by the names under which their texts, programs and marks are stored. */
export type ProblemId = MatrixProblemId | SoftmaxProblemId | AttentionProblemId;
