/**
 * The tensors of backward. Dense: q, o and dO (B, Hq, Sq, 256), k and v (B, Hk, Skv, 256), and lse f32
 * (B, Hq, Sq). Packed, with cumulative lengths i32 (B + 1): (Tq, Hq, 256) and (Tk, Hk, 256), where a leading
 * 1 is allowed, and lse (Tq, Hq) or (Tq, Hq, 1). q, k, v, o and dO are f16 or bf16.
 */
export interface D256Tensors<T> {
  readonly q: T;
  readonly k: T;
  readonly v: T;
  readonly o: T;
  readonly dO: T;
  readonly lse: T;
  readonly cumSeqlenQ?: T | undefined;
  readonly cumSeqlenK?: T | undefined;
}

/** The gradients, with the shapes and the dtype of q, k and v. */
export interface D256Gradients<T> {
  readonly dq: T;
  readonly dk: T;
  readonly dv: T;
}

/** The options of the class and of the wrapper function, by cuDNN's names. */
export interface D256Options {
  /** The longest sequences. Default: computed from the cumulative lengths. */
  readonly maxSQ?: number | undefined;
  readonly maxSK?: number | undefined;
  /**
   * The dtype of sums, and cuDNN's tiles. Each accepts only one value and has no effect: kernels here choose
   * their own tiles.
   */
  readonly accDType?: 'f32' | undefined;
  readonly mmaTilerMn?: readonly [128, 128] | undefined;
  readonly dkdvMmaTilerMn?: readonly [128, 64] | undefined;
  /** Hides the keys right of the diagonal, regardless of the window. */
  readonly isCausal?: boolean | undefined;
  /**
   * The numbers of visible keys left and right of the diagonal key; −1 means all. The diagonal ends at the
   * last query and the last key of each sequence. Default: [−1, −1]. (cuDNN supports a window only with
   * `isCausal`.)
   */
  readonly windowSize?: readonly [left: number, right: number] | undefined;
  /** The factor of q·kᵀ. Default: 1/√256, which 0 also means. */
  readonly scaleSoftmax?: number | null | undefined;
}
