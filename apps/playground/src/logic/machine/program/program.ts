import type { Fault } from './fault.ts';

/** An index in an address: a number, or a loop variable (or n) plus a number. */
export interface IndexExpr {
  readonly variable: string | null;
  readonly add: number;
}

/** An operand as written in the program. */
export type Operand =
  | { readonly kind: 'register'; readonly name: string }
  | { readonly kind: 'cell'; readonly region: string; readonly index: readonly IndexExpr[] };

/** A part of a line. Lines and columns are counted from 1. */
export interface Span {
  readonly line: number;
  readonly column: number;
  readonly length: number;
}

/** One line of a program that does something. */
export type Statement =
  | {
      readonly kind: 'instruction';
      readonly at: Span;
      readonly name: string;
      readonly operands: readonly Operand[];
    }
  | {
      readonly kind: 'loop';
      readonly at: Span;
      readonly variable: string;
      readonly from: IndexExpr;
      readonly to: IndexExpr;
      /** The increment of the variable, at least 1. */
      readonly step: number;
      readonly body: readonly Statement[];
    };

/** A fault in a line, and its position. */
export interface LineError extends Span {
  readonly fault: Fault;
}

/**
 * A parsed program. If there are errors, `statements` are the lines without errors; errors are in the order
 * of lines.
 */
export interface Program {
  readonly statements: readonly Statement[];
  readonly errors: readonly LineError[];
}
