import { TilewiseError } from '@tilewise/core';

/** An operation whose inputs, outputs, dtypes or attributes break its schema. */
export class InvalidOperationError extends TilewiseError {
  override readonly name: string = 'InvalidOperationError';
  constructor(operation: string, rule: string) {
    super('INVALID_OP', `operation ${operation}: ${rule}`, { argument: operation });
  }
}

/** An invalid graph: a cycle, two producers of a tensor, or contradictory descriptions of a tensor. */
export class InvalidGraphError extends TilewiseError {
  override readonly name: string = 'InvalidGraphError';
  constructor(rule: string, argument?: string) {
    super('INVALID_GRAPH', rule, { argument });
  }
}

/** A node with arguments that the chosen implementation cannot express. */
export class UnsupportedNodeError extends TilewiseError {
  override readonly name: string = 'UnsupportedNodeError';
  /** The arguments that the implementation cannot express, with the reason for each. */
  readonly reasons: readonly string[];
  constructor(implementation: string, reasons: readonly string[]) {
    super(
      'UNSUPPORTED',
      `the ${implementation} implementation cannot express this node: ${reasons.join('; ')}`,
      {
        argument: 'implementation',
      },
    );
    this.reasons = reasons;
  }
}

/** An operation that an export format or a transformation does not support. */
export class UnsupportedOperationError extends TilewiseError {
  override readonly name: string = 'UnsupportedOperationError';
  constructor(operation: string, reason: string) {
    super('UNSUPPORTED', `operation ${operation}: ${reason}`, { argument: operation });
  }
}
