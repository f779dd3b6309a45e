/**
 * Passes each compute pass that a device begins from now on to a function. Returns a function that ends this.
 */
export function watchPasses(device: GPUDevice, watch: (pass: GPUComputePassEncoder) => void): () => void {
  const createCommandEncoder = device.createCommandEncoder.bind(device);
  const value = (descriptor?: GPUCommandEncoderDescriptor): GPUCommandEncoder => {
    const encoder = createCommandEncoder(descriptor);
    const begin = encoder.beginComputePass.bind(encoder);
    const watched = (own?: GPUComputePassDescriptor): GPUComputePassEncoder => {
      const pass = begin(own);
      watch(pass);
      return pass;
    };
    return Object.defineProperty(encoder, 'beginComputePass', { value: watched });
  };
  Object.defineProperty(device, 'createCommandEncoder', { value, configurable: true });
  return () => {
    Reflect.deleteProperty(device, 'createCommandEncoder');
  };
}
