/**
 * The tensors of backward: (B, Hq, Sq, 256), (B, Hk, Skv, 256) and lse f32 (B, Hq, Sq); or packed by
 * cumulative lengths, i32 (B + 1), (Tq, Hq, 256), (Tk, Hk, 256) (a leading 1 is allowed) and lse (Tq, Hq) or
 * (Tq, Hq, 1). All but lse are f16 or bf16.
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

/** The gradients, in the shapes and the dtype of q, k and v. */
export interface D256Gradients<T> {
  readonly dq: T;
  readonly dk: T;
  readonly dv: T;
}

/** The options of both forms, by cuDNN's names. */
export interface D256Options {
  /** Longest sequences; taken from the cumulative lengths when left out. */
  readonly maxSQ?: number | undefined;
  readonly maxSK?: number | undefined;
  /**
   * The dtype of sums, and cuDNN's tiles: each has one value only, and kernels here choose tiles of their
   * own.
   */
  readonly accDType?: 'f32' | undefined;
  readonly mmaTilerMn?: readonly [128, 128] | undefined;
  readonly dkdvMmaTilerMn?: readonly [128, 64] | undefined;
  /** Hides the keys right of the diagonal, whatever the window says. */
  readonly isCausal?: boolean | undefined;
  /**
   * Keys left and right of the diagonal one that are seen, −1 for all. The diagonal ends at the last query
   * and the last key of each sequence. Default [−1, −1]. (cuDNN has a window with `isCausal` alone.)
   */
  readonly windowSize?: readonly [left: number, right: number] | undefined;
  /** Default, and for 0 too: 1/√256. */
  readonly scaleSoftmax?: number | null | undefined;
}
