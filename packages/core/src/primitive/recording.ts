/** The further abilities of an engine on a device: it records its work in an encoder of the caller. */
export interface Recording {
  /**
   * Records what `work` runs in an encoder of the caller, in order. Nothing is submitted, and nothing read
   * back.
   * @param target on WebGPU a GPUCommandEncoder or GPUComputePassEncoder.
   * @throws InvalidArgumentError for another target.
   */
  encode(target: object, work: () => void): void;
}
