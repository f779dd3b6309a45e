/** Why a kernel gave no result. Lines are counted from 1 in the visitor's program. */
export type Failure =
  | { readonly kind: 'no-webgpu' }
  | { readonly kind: 'no-adapter'; readonly message: string }
  | { readonly kind: 'compiler'; readonly errors: readonly CompilerError[] }
  /** The compiler accepts it, but the device does not run it. */
  | { readonly kind: 'refused'; readonly message: string }
  | { readonly kind: 'lost'; readonly message: string }
  | { readonly kind: 'hung'; readonly seconds: number }
  /** No device was given, perhaps because an earlier kernel still runs. */
  | { readonly kind: 'busy' };

/** An error in the compiler's own words, and its position in the program. */
export interface CompilerError {
  readonly line: number;
  readonly column: number;
  readonly length: number;
  readonly message: string;
}

/** Thrown when a kernel cannot be compiled or run. */
export class KernelError extends Error {
  override readonly name = 'KernelError';
  readonly failure: Failure;
  constructor(failure: Failure) {
    super('message' in failure ? failure.message : failure.kind);
    this.failure = failure;
  }
}
