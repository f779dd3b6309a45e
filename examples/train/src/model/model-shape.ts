/** What a model's tensors depend on. */
export interface ModelShape {
  /** How many different tokens there are. */
  readonly vocabulary: number;
  /** The longest sequence. */
  readonly context: number;
  readonly layers: number;
  readonly heads: number;
  readonly dim: number;
}
