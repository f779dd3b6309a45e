/** A fault in a line of a program, as data, because each language has its own words for it. */
export type Fault =
  | {
      readonly kind: 'unknown-instruction';
      readonly written: string;
      /** The instruction that the visitor may have meant. */
      readonly near: string | null;
      readonly names: readonly string[];
    }
  | {
      readonly kind: 'operand-count';
      readonly usage: string;
      readonly wanted: number;
      readonly got: number;
    }
  | { readonly kind: 'no-comma'; readonly usage: string }
  /** The register is where the cell belongs, and the cell where the register belongs. */
  | { readonly kind: 'swapped-operands'; readonly usage: string; readonly corrected: string }
  | { readonly kind: 'cell-as-register'; readonly instruction: string; readonly written: string }
  | { readonly kind: 'unknown-register'; readonly written: string; readonly names: readonly string[] }
  | {
      readonly kind: 'wired-register';
      readonly wanted: string;
      readonly got: string;
      readonly usage: string;
    }
  | { readonly kind: 'no-cell'; readonly written: string; readonly example: string }
  | { readonly kind: 'unknown-region'; readonly written: string; readonly names: readonly string[] }
  | {
      readonly kind: 'index-count';
      readonly region: string;
      readonly wanted: number;
      readonly got: number;
    }
  | { readonly kind: 'index-outside'; readonly index: number; readonly last: number }
  | { readonly kind: 'no-index'; readonly written: string }
  | { readonly kind: 'no-variable'; readonly written: string }
  | { readonly kind: 'variable-taken'; readonly written: string }
  | { readonly kind: 'no-loop' }
  | { readonly kind: 'end-without-for' }
  | { readonly kind: 'for-without-end' }
  | { readonly kind: 'cell-outside'; readonly cell: string }
  | { readonly kind: 'empty'; readonly place: string }
  | { readonly kind: 'too-long'; readonly most: number };
