import type { Fault } from './fault.ts';

/** An index in an address: a number, or a loop variable (or n) plus a number. */
export interface IndexExpr {
  readonly variable: string | null;
  readonly add: number;
}

/** An operand as it was written. */
export type Operand =
  | { readonly kind: 'register'; readonly name: string }
  | { readonly kind: 'cell'; readonly region: string; readonly index: readonly IndexExpr[] };

/** One line of a program that does something. Lines are counted from 1. */
export type Statement =
  | {
      readonly kind: 'instruction';
      readonly line: number;
      readonly name: string;
      readonly operands: readonly Operand[];
    }
  | {
      readonly kind: 'loop';
      readonly line: number;
      readonly variable: string;
      readonly from: IndexExpr;
      readonly to: IndexExpr;
      /** How far the variable moves between two repetitions, at least 1. */
      readonly step: number;
      readonly body: readonly Statement[];
    };

/** A fault in a line, and its place. Columns are counted from 1. */
export interface LineError {
  readonly line: number;
  readonly column: number;
  readonly length: number;
  readonly fault: Fault;
}

/** A program as parsed. With errors, `statements` are those lines that are right. */
export interface Program {
  readonly statements: readonly Statement[];
  readonly errors: readonly LineError[];
}
