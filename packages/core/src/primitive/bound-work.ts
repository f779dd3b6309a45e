/** Work on certain tensors, which are read and written in place. */
export interface BoundWork {
  /** Runs the work once. */
  run(): void;
  /** Frees the resources of the work. */
  release(): void;
}
