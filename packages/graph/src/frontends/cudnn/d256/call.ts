/**
 * The tensors of backward. Dense: q, o and dO (B, Hq, Sq, 256), k and v (B, Hk, Skv, 256), and lse f32
 * (B, Hq, Sq). Packed, with cumulative lengths i32 (B + 1): (Tq, Hq, 256) and (Tk, Hk, 256), where a leading
 * 1 is allowed, and lse (Tq, Hq) or (Tq, Hq, 1). q, k, v, o and dO are f16 or bf16.
 */
export interface D256Tensors<T> {
  /** Queries. */
  readonly q: T;
  /** Keys. */
  readonly k: T;
  /** Values. */
  readonly v: T;
  /** The result of forward. */
  readonly o: T;
  /** The gradient with respect to o. */
  readonly dO: T;
  /** The log-sum-exp of forward, natural logarithm. */
  readonly lse: T;
  /** Cumulative numbers of queries. Default: q, o and dO are dense. */
  readonly cumSeqlenQ?: T | undefined;
  /** Cumulative numbers of keys. Default: k and v are dense. */
  readonly cumSeqlenK?: T | undefined;
}

/** The gradients, with the shapes and the dtype of q, k and v. */
export interface D256Gradients<T> {
  /** The gradient with respect to q. */
  readonly dq: T;
  /** The gradient with respect to k. */
  readonly dk: T;
  /** The gradient with respect to v. */
  readonly dv: T;
}

/** The options of the class and of the wrapper function, by cuDNN's names. */
export interface D256Options {
  /** The number of queries of the longest sequence. Default: computed from the cumulative lengths. */
  readonly maxSQ?: number | undefined;
  /** The number of keys of the longest sequence. Default: computed from the cumulative lengths. */
  readonly maxSK?: number | undefined;
  /** The dtype of sums, which is always f32. */
  readonly accDType?: 'f32' | undefined;
  /** cuDNN's tile, whose only value is accepted without effect: kernels here choose their own tiles. */
  readonly mmaTilerMn?: readonly [128, 128] | undefined;
  /** cuDNN's tile of dk and dv, whose only value is accepted without effect. */
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
