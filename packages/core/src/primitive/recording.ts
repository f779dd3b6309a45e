/** An ability of engines on a device: to record their work in the caller's encoder. */
export interface Recording {
  /**
   * Records the operations that `work` runs in the caller's encoder, in order. Nothing is submitted or read
   * back. If `work` calls `encode` with the same target, the outer call records all of it.
   * @param target on WebGPU a GPUCommandEncoder or GPUComputePassEncoder.
   * @throws InvalidArgumentError for another target. If a call throws, or `work` does, nothing is recorded.
   */
  encode(target: object, work: () => void): void;
}
