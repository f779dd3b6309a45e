/** Work that is bound to its tensors, which it reads and writes in place. */
export interface BoundWork {
  /** Runs the work once. */
  run(): void;
  /** Frees the resources of the work. */
  release(): void;
}
