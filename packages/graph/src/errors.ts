import { TilewiseError } from '@tilewise/core';

/** An operation that its schema does not allow: its inputs, outputs, dtypes or attributes. */
export class InvalidOperationError extends TilewiseError {
  override readonly name: string = 'InvalidOperationError';
  constructor(operation: string, rule: string) {
    super('INVALID_OP', `operation ${operation}: ${rule}`, { argument: operation });
  }
}

/** A graph that is no graph: a cycle, two producers of a tensor, descriptions of a tensor that contradict each other. */
export class InvalidGraphError extends TilewiseError {
  override readonly name: string = 'InvalidGraphError';
  constructor(rule: string, argument?: string) {
    super('INVALID_GRAPH', rule, { argument });
  }
}

/** A node whose arguments the implementation that was asked for cannot say. */
export class UnsupportedNodeError extends TilewiseError {
  override readonly name: string = 'UnsupportedNodeError';
  readonly reasons: readonly string[];
  constructor(implementation: string, reasons: readonly string[]) {
    super('UNSUPPORTED', `the ${implementation} implementation cannot say this node: ${reasons.join('; ')}`, {
      argument: 'implementation',
    });
    this.reasons = reasons;
  }
}

/** An operation that the format or task at hand has no form for. */
export class UnsupportedOperationError extends TilewiseError {
  override readonly name: string = 'UnsupportedOperationError';
  constructor(operation: string, reason: string) {
    super('UNSUPPORTED', `operation ${operation}: ${reason}`, { argument: operation });
  }
}
