/** An ability of engines on a device: to record their work in the caller's encoder. */
export interface Recording {
  /**
   * Records the operations that `work` runs in the caller's encoder, in order. Nothing is submitted or read
   * back.
   * @param target on WebGPU a GPUCommandEncoder or GPUComputePassEncoder.
   * @throws InvalidArgumentError for another target.
   */
  encode(target: object, work: () => void): void;
}
