/**
 * The flags of the WebGPU specification. Browsers define them as globals; Node does not if the caller brings
 * the device, so this library does not rely on the globals.
 */
export const bufferUsage = {
  MAP_READ: 0x1,
  COPY_SRC: 0x4,
  COPY_DST: 0x8,
  UNIFORM: 0x40,
  STORAGE: 0x80,
  QUERY_RESOLVE: 0x200,
} as const;

/**
 * Dawn's name of the feature for subgroup matrices, which is available only if unsafe features are allowed.
 */
export const subgroupMatrixFeature = 'chromium-experimental-subgroup-matrix';

export const mapModeRead = 0x1;
export const shaderStageCompute = 0x4;
